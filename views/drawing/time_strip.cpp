#include "views/drawing/time_strip.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "views/drawing/theme.h"
#include "views/words/figure_text.h"

namespace stormcell::views {

int64_t TimeScale::batch(double x) const {
  const double t = (x - left) / std::max(1.0, width) * static_cast<double>(batches);
  return std::clamp<int64_t>(static_cast<int64_t>(std::floor(t)), 0, batches);
}

TimeStrip::TimeStrip(QWidget* parent) : QWidget(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setFixedHeight(44);
  setCursor(Qt::SizeHorCursor);
  setAccessibleName(tr("Time range"));
  setToolTip(
      tr("Drag to select batches, drag the range to move it, double click for all. Keys: left, right, "
         "Escape"));
  timer_.setInterval(120);
  connect(&timer_, &QTimer::timeout, this, [this] { move(per_window_); });
}

void TimeStrip::set_data(int64_t batches, int64_t batches_per_window, std::vector<double> heights) {
  batches_ = batches;
  per_window_ = std::max<int64_t>(1, batches_per_window);
  heights_ = std::move(heights);
  update();
}

void TimeStrip::set_range(int64_t first, int64_t end) {
  first_ = first, end_ = end;
  if (first_ == 0 && this->end() >= batches_) play(false);  // nowhere to walk
  update();
}

void TimeStrip::play(bool on) {
  if (on == playing() || batches_ == 0) return;
  // From everything: a tenth of the run walks through it.
  if (on && first_ == 0 && end() >= batches_) want(0, std::max(per_window_, batches_ / 10));
  on ? timer_.start() : timer_.stop();
  emit playing_changed(on);
}

TimeScale TimeStrip::scale() const { return {12, width() - 24.0, batches_}; }

void TimeStrip::want(int64_t first, int64_t end) {
  first = std::clamp<int64_t>(first, 0, std::max<int64_t>(0, batches_ - 1));
  end = std::clamp<int64_t>(end, first + 1, batches_);
  const bool all = first == 0 && end >= batches_;
  set_range(first, all ? -1 : end);
  emit range_wanted(first, all ? -1 : end);
}

void TimeStrip::move(int64_t by) {
  const int64_t length = end() - first_;
  if (first_ + by + length > batches_ && playing()) return want(0, length);
  const int64_t to = std::clamp<int64_t>(first_ + by, 0, batches_ - length);
  want(to, to + length);
}

void TimeStrip::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  const TimeScale s = scale();
  const QRectF track(s.left, 4, s.width, height() - 18.0);
  p.fillRect(track, theme.surface);
  const double most = heights_.empty() ? 0 : *std::max_element(heights_.begin(), heights_.end());
  if (most > 0) {
    QColor fill = theme.faint;
    fill.setAlphaF(0.45f);
    for (size_t w = 0; w < heights_.size(); ++w) {
      const double from = s.x(std::min(batches_, static_cast<int64_t>(w) * per_window_)),
                   to = s.x(std::min(batches_, static_cast<int64_t>(w + 1) * per_window_));
      const double h = track.height() * heights_[w] / most;
      p.fillRect(QRectF(from, track.bottom() - h, std::max(0.5, to - from), h), fill);
    }
  }
  const double from = s.x(first_), to = s.x(end());
  QColor veil = theme.accent;
  veil.setAlphaF(theme.dark ? 0.28f : 0.16f);
  p.fillRect(QRectF(from, track.top(), to - from, track.height()), veil);
  p.setPen(QPen(theme.accent, hasFocus() ? 2 : 1));
  p.drawRect(QRectF(from, track.top(), to - from, track.height()));
  p.setPen(theme.faint);
  QFont small = font();
  small.setPointSizeF(small.pointSizeF() * 0.85);
  p.setFont(small);
  p.drawText(QRectF(s.left, track.bottom(), s.width, 14), Qt::AlignLeft | Qt::AlignVCenter,
             batches_ == 1 ? tr("1 batch")
             : end() - first_ >= batches_
                 ? batches_ == 1 ? tr("the only batch") : tr("all %1").arg(counted_text(batches_, "batch"))
                 : tr("batches %1 to %2 of %3").arg(first_).arg(end() - 1).arg(batches_));
}

void TimeStrip::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || batches_ == 0) return;
  play(false);
  pressed_at_ = scale().batch(event->position().x());
  const bool all = first_ == 0 && end() >= batches_;
  moving_ = !all && pressed_at_ >= first_ && pressed_at_ < end();
  grabbed_first_ = first_, grabbed_end_ = end();
}

void TimeStrip::mouseMoveEvent(QMouseEvent* event) {
  if (pressed_at_ < 0) return;
  const int64_t at = scale().batch(event->position().x());
  if (moving_) {
    const int64_t length = grabbed_end_ - grabbed_first_,
                  to = std::clamp<int64_t>(grabbed_first_ + at - pressed_at_, 0, batches_ - length);
    want(to, to + length);
  } else {
    want(std::min(at, pressed_at_), std::max(at, pressed_at_) + 1);
  }
}

void TimeStrip::mouseReleaseEvent(QMouseEvent* event) {
  if (pressed_at_ >= 0 && !moving_) mouseMoveEvent(event);  // a click is a drag over one batch
  pressed_at_ = -1;
}
void TimeStrip::hideEvent(QHideEvent*) { play(false); }
void TimeStrip::mouseDoubleClickEvent(QMouseEvent*) { want(0, batches_); }

void TimeStrip::keyPressEvent(QKeyEvent* event) {
  const int64_t step = std::max(per_window_, (end() - first_) / 4);
  switch (event->key()) {
    case Qt::Key_Left:
      return event->modifiers() & Qt::ShiftModifier ? want(first_, end() - step) : move(-step);
    case Qt::Key_Right:
      return event->modifiers() & Qt::ShiftModifier ? want(first_, end() + step) : move(step);
    case Qt::Key_Home:
      return want(0, end() - first_);
    case Qt::Key_End:
      return want(batches_ - (end() - first_), batches_);
    case Qt::Key_Escape:
      return want(0, batches_);
    case Qt::Key_Space:
      return play(!playing());
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace stormcell::views
