// How long a search may go on. Its work is counted, so that it ends alike on every machine; the clock hurries and ends
// it only where that takes too long.
#pragma once
#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>

namespace stormcell {

class SearchTime {
 public:
  /// A search without a limit.
  SearchTime() = default;
  explicit SearchTime(double seconds)
      : begin_(Clock::now()), seconds_(seconds), hurried_(std::make_shared<bool>(false)) {}
  bool over() const { return share() >= 1; }
  /// Share of the time that has gone, 0 to 1; 0 without a limit.
  double share() const {
    return seconds_
               ? std::min(1., std::chrono::duration<double>(Clock::now() - begin_).count() / std::max(*seconds_, 1e-9))
               : 0;
  }
  /// Progress of a search that cools down: its share of the work, or the clock's if that is ahead by more than a tenth
  /// of the time. So it is cold at the end of either.
  double cooled(double work) const {
    constexpr double kAhead = 0.1;
    const double clock = (share() - kAhead) / (1 - kAhead);
    if (clock > work) *hurried_ = true;
    return std::max(work, clock);
  }
  /// Whether the clock had a say: in a search with this time, or with a copy of it.
  bool decided() const { return over() || (hurried_ && *hurried_); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = {};
  std::optional<double> seconds_;
  std::shared_ptr<bool> hurried_;  // null without a limit
};

}  // namespace stormcell
