#include "core/profile/recorder.h"

#include <time.h>

#include <algorithm>
#include <chrono>

#include "core/base/error.h"
#include "core/base/start_thread.h"

namespace stormcell {
namespace {
int64_t nanoseconds(clockid_t clock) {
  timespec t{};
  clock_gettime(clock, &t);
  return t.tv_sec * 1'000'000'000LL + t.tv_nsec;
}
double milliseconds_since(int64_t begin) { return static_cast<double>(nanoseconds(CLOCK_MONOTONIC) - begin) * 1e-6; }
}  // namespace

Recorder::Recorder(std::vector<RecordSink*> sinks, RecorderOptions options)
    : sinks_(std::move(sinks)), options_(options) {
  options_.records = std::max(options_.records, 2);
  const size_t records = options_.records;
  for (auto* list : {&free_, &queue_, &writing_}) list->reserve(records);
  thread_ = start_thread([this] { loop(); });
}

Recorder::~Recorder() { stop(); }

void Recorder::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void Recorder::rethrow() const {
  if (error_) std::rethrow_exception(error_);
}

// Two records are always allowed, so that one can be filled while the other is written, however large they are.
bool Recorder::may_take() const { return in_flight_ < 2 || (in_flight_ < options_.records && bytes_ < options_.bytes); }

BatchRecord& Recorder::begin_batch() {
  begun_ns_ = nanoseconds(CLOCK_MONOTONIC);
  std::unique_lock lock(mutex_);
  rethrow();
  if (!may_take()) {
    ++counts_.waits;
    const int64_t begin = nanoseconds(CLOCK_MONOTONIC);
    hurry_ = true;
    work_.notify_one();
    done_.wait(lock, [&] { return may_take() || error_; });
    counts_.waited_ms += milliseconds_since(begin);
    rethrow();
  }
  if (!current_) {
    if (free_.empty()) {
      current_ = std::make_unique<BatchRecord>();
    } else {
      current_ = std::move(free_.back());
      free_.pop_back();
    }
  }
  current_->clear();
  return *current_;
}

void Recorder::submit() {
  if (!current_) failed("recorder", "a record was submitted that was not begun");
  bool wake;
  {
    const std::lock_guard lock(mutex_);
    bytes_ += current_->bytes();
    ++in_flight_;
    ++counts_.batches;
    // The writer is woken by the first record, which starts its grouping time; then only when it must not wait any
    // longer.
    const bool urgent = current_->latency_ms >= options_.long_ms || in_flight_ * 2 >= options_.records;
    wake = queue_.empty() || (urgent && !hurry_);
    hurry_ |= urgent;
    queue_.push_back(std::move(current_));
    counts_.produce_ms += milliseconds_since(begun_ns_);
  }
  if (wake) work_.notify_one();
}

void Recorder::flush() {
  std::unique_lock lock(mutex_);
  hurry_ = true;
  work_.notify_one();
  done_.wait(lock, [&] { return in_flight_ == 0 || error_; });
  hurry_ = false;
  rethrow();
}

void Recorder::finish() {
  flush();
  stop();
}

RecorderCounts Recorder::counts() const {
  const std::lock_guard lock(mutex_);
  return counts_;
}

void Recorder::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    work_.wait(lock, [&] { return !queue_.empty() || stop_; });
    if (queue_.empty()) return;
    work_.wait_for(lock, std::chrono::duration<double, std::milli>(options_.group_ms), [&] { return hurry_ || stop_; });
    hurry_ = false;
    writing_.swap(queue_);
    const bool discard = error_ != nullptr;
    lock.unlock();
    std::exception_ptr error;
    const int64_t begin = nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    if (!discard) {
      try {
        for (const auto& record : writing_)
          for (RecordSink* sink : sinks_) sink->batch(*record);
        for (RecordSink* sink : sinks_) sink->commit();
      } catch (...) {
        error = std::current_exception();
      }
    }
    const double cpu_ms = static_cast<double>(nanoseconds(CLOCK_THREAD_CPUTIME_ID) - begin) * 1e-6;
    lock.lock();
    counts_.write_ms += cpu_ms;
    if (error && !error_) error_ = error;
    for (auto& record : writing_) {
      bytes_ -= record->bytes();
      --in_flight_;
      free_.push_back(std::move(record));
    }
    writing_.clear();
    done_.notify_all();
  }
}

}  // namespace stormcell
