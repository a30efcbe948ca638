#include "core/profile/vocabulary.h"

#include <algorithm>
#include <tuple>

#include "core/cell/decision.h"

namespace stormcell {

TokenBranches::TokenBranches(int32_t branches, int64_t tokens) : branches_(branches) {
  token_.reserve(tokens), cells_.reserve(tokens), counts_.reserve(tokens * branches);
}

int64_t TokenBranches::row_of_token(int32_t token) {
  if (token >= std::ssize(row_of_)) row_of_.resize(int64_t{token} + 1, -1);
  int32_t& row = row_of_[token];
  if (row < 0) {
    row = static_cast<int32_t>(token_.size());
    token_.push_back(token), cells_.push_back(0);
    counts_.resize(counts_.size() + static_cast<size_t>(branches_));
  }
  return row;
}

void TokenBranches::add(const DecisionRecord& d, int32_t fan_out, std::span<const int32_t> tokens,
                        std::span<const uint8_t> mask) {
  const int64_t k = fan_out, cells = std::ssize(d.choice) / k;
  for (int64_t c = 0; c < cells; ++c) {
    const int64_t row = d.ancestor.empty() ? c : d.ancestor[c];
    if (tokens[row] < 0 || (!mask.empty() && mask[row] == 0)) continue;
    const int64_t at = row_of_token(tokens[row]);
    ++cells_[at];
    for (int64_t j = 0; j < k; ++j)
      if (const int32_t branch = d.choice[c * k + j]; is_kept(branch)) ++counts_[at * branches_ + branch];
  }
}

std::span<const uint32_t> TokenBranches::counts(int64_t row) const {
  return std::span(counts_).subspan(row * branches_, branches_);
}

VocabularyFigures vocabulary_figures(const TokenBranches& counts, int64_t fewest) {
  VocabularyFigures figures;
  figures.branches.resize(counts.branches());
  double sum = 0;
  std::vector<double> sums(counts.branches());
  for (int64_t row = 0; row < counts.tokens(); ++row) {
    const int64_t cells = counts.cells(row);
    if (cells < fewest) {
      ++figures.tokens_left_out;
      continue;
    }
    const std::span<const uint32_t> of_branches = counts.counts(row);
    const auto most = std::max_element(of_branches.begin(), of_branches.end());
    // A capacity may have dropped all of its choices.
    const int64_t branch = most - of_branches.begin();
    const double share = static_cast<double>(*most) / static_cast<double>(cells);
    ++figures.tokens, figures.cells += cells, ++figures.tokens_with[cells];
    sum += share, sums[branch] += share;
    BranchVocabulary& of = figures.branches[branch];
    ++of.tokens;
    of.strongest.push_back({counts.token(row), cells, share});
  }
  if (figures.tokens > 0) figures.specialization = sum / static_cast<double>(figures.tokens);
  for (size_t b = 0; b < sums.size(); ++b) {
    BranchVocabulary& of = figures.branches[b];
    if (of.tokens > 0) of.specialization = sums[b] / static_cast<double>(of.tokens);
    const auto end = of.strongest.begin() + static_cast<int64_t>(std::min(of.strongest.size(), kTokensListed));
    std::partial_sort(of.strongest.begin(), end, of.strongest.end(), [](const BranchToken& x, const BranchToken& y) {
      return std::tuple(-x.share, -x.cells, x.token) < std::tuple(-y.share, -y.cells, y.token);
    });
    of.strongest.erase(end, of.strongest.end());
  }
  return figures;
}

}  // namespace stormcell
