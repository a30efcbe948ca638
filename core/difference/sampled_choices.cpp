#include "core/difference/sampled_choices.h"

#include <algorithm>
#include <cmath>

namespace stormcell {
namespace {

template <class CellOf>
ChoiceColumn column_of(const ChoiceStore& store, int32_t router, const std::vector<SampledCell>& cells,
                       CellOf cell_of) {
  ChoiceColumn column;
  column.begin.reserve(cells.size() + 1);
  column.begin.push_back(0);
  std::vector<int32_t> ids;
  for (const SampledCell& cell : cells) {
    store.ids(router, cell_of(cell), ids);
    column.ids.insert(column.ids.end(), ids.begin(), ids.end());
    column.begin.push_back(static_cast<int32_t>(column.ids.size()));
  }
  return column;
}

}  // namespace

double PairedSums::z() const {
  if (n < 2) return 0;
  const double count = static_cast<double>(n), mean = gain / count;
  const double variance = std::max(0.0, gain_squares / count - mean * mean);
  const double error = std::sqrt(std::max(variance, .25 / count) / count);
  return mean / error;
}

double PairedSums::sign_chance() const {
  const auto changed = static_cast<double>(better + worse);
  const auto log_of = [&](int64_t k) {
    const auto hits = static_cast<double>(k);
    return std::lgamma(changed + 1) - std::lgamma(hits + 1) - std::lgamma(changed - hits + 1) - changed * std::log(2.0);
  };
  double chance = 0;
  for (int64_t k = better; k <= better + worse; ++k) chance += std::exp(log_of(k));
  return std::min(1.0, chance);
}

SampledChoices sampled_choices(const CounterInput& input, const DifferenceCounter& counter) {
  SampledChoices all{{}, input.a, input.b, input.choices, &counter.sample_choices(), input.requests};
  const auto &routers_a = input.a->header().routers, &routers_b = input.b->header().routers;
  for (int32_t s = 0; s < std::ssize(counter.sampled()); ++s) {
    SampledStack stack;
    stack.cells = counter.sampled()[s];
    if (stack.cells.empty()) continue;
    for (const RouterPair& pair : input.routers->pairs)
      if (routers_b[pair.b].stack == s) stack.pairs.push_back(pair);
    stack.stack_a = routers_a[stack.pairs.at(0).a].stack;
    stack.a.resize(routers_a.size()), stack.b.resize(routers_b.size());
    for (int32_t r = 0; r < std::ssize(routers_a); ++r)
      if (routers_a[r].stack == stack.stack_a)
        stack.a[r] = column_of(*input.choices, r, stack.cells, [](const SampledCell& c) { return c.cell_a; });
    for (int32_t r = 0; r < std::ssize(routers_b); ++r)
      if (routers_b[r].stack == s)
        stack.b[r] = column_of(counter.sample_choices(), r, stack.cells, [](const SampledCell& c) { return c.cell_b; });
    all.stacks.push_back(std::move(stack));
  }
  return all;
}

}  // namespace stormcell
