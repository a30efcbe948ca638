// Which branch the cells of each token id go to, at one router: vocabulary specialization, as OLMoE defines it (arXiv
// 2409.02060, section 5.4; scripts/run_moe_analysis.py).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/cell/decision_record.h"

namespace stormcell {

/// Counts of branches by token id. Takes 4 bytes for each branch and distinct token, and 4 for each possible id.
class TokenBranches {
 public:
  /// `tokens`: number of distinct ids that room is made for at once; 0: not known.
  explicit TokenBranches(int32_t branches, int64_t tokens = 0);
  /// `tokens`: [rows] of the decision's batch; below 0: not known, does not count. Padding does not count either.
  void add(const DecisionRecord& decision, int32_t fan_out, std::span<const int32_t> tokens,
           std::span<const uint8_t> mask);

  int32_t branches() const { return branches_; }
  int64_t tokens() const { return std::ssize(token_); }
  int32_t token(int64_t row) const { return token_[row]; }
  int64_t cells(int64_t row) const { return cells_[row]; }
  /// [branches] cells of the token that each branch got.
  std::span<const uint32_t> counts(int64_t row) const;

 private:
  int64_t row_of_token(int32_t token);

  int32_t branches_;
  std::vector<int32_t> row_of_, token_;  ///< [ids] row, -1: not seen; [rows] id
  std::vector<uint32_t> cells_, counts_;
};

struct BranchToken {
  int32_t token = 0;
  int64_t cells = 0;  ///< of the token, whatever branch they went to
  double share = 0;   ///< of these, cells that the branch got
};

/// The tokens whose most frequent branch this one is; of equal counts the lowest branch has the token.
struct BranchVocabulary {
  int64_t tokens = 0;
  std::optional<double> specialization;  ///< mean share of these tokens; null: there are none
  std::vector<BranchToken> strongest;    ///< largest share first
};

/// Tokens that are listed of each branch.
inline constexpr size_t kTokensListed = 15;

struct VocabularyFigures {
  int64_t tokens = 0, cells = 0;  ///< distinct tokens with enough cells, and all of their cells
  int64_t tokens_left_out = 0;    ///< with fewer cells
  /// Mean over tokens of the largest share of their cells that one branch got: 1 is one branch for each token.
  std::optional<double> specialization;
  std::vector<BranchVocabulary> branches;
  /// Number of tokens by their number of cells: what chance depends on.
  std::map<int64_t, int64_t> tokens_with;
};

/// `fewest`: a token with fewer cells is left out. A token that is seen once has a share of 1 at any router.
VocabularyFigures vocabulary_figures(const TokenBranches& counts, int64_t fewest);

}  // namespace stormcell
