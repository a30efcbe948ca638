// A strip of batches over time with the chosen range: drag to choose a range, drag its middle to move it, play to let
// it run.
#pragma once
#include <QTimer>
#include <QWidget>
#include <cstdint>
#include <vector>

namespace stormcell::views {

/// Places of batches on a strip; pure, so that it is tested without a window.
struct TimeScale {
  double left = 0, width = 1;
  int64_t batches = 0;
  double x(int64_t batch) const { return left + width * static_cast<double>(batch) / (batches > 0 ? batches : 1); }
  /// The batch at a place, clamped to [0, batches].
  int64_t batch(double x) const;
};

class TimeStrip : public QWidget {
  Q_OBJECT
 public:
  explicit TimeStrip(QWidget* parent = nullptr);
  /// `heights`: one figure a window, drawn as a profile.
  void set_data(int64_t batches, int64_t batches_per_window, std::vector<double> heights);
  void set_range(int64_t first, int64_t end);  ///< end -1: to the run's end
  bool playing() const { return timer_.isActive(); }
  void play(bool on);
  QSize sizeHint() const override { return {400, 44}; }

 signals:
  /// end -1: to the run's end.
  void range_wanted(int64_t first, int64_t end);
  void playing_changed(bool playing);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void hideEvent(QHideEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  TimeScale scale() const;
  int64_t end() const { return end_ < 0 ? batches_ : end_; }
  void want(int64_t first, int64_t end);
  void move(int64_t by);

  int64_t batches_ = 0, per_window_ = 1, first_ = 0, end_ = -1;
  std::vector<double> heights_;
  int64_t pressed_at_ = -1, grabbed_first_ = 0, grabbed_end_ = 0;
  bool moving_ = false;
  QTimer timer_;
};

}  // namespace stormcell::views
