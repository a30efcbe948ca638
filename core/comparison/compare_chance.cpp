#include "core/comparison/compare_chance.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stormcell {
namespace {

/// Figures of how even a router's loads are; a whole-run verdict says whether they are beyond chance.
constexpr std::array<std::string_view, 5> kOfEvenness = {"imbalance", "entropy", "entropy_bits", "gini",
                                                         "balancedness"};

/// The router of "routing.ROUTER.imbalance"; empty: it is no such figure.
std::string router_of_evenness(std::string_view figure) {
  constexpr std::string_view kRouting = "routing.";
  const size_t dot = figure.rfind('.');
  if (!figure.starts_with(kRouting) || dot == std::string_view::npos || dot <= kRouting.size()) return {};
  if (std::ranges::find(kOfEvenness, figure.substr(dot + 1)) == kOfEvenness.end()) return {};
  return std::string(figure.substr(kRouting.size(), dot - kRouting.size()));
}

}  // namespace

void mark_within_chance(const LoadChances& a, const LoadChances& b, Comparison& comparison) {
  for (ComparedFigure& row : comparison.rows) {
    const std::string router = router_of_evenness(row.figure);
    if (router.empty()) continue;
    const auto in_a = a.find(router), in_b = b.find(router);
    if (in_a == a.end() || in_b == b.end()) continue;
    row.within_chance = !in_a->second.beyond && !in_b->second.beyond;
    if (*row.within_chance && row.significant) row.significant = false;
  }
}

}  // namespace stormcell
