// The terms of two placements: their purpose and the costs of their steps.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct PlacementTerms {
  bool same_ranks = true;  ///< false: other numbers of nodes or ranks, so balance and traffic differ by intent
  bool same_costs = true;  ///< false: costs in milliseconds are of other machines, models or steps
  std::vector<std::string> warnings;  ///< a sentence for each term that differs
  /// True for a figure that two such placements must not compare.
  bool exclude(std::string_view figure) const;
};
/// `a` and `b`: summaries of `place`.
PlacementTerms compare_placement_terms(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

}  // namespace stormcell
