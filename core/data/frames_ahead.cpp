#include "core/data/frames_ahead.h"

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/base/start_thread.h"

namespace stormcell {

VideoCursor::VideoCursor(std::string path, const FramePlaces& places, CancellationToken stop)
    : path_(std::move(path)), places_(places), stop_(std::move(stop)), may_jump_(!places_.times.empty()) {
  begin_again();
}

void VideoCursor::refuse_change() const { bad_input(path_, "has changed while it was in use", "start again"); }

/// Opened again: not every container finds its first frame otherwise.
void VideoCursor::begin_again() {
  video_ = Video::open(path_);
  if (!video_) refuse_change();
  read_.reset();
  next_ = 0, jumped_ = false;
}

void VideoCursor::go_to(int64_t index) {
  const auto behind = std::upper_bound(places_.keys.begin(), places_.keys.end(), index);
  const int64_t key = behind == places_.keys.begin() ? 0 : *std::prev(behind);
  if (next_ <= index && (next_ >= key || !may_jump_)) return;
  if (may_jump_ && key > 0 && jump_to(key, index)) return;
  begin_again();
}

bool VideoCursor::jump_to(int64_t key, int64_t index) {
  read_.reset();
  jumped_ = false;
  if (video_->seek(places_.times[key])) {
    // Containers place key frames only roughly; the frame's time shows which one was found.
    read_ = video_->next();
    if (read_ && read_->time) {
      const auto at = std::lower_bound(places_.times.begin(), places_.times.end(), *read_->time);
      next_ = at - places_.times.begin();
      jumped_ = at != places_.times.end() && *at == *read_->time && next_ <= index;
    }
  }
  may_jump_ = jumped_;
  return jumped_;
}

VideoFrame VideoCursor::take() {
  stop_.check();
  std::optional<VideoFrame> frame = read_ ? std::move(read_) : video_->next();
  read_.reset();
  const bool is_it = frame && (!may_jump_ || frame->time == places_.times[next_]);
  if (!is_it && jumped_) {  // behind some key frames stand frames that need those before them
    may_jump_ = false;
    const int64_t wanted = next_;
    begin_again();
    while (next_ < wanted) take();
    return take();
  }
  if (!is_it) refuse_change();
  ++next_;
  return std::move(*frame);
}

FramesAhead::~FramesAhead() {
  {
    const std::lock_guard lock(mutex_);
    stop_.cancel();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

/// True if decoding up to the frame would take longer than a jump.
bool FramesAhead::is_far(int64_t index) const {
  const int64_t next = first_ + std::ssize(held_);
  if (index < first_) return true;
  const auto behind = std::upper_bound(places_.keys.begin(), places_.keys.end(), index);
  return index >= next + kMostHeld && behind != places_.keys.begin() && *std::prev(behind) > next;
}

/// The only one who asks, as long as it lives. Its thread holds the mutex except while it waits.
class FramesAhead::Turn {
 public:
  Turn(FramesAhead& frames, const CancellationToken& cancel) : frames_(frames), cancel_(cancel), lock_(frames.mutex_) {
    wait([&] { return !frames_.is_asked_; });
    frames_.is_asked_ = true;
  }
  ~Turn() {
    frames_.is_asked_ = false;
    frames_.changed_.notify_all();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  template <class Until>
  void wait(const Until& until) {
    constexpr auto kPoll = std::chrono::milliseconds(20);
    while (!frames_.changed_.wait_for(lock_, kPoll, until)) cancel_.check();
  }

 private:
  FramesAhead& frames_;
  const CancellationToken& cancel_;
  std::unique_lock<std::mutex> lock_;
};

VideoFrame FramesAhead::frame(int64_t index) {
  const CancellationToken never;
  Turn turn(*this, never);
  return bring(index, turn);
}

void FramesAhead::await(int64_t index, const CancellationToken& cancel) {
  Turn turn(*this, cancel);
  bring(index, turn);
}

/// Returns a frame of held_: it is valid as long as the turn.
const VideoFrame& FramesAhead::bring(int64_t index, Turn& turn) {
  if (is_far(index)) {
    held_.clear();
    first_ = index;
    jump_ = index;
  }
  wanted_ = index;
  if (!thread_.joinable()) thread_ = start_thread([this] { decode_ahead(); });
  changed_.notify_all();
  const auto is_held = [&] { return index >= first_ && index < first_ + std::ssize(held_); };
  turn.wait([&] { return problem_ || is_held(); });
  if (!is_held()) std::rethrow_exception(problem_);
  return held_[index - first_];
}

void FramesAhead::decode_ahead() {
  try {
    decode_until_stopped();
  } catch (...) {
    const std::lock_guard lock(mutex_);
    problem_ = std::current_exception();
    changed_.notify_all();
  }
}

void FramesAhead::decode_until_stopped() {
  VideoCursor cursor(path_, places_, stop_);
  std::unique_lock lock(mutex_);
  while (!stop_.cancelled()) {
    if (jump_) {
      const int64_t to = *jump_;
      jump_.reset();
      lock.unlock();
      cursor.go_to(to);
      lock.lock();
      continue;
    }
    while (!held_.empty() && first_ + kKept < wanted_) held_.pop_front(), ++first_;
    if (held_.empty()) first_ = std::max(first_, wanted_ - kKept);
    const int64_t end = first_ + std::ssize(held_);
    if (end >= places_.frames || end - first_ >= kMostHeld) {
      changed_.wait(lock);
      continue;
    }
    lock.unlock();
    const int64_t number = cursor.next();
    VideoFrame frame = cursor.take();
    lock.lock();
    // Another place may have been requested meanwhile; frames on the way to it are dropped.
    if (jump_ || number != first_ + std::ssize(held_)) continue;
    held_.push_back(std::move(frame));
    changed_.notify_all();
  }
}

}  // namespace stormcell
