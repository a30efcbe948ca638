// Every choice of a recorded run in the order of time, for predictions, caches and placements.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/cell/cell_space.h"

namespace stormcell {

/// The first of a cell's choices at a layer; -1: it chose nothing.
inline int32_t first_kept(std::span<const int32_t> choices) {
  for (const int32_t choice : choices)
    if (choice >= 0) return choice;
  return -1;
}

/// [steps] the tokens of each.
using TokenSteps = std::vector<std::vector<size_t>>;

/// Cells of one space. A step is computed together by a server: a batch of prompts or of a forward pass, or in decoding
/// the cells at the same position.
struct TokenRoutes {
  int32_t layers = 0;    ///< routers of the space, in their order
  int32_t branches = 0;  ///< the most of one of them
  int32_t k = 0;         ///< the most choices of a cell at one of them
  struct Token {
    int64_t item = 0;  ///< the sequence or request
    int64_t step = 0;  ///< ascending; equal for tokens of one step
    int32_t position = 0;
    Phase phase = Phase::forward;
    int32_t rank = -1;  ///< home of the token, -1: not known
  };
  std::vector<Token> tokens;  ///< in the order of steps
  /// [tokens, layers, k] -1: no choice (none, or dropped by a capacity); kept ones come first
  std::vector<int32_t> choice;
  bool heaviest_first = false;        ///< the first choice of each is that of the largest weight
  std::vector<int64_t> branch_bytes;  ///< [layers] 0: not known
  std::array<int64_t, 3> dropped{};   ///< [phases] choices of these tokens that a capacity dropped

  size_t size() const { return tokens.size(); }
  int64_t steps() const { return tokens.empty() ? 0 : tokens.back().step + 1; }
  /// The same model and facts, no tokens.
  TokenRoutes like() const {
    TokenRoutes out;
    out.layers = layers, out.branches = branches, out.k = k;
    out.heaviest_first = heaviest_first, out.branch_bytes = branch_bytes, out.dropped = dropped;
    return out;
  }
  std::span<const int32_t> at(size_t token, int32_t layer) const {
    return std::span(choice).subspan(first_choice(token, layer), k);
  }
  std::span<int32_t> at(size_t token, int32_t layer) {
    return std::span(choice).subspan(first_choice(token, layer), k);
  }
  /// Under `follow`, the branch that a token moves to at this layer: the choice of the largest weight if
  /// heaviest_first. -1: it stays.
  int32_t heaviest(size_t token, int32_t layer) const { return first_kept(at(token, layer)); }
  bool visits(size_t token, int32_t layer) const { return heaviest(token, layer) >= 0; }
  /// The last layer before this one at which it moved; -1: it is at home.
  int32_t moved_at(size_t token, int32_t layer) const {
    while (--layer >= 0 && !visits(token, layer)) {
    }
    return layer;
  }

 private:
  size_t first_choice(size_t token, int32_t layer) const {
    return (token * static_cast<size_t>(layers) + static_cast<size_t>(layer)) * static_cast<size_t>(k);
  }
};

}  // namespace stormcell
