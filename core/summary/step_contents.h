// Words for the contents of a predicted or simulated step. Every result begins with them.
#pragma once
#include <optional>
#include <string>

namespace stormcell {

/// "experts and exchange only; a lower bound". With a stated rest of the step: "experts, exchange and a stated rest of
/// 4 ms; a lower bound if the rest is right".
std::string step_contents(const std::optional<double>& rest_ms = {});
/// The contents of a rate from such a step: "experts and exchange only, no attention", "experts, exchange and a stated
/// rest of 4 ms".
std::string rate_contents(const std::optional<double>& rest_ms);
/// The text with a capital letter, for the beginning of a sentence.
std::string step_contents_sentence(const std::string& contents);

}  // namespace stormcell
