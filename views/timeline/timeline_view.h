// Steps over time on a canvas: WASD and wheel move through it, a dragged range gives statistics.
#pragma once
#include "views/drawing/imgui/widget.h"
#include "views/frame/tells_apart.h"
#include "views/frame/view.h"
#include "views/timeline/timeline_model.h"

class QComboBox;
class QLabel;

namespace stormcell::views {

class TimelineView : public View, public TellsApart {
  Q_OBJECT
 public:
  explicit TimelineView(QWidget* parent = nullptr);
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Table table() const override;
  QWidget* picture() override { return canvas_; }
  std::vector<ColorMeaning> told_apart() const override;
  const TimeWindow& window() const { return window_; }
  /// Asks for statistics of [begin, end), or of everything if it is empty; they come with the next load().
  void choose_range(double begin_ns, double end_ns);
  /// The number of events that are read and drawn before the rest.
  void set_first_events(int64_t events) { first_events_ = events; }

 protected:
  Parts heeded() const override;
  bool eventFilter(QObject* object, QEvent* event) override;

 private:
  /// The same batches of another run with events.
  struct Beneath {
    QString name, title;  ///< of its lanes: "baseline", "other"; of the run
    std::shared_ptr<const Timeline> timeline;
    std::shared_ptr<const std::vector<TimelineRow>> rows;  ///< look into `timeline`
  };
  static std::vector<Beneath> read_beneath(const Context& context, const Timeline& above, int64_t most,
                                           const Progress& progress);
  /// All that was read, and what can be said of it: made on another thread, since ten million events take a while.
  struct Data {
    std::shared_ptr<const Timeline> timeline;
    std::shared_ptr<const std::vector<TimelineRow>> rows;  ///< look into `timeline`
    std::vector<GuardBar> guards;
    std::vector<Beneath> beneath;
    BranchKeys keys;  ///< of the whole run
    double range_begin = 0, range_end = 0;
    std::vector<OpStatistics> statistics;
    bool begun = false;  ///< the first events only; the next load() reads all
  };
  void show_data(Data data);
  void frame();
  /// A row, or the outcomes of guards if there is none, with its name.
  struct Lane {
    QString name;
    const TimelineRow* row;
    const Timeline* of;
  };
  /// The rows chosen to be shown. The other run's batches and workers are below this one's.
  std::vector<Lane> lanes() const;
  /// Draws them `width` wide, each with its name in its first `label` pixels.
  void draw_lanes(float width, float label);
  /// The outcomes of guards, batch by batch.
  void draw_guards(float top, float height);
  void follow_mouse(bool hovered);
  void draw_range(float top, float bottom);
  void draw_axis(float left, float width, float top);
  void draw_lane(const TimelineRow& row, const Timeline& of, float left, float width, float top, float height);
  void draw_statistics();
  void tip(const TimelineRow& row, const Timeline& of, double ns);
  /// True if the choice of rows includes it.
  bool is_shown(const TimelineRow& row) const;
  /// `key`: of the row's router.
  QColor fill_of(const TimelineRow& row, const Timeline& of, uint32_t step, const BranchKey& key) const;
  /// The colours of the branches of a row's router.
  BranchKey key_of_row(const TimelineRow& row) const;
  /// The row whose colours stand for branches; null: none on show.
  const TimelineRow* row_in_colours() const;
  QString facts() const;
  /// The longest of the runs has it.
  double length_ns() const;
  void set_window(const TimeWindow& window);

  ImGuiWidget* canvas_;
  QLabel* facts_;
  QComboBox *rows_shown_, *branches_;
  Selection selection_;
  Data data_;
  int64_t first_events_ = 500'000;  ///< a tenth of a second's work
  TimeWindow window_;
  double range_begin_ = 0, range_end_ = 0, drag_from_ = -1;
  float lane_left_ = 0, lane_width_ = 1;
};

}  // namespace stormcell::views
