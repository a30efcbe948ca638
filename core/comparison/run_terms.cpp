#include "core/comparison/run_terms.h"

#include <nlohmann/json.hpp>
#include <string>

#include "core/base/numbers.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

std::string phase_of(const Json& summary) {
  const auto at = summary.find("phase");
  return at != summary.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// 0: none, as of all runs of versions that had none.
int64_t budget_of(const Json& summary) {
  const auto at = summary.find("weight_budget");
  if (at == summary.end() || !at->is_object()) return 0;
  const auto bytes = at->find("budget_bytes");
  return bytes != at->end() && bytes->is_number_integer() ? bytes->get<int64_t>() : 0;
}

std::string budget_text(int64_t bytes) { return bytes > 0 ? to_text(Bytes(bytes)) : std::string("none"); }

/// "0.9, 0.62", by exit; empty: no exits.
std::string exit_thresholds_of(const Json& summary) {
  const auto at = summary.find("exits");
  if (at == summary.end() || !at->is_object()) return {};
  const auto thresholds = at->find("thresholds");
  if (thresholds == at->end() || !thresholds->is_array()) return {};
  std::string text;
  for (const Json& t : *thresholds)
    if (t.is_number()) text += (text.empty() ? "" : ", ") + t.dump();
  return text;
}

}  // namespace

RunTerms compare_terms(const Json& a, const Json& b) {
  RunTerms terms;
  const std::string phase_a = phase_of(a), phase_b = phase_of(b);
  if (!phase_a.empty() && !phase_b.empty() && phase_a != phase_b) {
    terms.same_phase = false;
    terms.warnings.push_back("the phases differ: " + phase_a + " and " + phase_b +
                             ", which do other work: their times and rates have no difference");
  }
  if (const int64_t x = budget_of(a), y = budget_of(b); x != y) {
    terms.same_budget = false;
    terms.warnings.push_back("the budgets for weights of branches differ (--weight-budget): " + budget_text(x) +
                             " and " + budget_text(y) + ", so a shorter time is not a speed-up");
  }
  const std::string thresholds_a = exit_thresholds_of(a), thresholds_b = exit_thresholds_of(b);
  if (!thresholds_a.empty() && !thresholds_b.empty() && thresholds_a != thresholds_b)
    terms.warnings.push_back("the thresholds of exits differ: " + thresholds_a + " and " + thresholds_b +
                             ": other items leave early, which changes costs and answers by intent");
  return terms;
}

}  // namespace stormcell
