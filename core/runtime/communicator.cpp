#include "core/runtime/communicator.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/error.h"

namespace stormcell {
namespace {

std::string rank_name(int rank) { return "rank " + std::to_string(rank); }

// The place that all ends share. Each rank shows where it is and what it sends; all meet; each reads what the others
// show; all part. A rank that has met also parts, even if one was cancelled or gave up meanwhile, so its data stay
// until all have read them.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(ranks), shown_(ranks) {}
  int ranks() const { return ranks_; }
  void show(int rank, std::string_view where, std::span<const std::span<const std::byte>> send) {
    Shown& mine = shown_[rank];
    mine.where = where;
    mine.send = send;
  }
  std::span<const std::byte> from(int source, int to) const { return shown_[source].send[to]; }

  void meet(int rank, const CancellationToken& cancel) {
    std::unique_lock lock(mutex_);
    check(rank);
    const int64_t mine = generation_;
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      ++generation_;
      all_.notify_all();
      return;
    }
    while (
        !all_.wait_for(lock, std::chrono::milliseconds(20), [&] { return generation_ != mine || abandoned_by_ >= 0; }))
      if (cancel.cancelled()) {
        abandon_locked(rank, "interrupted");
        cancel.check();
      }
    if (generation_ == mine) check(rank);
  }
  /// After all have met: they are at the same place.
  void compare(int rank) const {
    const std::string& mine = shown_[rank].where;
    for (int r = 0; r < ranks_; ++r)
      if (const std::string& other = shown_[r].where; other != mine)
        failed(rank_name(rank), "is at " + mine + ", where " + rank_name(r) + " is at " + other);
  }
  /// Call it after all have met and this rank has read what it needs. Returns when all ranks have called it. Between
  /// meeting and parting, ranks only copy. So no rank waits in vain, and no token is polled.
  void part() {
    std::unique_lock lock(mutex_);
    const int64_t mine = partings_;
    if (++parting_ == ranks_) {
      parting_ = 0;
      ++partings_;
      all_.notify_all();
    }
    all_.wait(lock, [&] { return partings_ != mine; });
  }
  void abandon(int rank, std::string_view why) {
    const std::lock_guard lock(mutex_);
    abandon_locked(rank, why);
  }
  int abandoned_by() const {
    const std::lock_guard lock(mutex_);
    return abandoned_by_;
  }

 private:
  struct Shown {
    std::string where;
    std::span<const std::span<const std::byte>> send;
  };
  void abandon_locked(int rank, std::string_view why) {
    if (abandoned_by_ < 0) abandoned_by_ = rank, why_ = why;
    all_.notify_all();
  }
  void check(int rank) const {
    if (abandoned_by_ >= 0) failed(rank_name(rank), "ended because " + rank_name(abandoned_by_) + " failed: " + why_);
  }

  int ranks_, arrived_ = 0, parting_ = 0, abandoned_by_ = -1;
  std::string why_;
  int64_t generation_ = 0, partings_ = 0;
  mutable std::mutex mutex_;  // guards all but what is shown, which only its rank writes, before it meets the others
  std::condition_variable all_;
  std::vector<Shown> shown_;
};

/// Parts at the end of a scope, also if an exception ends it.
class Parting {
 public:
  explicit Parting(Meeting& meeting) : meeting_(meeting) {}
  ~Parting() { meeting_.part(); }
  Parting(const Parting&) = delete;
  Parting& operator=(const Parting&) = delete;

 private:
  Meeting& meeting_;
};

class InProcess : public Communicator {
 public:
  InProcess(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return meeting_->ranks(); }
  int64_t sent_bytes() const override { return sent_; }
  void abandon(std::string_view why) override { meeting_->abandon(rank_, why); }
  void all_to_all(std::string_view where, std::span<const std::span<const std::byte>> send,
                  std::span<const std::span<std::byte>> receive, const CancellationToken& cancel) override {
    show_and_meet(where, send, cancel);
    const Parting parting(*meeting_);
    meeting_->compare(rank_);
    int unlike = -1;
    for (int s = 0; s < ranks(); ++s) {
      const auto from = meeting_->from(s, rank_);
      const auto to = receive[s];
      if (from.size() != to.size()) unlike = unlike < 0 ? s : unlike;
      if (unlike < 0 && !from.empty()) std::memcpy(to.data(), from.data(), from.size());
      if (s != rank_) sent_ += std::ssize(send[s]);
    }
    if (unlike >= 0)
      failed(rank_name(rank_),
             std::string(where) + ": " + rank_name(unlike) + " sent another number of bytes than was expected");
  }
  void meet(std::string_view where, const CancellationToken& cancel) override {
    show_and_meet(where, {}, cancel);
    const Parting parting(*meeting_);
    meeting_->compare(rank_);
  }

 private:
  void show_and_meet(std::string_view where, std::span<const std::span<const std::byte>> send,
                     const CancellationToken& cancel) {
    meeting_->show(rank_, where, send);
    meeting_->meet(rank_, cancel);
  }

  std::shared_ptr<Meeting> meeting_;
  int rank_;
  int64_t sent_ = 0;
};

std::vector<std::unique_ptr<Communicator>> ends_of(const std::shared_ptr<Meeting>& meeting) {
  std::vector<std::unique_ptr<Communicator>> ends;
  for (int r = 0; r < meeting->ranks(); ++r) ends.push_back(std::make_unique<InProcess>(meeting, r));
  return ends;
}

}  // namespace

std::vector<std::unique_ptr<Communicator>> in_process_ranks(int ranks) {
  return ends_of(std::make_shared<Meeting>(ranks));
}

void run_ranks(int ranks, const std::function<void(Communicator&)>& work) {
  const auto meeting = std::make_shared<Meeting>(ranks);
  const auto ends = ends_of(meeting);
  std::vector<std::exception_ptr> thrown(ranks);
  const auto run = [&](int rank) {
    try {
      work(*ends[rank]);
    } catch (const std::exception& e) {
      thrown[rank] = std::current_exception();
      meeting->abandon(rank, e.what());
    } catch (...) {
      thrown[rank] = std::current_exception();
      meeting->abandon(rank, "unknown");
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
    } catch (...) {
      meeting->abandon(static_cast<int>(threads.size()), "no thread");  // those that run must not wait for it
      throw;
    }
  }
  if (const int first = meeting->abandoned_by(); first >= 0 && thrown[first]) std::rethrow_exception(thrown[first]);
}

}  // namespace stormcell
