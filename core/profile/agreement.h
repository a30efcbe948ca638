// How far two recordings of the same cells make the same choices at one router: saturation over checkpoints, as OLMoE
// defines it (arXiv 2409.02060, section 5.1; scripts/run_moe_analysis.py).
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace stormcell {

class Agreement {
 public:
  explicit Agreement(int32_t branches) : earlier_(branches), last_(branches) {}
  /// Choices of one cell as in DecisionView, in order of rank. A choice that a capacity dropped counts as chosen. A cell
  /// without a choice in the last recording does not count.
  void add(std::span<const int32_t> earlier, std::span<const int32_t> last);

  int64_t cells() const { return cells_; }
  int64_t choices() const { return choices_; }  ///< of the last recording
  int64_t common() const { return common_; }    ///< of these, also in the earlier one
  int64_t choices_earlier() const { return choices_earlier_; }
  /// Share of the last recording's choices that the earlier one has; null: no cells.
  std::optional<double> share() const;
  /// Share of cells whose first choices are equal; null: no cells.
  std::optional<double> first_share() const;
  /// Share that the loads of both would give if cells chose independently of each other; null: no cells.
  std::optional<double> share_by_load() const;

 private:
  int64_t cells_ = 0, choices_ = 0, choices_earlier_ = 0, common_ = 0, first_ = 0;
  std::vector<int64_t> earlier_, last_;  ///< [branches] choices
};

}  // namespace stormcell
