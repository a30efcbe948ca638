// Terms of a run that another run must share before their times can be compared.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace stormcell {

/// Phase, budget and thresholds of exits of two summaries.
struct RunTerms {
  bool same_phase = true, same_budget = true;
  std::vector<std::string> warnings;  ///< a sentence for each that differs
};
RunTerms compare_terms(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

}  // namespace stormcell
