// Which request of one recording is which of another: by number, and by token ids where both have them.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/difference/cell_index.h"

namespace stormcell {

struct RequestPair {
  int64_t a = 0, b = 0;  ///< numbers
  /// The token at position p of b is that at p + shift of a, though positions are compared as they stand; 0: the tokens
  /// agree, or are not known.
  int32_t shift = 0;
};

/// The cells that only one recording has, within requests of both.
struct CellsAlone {
  int64_t only_a = 0, only_b = 0;
  int64_t b_of_padding = 0;  ///< cells of b that a marks as padding
  int64_t a_of_padding = 0;
};

struct RequestPairs {
  std::vector<RequestPair> pairs;  ///< ascending by a
  bool by_tokens = false;          ///< both recordings have token ids
  int64_t renumbered = 0;          ///< pairs of unlike numbers
  int64_t exchanged = 0;           ///< those of them whose number is another request's in the other recording
  int64_t shifted = 0;             ///< pairs with a shift
  int64_t only_a = 0, only_b = 0;  ///< requests
  CellsAlone alone;
  int64_t matched_cells = 0;
  std::vector<std::string> warnings;
  std::map<int64_t, int64_t> a_of_b() const;
};

/// `stack_a`, `stack_b`: the stack whose cells are compared. Throws Error(bad_input), which names b, if no request or no
/// cell is in both, or if requests of one number have other tokens that are nowhere else.
RequestPairs pair_requests(const CellIndex& a, const std::string& name_a, int32_t stack_a, const CellIndex& b,
                           const std::string& name_b, int32_t stack_b);

}  // namespace stormcell
