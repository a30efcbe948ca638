#include "core/comparison/placement_terms.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

struct Term {
  const char *key, *member;  ///< `member` of the object at `key`; null: the value itself
  const char* words;
  bool of_ranks;  ///< else only costs depend on it
};
constexpr std::array kTerms = {
    Term{"cluster", "name", "the clusters", false},
    Term{"cluster", "nodes", "the numbers of nodes", true},
    Term{"cluster", "ranks", "the numbers of ranks", true},
    Term{"phase", nullptr, "the phases", true},
    Term{"backend", nullptr, "the backends", false},
    Term{"residence", nullptr, "the residences", false},
    Term{"sizes", "hidden", "the hidden sizes", false},
    Term{"sizes", "ffn", "the sizes of experts", false},
    Term{"sizes", "dtype", "the types of weights", false},
    Term{"costed_steps", "kind", "the kinds of steps", false},
    Term{"costed_steps", "statistic", "the statistics of steps", false},
    Term{"costed_steps", "tokens_per_step", "the tokens in a step", false},
    Term{"calibration", nullptr, "the calibrations", false},
};

/// Null if it is not there.
Json value_of(const Json& summary, const Term& term) {
  const auto at = summary.find(term.key);
  if (at == summary.end()) return {};
  if (!term.member) return *at;
  if (!at->is_object()) return {};
  const auto value = at->find(term.member);
  return value == at->end() ? Json() : *value;
}

std::string text_of(const Json& value) {
  if (value.is_null()) return "none";
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_object()) return value.dump();
  const auto name = value.find("name");
  return name != value.end() && name->is_string() ? name->get<std::string>() : "one";
}

bool is_cost(std::string_view figure) {
  constexpr std::array<std::string_view, 5> kCosts = {".objective", ".step_ms.", ".remote_bytes", ".wire_bytes",
                                                      ".calibrated"};
  return figure == "bound" || std::any_of(kCosts.begin(), kCosts.end(), [&](std::string_view cost) {
           return figure.find(cost) != std::string_view::npos;
         });
}

}  // namespace

bool PlacementTerms::exclude(std::string_view figure) const {
  if (!same_ranks && (figure.starts_with("layouts.") || figure == "moved_slots")) return true;
  return (!same_ranks || !same_costs) && is_cost(figure);
}

PlacementTerms compare_placement_terms(const Json& a, const Json& b) {
  PlacementTerms terms;
  for (const Term& term : kTerms) {
    const Json x = value_of(a, term), y = value_of(b, term);
    if (x == y) continue;
    terms.same_ranks &= !term.of_ranks;
    terms.same_costs = false;
    const std::string text_x = text_of(x), text_y = text_of(y);
    terms.warnings.push_back(
        std::string(term.words) + " differ" + (text_x == text_y ? std::string() : ": " + text_x + " and " + text_y) +
        (term.of_ranks ? ", so the layouts must not be compared" : ", so costs of steps must not be compared"));
  }
  return terms;
}

}  // namespace stormcell
