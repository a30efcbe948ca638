// Measures the load of other processes on this process's processors. Repeated executions do not show it if a neighbour
// takes a steady share.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

/// Time since an unknown begin, in seconds, summed over the processors that this process may use.
struct ProcessorTimes {
  int processors = 0;  ///< 0: the system does not say
  double busy = 0;     ///< of all processes, the kernel's work too
  double stolen = 0;   ///< by other virtual machines
  double idle = 0;
  double own = 0;  ///< of this process
};
/// `root` precedes every path that is read ("" outside of tests); `allowed`: numbers of the processors, empty: those
/// that this process may use.
ProcessorTimes processor_times(const std::string& root = {}, std::vector<int> allowed = {});

/// Load between pairs of readings; a measurement may have several parts.
class OtherLoad {
 public:
  void add(const ProcessorTimes& before, const ProcessorTimes& after);
  /// Processors that others kept busy, on average.
  double others() const { return elapsed_ > 0 ? others_ / elapsed_ : 0; }
  /// Average share of the processors that other processes or virtual machines took. Empty: too little was measured.
  std::optional<double> share() const;
  /// Share of the wanted time that other virtual machines took.
  double stolen() const { return wanted_ > 0 ? stolen_ / wanted_ : 0; }
  /// A warning if others disturb `threads` that compute: they took more than these leave free plus a tenth of what they
  /// need, or a twentieth was stolen. Empty: neither, or too little was measured.
  std::string warning(int threads) const;

 private:
  int processors_ = 0;
  double elapsed_ = 0, others_ = 0, stolen_ = 0, wanted_ = 0;
};

}  // namespace stormcell
