// The facts of a recording that a question depends on: a text names what the data lacks only if the answer would differ
// with it. Facts are those of kTraceFacts; JSON has all that are missing.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

enum class Question : uint8_t {
  routing,  ///< who is chosen, by whom and when: analyze
  caches,   ///< the same, and what a cache of branches would hold
  steps,    ///< loads of ranks, step by step: place, simulate, merge
};

bool is_needed(Question question, std::string_view fact);
/// The facts of a list that the question needs, in its order.
std::vector<std::string> needed_facts(Question question, const std::vector<std::string>& lacks);

}  // namespace stormcell
