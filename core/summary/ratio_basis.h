// The basis from which a ratio of times was estimated.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

enum class RatioBasis : uint8_t {
  all_pairs,
  batches,
  totals,
  unknown  ///< the word of a later version
};
/// "pairs", "batches", "totals".
std::string_view to_text(RatioBasis basis);
/// Reads a word of a summary back.
RatioBasis ratio_basis(std::string_view word);

}  // namespace stormcell
