// On what terms a run was made, that another must have been made on too before a time of one says anything of the other.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// Phase, budget and thresholds of exits of two summaries.
struct RunTerms {
  bool same_phase = true, same_budget = true;
  std::vector<std::string> warnings;  ///< a sentence for each that differs
};
RunTerms compare_terms(const nlohmann::ordered_json& a, const nlohmann::ordered_json& b);

/// The figure's key holds one of the words.
bool has_any(std::string_view figure, std::span<const std::string_view> words);
/// A figure that is of what a phase does: beside one of another phase it has no difference.
bool is_of_phase(std::string_view figure);
/// A time, a rate or a ratio of times: of unlike machines, data or terms it must not be compared.
bool is_of_time(std::string_view figure);
/// A sum over all executions of a verb, of which two runs have unlike numbers: it never has a difference. What one execution did has.
bool is_sum_of_executions(std::string_view figure);

}  // namespace stormcell
