// The heatmap of a model before its first run: a row for each router, a place for each branch, nothing in them.
#pragma once
#include <QWidget>
#include <vector>

#include "app/studio/opened_model.h"

namespace stormcell::studio {

class ShapePicture : public QWidget {
 public:
  explicit ShapePicture(QWidget* parent = nullptr);
  void set_routers(std::vector<RouterShape> routers);
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  int whole_height() const;  ///< with rows as high as they get

  std::vector<RouterShape> routers_;
  int most_branches_ = 0;
};

}  // namespace stormcell::studio
