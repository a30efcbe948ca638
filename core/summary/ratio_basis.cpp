#include "core/summary/ratio_basis.h"

#include <array>

#include "core/base/enum_words.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 4> kBases = {"pairs", "batches", "totals", "unknown"};  // row by RatioBasis

}  // namespace

std::string_view to_text(RatioBasis basis) { return row_of(kBases, basis); }

RatioBasis ratio_basis(std::string_view word) {
  return value_of_word<RatioBasis>(kBases, word).value_or(RatioBasis::unknown);
}

}  // namespace stormcell
