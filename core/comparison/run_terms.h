// On what terms a run was made, that another must have been made on too before a time of one says anything of the
// other.
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
