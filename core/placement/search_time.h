// How long a search may go on. Its work is counted, so that it ends alike on every machine; the clock ends it only where that takes too
// long.
#pragma once
#include <algorithm>
#include <chrono>
#include <optional>

namespace stormcell {

class SearchTime {
 public:
  /// Without a limit.
  SearchTime() = default;
  explicit SearchTime(double seconds) : begin_(Clock::now()), seconds_(seconds) {}
  bool over() const { return share() >= 1; }
  /// Of the time that has gone, 0 to 1; 0 without a limit.
  double share() const {
    return seconds_ ? std::min(1., std::chrono::duration<double>(Clock::now() - begin_).count() / std::max(*seconds_, 1e-9)) : 0;
  }
  /// What is left of it, in seconds; `otherwise` without a limit.
  double left(double otherwise) const { return seconds_ ? *seconds_ * (1 - share()) : otherwise; }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = {};
  std::optional<double> seconds_;
};

}  // namespace stormcell
