// The overview's page: painted cards, with the next steps as real buttons.
#pragma once
#include <QWidget>

#include "views/overview/overview_geometry.h"
#include "views/overview/overview_model.h"

class QVBoxLayout;

namespace stormcell::views {

class OverviewPage : public QWidget {
  Q_OBJECT
 public:
  explicit OverviewPage(QWidget* parent = nullptr);
  void set_page(OverviewPageModel page);
  /// Visible height of the page, in pixels.
  void set_room(int height);
  const OverviewPageModel& page() const { return page_; }
  OverviewGeometry geometry_for(double width) const;
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override;
  QSize sizeHint() const override { return {960, heightForWidth(960)}; }
  QSize minimumSizeHint() const override { return {480, 200}; }

 signals:
  void action_wanted(const QString& id);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool event(QEvent* event) override;

 private:
  void place_steps();
  /// The tip at a point, as HTML; empty: none.
  QString tip_at(QPointF point) const;

  OverviewPageModel page_;
  int room_ = 0;
  QWidget* steps_;
  QVBoxLayout* steps_layout_;
};

}  // namespace stormcell::views
