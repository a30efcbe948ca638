#include "core/comparison/counted_over.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/base/counted.h"

namespace stormcell {
namespace {

std::optional<int64_t> count_of(const SummaryFigures& f, const std::string& figure) {
  const auto at = f.value_of.find(figure);
  return at == f.value_of.end() ? std::optional<int64_t>() : static_cast<int64_t>(at->second);
}

/// The batches that a run of `optimize` executed; nothing: the summary does not say.
std::optional<int64_t> batches_that_ran(const SummaryFigures& f, const std::string& phase) {
  const auto profiled = count_of(f, phase + "split.profiled"), measured = count_of(f, phase + "split.measured");
  if (!profiled || !measured) return {};
  return count_of(f, phase + "split.same").value_or(0) != 0 ? *profiled : *profiled + *measured;
}

bool differ(const std::optional<int64_t>& x, const std::optional<int64_t>& y) { return x && y && *x != *y; }
std::string both(const std::optional<int64_t>& x, const std::optional<int64_t>& y) {
  return with_commas(*x) + " and " + with_commas(*y);
}

}  // namespace

bool UnlikeCounts::holds(std::string_view figure) const {
  for (const char* kept : {"verified.passed", "verified.batches", "quality.items", "quality.batches"})
    if (figure.ends_with(kept)) return false;
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return figure.starts_with(p); });
}

UnlikeCounts unlike_counts(const SummaryFigures& a, const SummaryFigures& b) {
  UnlikeCounts unlike;
  for (const std::string phase : {"", "decode."}) {
    const auto ran_a = batches_that_ran(a, phase), ran_b = batches_that_ran(b, phase);
    if (differ(ran_a, ran_b)) {
      unlike.same_batches = false;
      for (const char* group : {"routing.", "item_costs.", "exits.", "exit_target.", "passes.", "operators."})
        unlike.prefixes.push_back(phase + group);
      unlike.warnings.push_back("the batches that ran differ: " + both(ran_a, ran_b) +
                                ", so times, loads and costs must not be compared, and no figure is called better or "
                                "worse (give both the same --time-limit, or none)");
    }
    const auto verified_a = count_of(a, phase + "verified.batches"),
               verified_b = count_of(b, phase + "verified.batches");
    if (differ(verified_a, verified_b)) {
      unlike.prefixes.push_back(phase + "verified.");
      unlike.warnings.push_back("the batches that were verified differ: " + both(verified_a, verified_b) +
                                ", so only the verdicts are compared");
    }
    const auto items_a = count_of(a, phase + "quality.items"), items_b = count_of(b, phase + "quality.items");
    if (differ(items_a, items_b)) {
      unlike.prefixes.push_back(phase + "quality.");
      unlike.warnings.push_back("the numbers of items that were judged differ: " + both(items_a, items_b) +
                                ", so the quality must not be compared");
    }
  }
  return unlike;
}

}  // namespace stormcell
