// Margins of choices: the score distance of the last chosen and the first not chosen branch, and how many have which
// size.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "core/cell/decision_record.h"

namespace stormcell {

/// Margins by their size: four bins for each power of two.
struct MarginBins {
  static constexpr int32_t kBins = 256, kFirstPower = -44;
  std::array<int64_t, kBins> count{};
  /// A margin of 0 or less is in the first bin. What is not a number is left out.
  void add(double margin);
  int64_t total() const;
  /// Upper end of the bin that holds the quantile; 0: empty.
  double quantile(double share) const;
  static double begin_of(int32_t bin);
  /// Number of a bin in sessions, where bin b begins at 2^(b / 4): -176 to 79.
  static int32_t number_of(int32_t bin) { return kFirstPower * 4 + bin; }
  /// How many lie in bins that end at `margin` or before.
  int64_t up_to(double margin) const;
};

/// The margin of a decision's i-th cell at a router of so many branches and choices: recorded, or computed from the
/// scores of all branches. Not a number: neither is there, or a branch that was not chosen has a larger score, so that
/// something else than scores chose, such as a bias or groups of branches.
float margin_of_cell(const DecisionRecord& decision, int64_t i, int32_t branches, int32_t fan_out);

/// Adds the margins of a decision's real cells. `mask`: [cells of the space] 1: real; empty: all are.
void count_margins(const DecisionRecord& decision, int32_t branches, int32_t fan_out, std::span<const uint8_t> mask,
                   MarginBins& bins);

}  // namespace stormcell
