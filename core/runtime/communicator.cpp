#include "core/runtime/communicator.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <mutex>

#include "core/base/error.h"

namespace stormcell {
namespace {

// What all ends share: each rank shows what it sends, all meet, each copies what is meant for it, all meet again.
class Meeting {
 public:
  explicit Meeting(int ranks) : ranks_(ranks), sends_(static_cast<size_t>(ranks)) {}
  int ranks() const { return ranks_; }
  void show(int rank, std::span<const std::span<const std::byte>> send) { sends_[static_cast<size_t>(rank)] = send; }
  std::span<const std::byte> from(int source, int to) const { return sends_[static_cast<size_t>(source)][static_cast<size_t>(to)]; }
  void meet(const CancellationToken* cancel) {
    std::unique_lock lock(mutex_);
    if (abandoned_) failed("all-to-all", kAbandoned);
    const int64_t mine = generation_;
    if (++arrived_ == ranks_) {
      arrived_ = 0;
      ++generation_;
      all_.notify_all();
      return;
    }
    while (!all_.wait_for(lock, std::chrono::milliseconds(20), [&] { return generation_ != mine || abandoned_; }))
      if (cancel && cancel->cancelled()) {
        abandoned_ = true;
        all_.notify_all();
        cancel->check();
      }
    if (generation_ == mine) failed("all-to-all", kAbandoned);
  }
  void abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    all_.notify_all();
  }

 private:
  static constexpr const char* kAbandoned = "another rank ended before the exchange";
  int ranks_, arrived_ = 0;
  bool abandoned_ = false;
  int64_t generation_ = 0;
  std::mutex mutex_;
  std::condition_variable all_;
  std::vector<std::span<const std::span<const std::byte>>> sends_;
};

class InProcess : public Communicator {
 public:
  InProcess(std::shared_ptr<Meeting> meeting, int rank) : meeting_(std::move(meeting)), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return meeting_->ranks(); }
  int64_t sent_bytes() const override { return sent_; }
  void abandon() override { meeting_->abandon(); }
  void all_to_all(std::span<const std::span<const std::byte>> send, std::span<const std::span<std::byte>> receive,
                  const CancellationToken* cancel) override {
    meeting_->show(rank_, send);
    meeting_->meet(cancel);
    bool fits = true;
    for (int s = 0; s < ranks(); ++s) {
      const auto from = meeting_->from(s, rank_);
      const auto to = receive[static_cast<size_t>(s)];
      fits = fits && from.size() == to.size();
      if (fits && !from.empty()) std::memcpy(to.data(), from.data(), from.size());
      if (s != rank_) sent_ += static_cast<int64_t>(send[static_cast<size_t>(s)].size());
    }
    meeting_->meet(cancel);  // before anybody reuses what it showed
    if (!fits) failed("all-to-all", "a rank sent another number of bytes than was expected");
  }

 private:
  std::shared_ptr<Meeting> meeting_;
  int rank_;
  int64_t sent_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<Communicator>> in_process_ranks(int ranks) {
  auto meeting = std::make_shared<Meeting>(ranks);
  std::vector<std::unique_ptr<Communicator>> ends;
  for (int r = 0; r < ranks; ++r) ends.push_back(std::make_unique<InProcess>(meeting, r));
  return ends;
}

}  // namespace stormcell
