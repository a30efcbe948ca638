#include "core/summary/ratio_basis.h"

#include <algorithm>
#include <array>

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 4> kBases = {"pairs", "batches", "totals", "unknown"};  // by RatioBasis

}  // namespace

std::string_view to_text(RatioBasis basis) { return kBases[static_cast<size_t>(basis)]; }

RatioBasis ratio_basis(std::string_view word) {
  const auto at = std::find(kBases.begin(), kBases.end(), word);
  return at == kBases.end() ? RatioBasis::unknown : static_cast<RatioBasis>(at - kBases.begin());
}

}  // namespace stormcell
