// Steps over time on a canvas: WASD and wheel move through it, a dragged range gives statistics.
#pragma once
#include "views/kit/imgui/widget.h"
#include "views/kit/view.h"
#include "views/timeline/timeline_model.h"

class QComboBox;
class QLabel;

namespace stormcell::views {

class TimelineView : public View {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Table table() const override { return make_table(statistics_); }
  QWidget* picture() override { return canvas_; }
  const TimeWindow& window() const { return window_; }
  /// Statistics of [begin, end); an empty range: of all.
  void choose_range(double begin_ns, double end_ns);

 protected:
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  void show_data(std::shared_ptr<const Timeline> timeline);
  void frame();
  void draw_axis(float left, float width, float top);
  void draw_lane(const TimelineRow& row, float left, float width, float top, float height);
  void draw_statistics();
  void tip(const TimelineRow& row, double ns);
  void set_window(const TimeWindow& window);

  ImGuiWidget* canvas_;
  QLabel* facts_;
  QComboBox* rows_shown_;
  std::shared_ptr<const Timeline> timeline_;
  std::vector<TimelineRow> rows_;
  std::vector<OpStatistics> statistics_;
  Context context_;
  Selection selection_;
  TimeWindow window_;
  double range_begin_ = 0, range_end_ = 0, drag_from_ = -1;
  float lane_left_ = 0, lane_width_ = 1;
};

}  // namespace stormcell::views
