#include "core/summary/needed_facts.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace stormcell {
namespace {

struct Unneeded {
  Question question;
  std::string_view fact;
};

/// Any other fact is needed.
constexpr std::array kUnneeded = {
    Unneeded{Question::routing, "homes"},
    Unneeded{Question::routing, "timings"},
    Unneeded{Question::routing, "residency"},
    Unneeded{Question::routing, "branch_bytes"},
    Unneeded{Question::caches, "homes"},
    Unneeded{Question::caches, "timings"},
    // Times are those of the cluster, and its sizes are stated or refused.
    Unneeded{Question::steps, "timings"},
    Unneeded{Question::steps, "residency"},
    Unneeded{Question::steps, "branch_bytes"},
    // A step is a set of tokens, whatever their place in a request.
    Unneeded{Question::steps, "positions"},
    // Tokens that follow their experts need them, and are refused without.
    Unneeded{Question::steps, "weights"},
};

}  // namespace

bool is_needed(Question question, std::string_view fact) {
  return std::none_of(kUnneeded.begin(), kUnneeded.end(),
                      [&](const Unneeded& row) { return row.question == question && row.fact == fact; });
}

std::vector<std::string> needed_facts(Question question, const std::vector<std::string>& lacks) {
  std::vector<std::string> needed;
  std::copy_if(lacks.begin(), lacks.end(), std::back_inserter(needed),
               [&](const std::string& fact) { return is_needed(question, fact); });
  return needed;
}

}  // namespace stormcell
