// The speed-ups of passes, as results state them or withhold them.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/measuring/paired_speedup.h"
#include "core/summary/results.h"

namespace stormcell {

/// Speed-ups of passes. Two kinds are withheld, with a message: those of a plan whose results differ from the
/// baseline's, and those from too few pairs.
class Gains {
 public:
  /// `held_out`: the number of batches that could be measured.
  explicit Gains(int64_t held_out) : held_out_(held_out) {}
  /// Sets a figure of `pass`. `wrong`: how a plan that it comes from differs from the baseline; empty: not at all.
  void set(PassReport& pass, const Ratio& ratio, const std::string& wrong, std::optional<double>& value,
           std::optional<std::array<double, 2>>& ci95);
  /// Adds the reasons of withheld gains to the passes' reasons and to the warnings.
  void tell(std::vector<PassReport>& passes, std::vector<std::string>& warnings) const;

 private:
  int64_t held_out_;
  std::map<std::string, std::string> withheld_;  ///< reasons by pass
};

}  // namespace stormcell
