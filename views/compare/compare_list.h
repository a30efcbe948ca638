// The lines of a comparison on a scrolled surface: only visible ones are painted, however many figures there are.
#pragma once
#include <QAbstractScrollArea>

#include "views/compare/compare_geometry.h"
#include "views/compare/compare_model.h"

namespace stormcell::views {

class CompareList : public QAbstractScrollArea {
  Q_OBJECT
 public:
  explicit CompareList(QWidget* parent = nullptr);
  void set_model(CompareModel model, const CompareFilter& filter);
  void set_filter(const CompareFilter& filter);
  const CompareModel& model() const { return model_; }
  const std::vector<CompareLine>& lines() const { return lines_; }
  CompareGeometry geometry_now() const;
  int current() const { return current_; }

 signals:
  /// A routing figure was chosen; branch -1: the whole router.
  void picked(const QString& router, int branch);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  bool viewportEvent(QEvent* event) override;

 private:
  void update_range();
  /// Chooses a line, or the next one in this direction if it is a section's title.
  void choose(int line, int direction);

  CompareModel model_;
  std::vector<CompareLine> lines_;
  int current_ = -1, hovered_ = -1;
};

}  // namespace stormcell::views
