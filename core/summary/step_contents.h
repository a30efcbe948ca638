// What is in a predicted or simulated step, in the words with which every result begins.
#pragma once
#include <optional>
#include <string>

namespace stormcell {

/// "experts and exchange only; a lower bound". With a stated rest of the step: "experts, exchange and a stated rest of 4 ms; a lower bound
/// if the rest is right".
std::string step_contents(const std::optional<double>& rest_ms = {});
/// What is in a rate that follows from such a step: "experts and exchange only, no attention", "experts, exchange and a stated rest of 4
/// ms".
std::string rate_contents(const std::optional<double>& rest_ms);
/// A sentence may begin with it.
std::string step_contents_sentence(const std::string& contents);

}  // namespace stormcell
