#include "core/experiment/routing_figures.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "core/profile/statistics.h"

namespace stormcell {
namespace {

/// Loads of real cells by label, without labels that no router saw.
std::map<std::string_view, std::span<const int64_t>> loads_by_label(const ProfileAccumulator& counted, int32_t router) {
  const KeyedLoads& keyed = counted.label_loads(router);
  const size_t branches = counted.loads(router).branches();
  std::map<std::string_view, std::span<const int64_t>> labels;
  for (size_t i = 0; i < keyed.cells.size(); ++i) {
    const std::span<const int64_t> loads = std::span(keyed.load).subspan(i * branches, branches);
    if (std::any_of(loads.begin(), loads.end(), [](int64_t n) { return n > 0; }))
      labels.emplace(counted.labels()[i], loads);
  }
  return labels;
}

RouterLoad load_of(const CountedLoads& of, int64_t batches) {
  return {of.loads.load, of.loads.cells, batches, of.loads.real(), of.cells_real};
}

/// Subtracts a part from a load; `batches`: the number of batches left.
RouterLoad without(RouterLoad all, const RouterLoad& part, int64_t batches) {
  all.batches = batches;
  all.cells -= part.cells, all.cells_real -= part.cells_real;
  for (size_t b = 0; b < all.load.size(); ++b) all.load[b] -= part.load[b], all.load_real[b] -= part.load_real[b];
  return all;
}

}  // namespace

std::vector<RouterFigures> router_figures(const ProfileAccumulator& counted) {
  std::vector<RouterFigures> list;
  for (const RouterInfo& info : counted.layout().routers) {
    const int32_t router = list.size();
    const auto& [loads, cells_real] = counted.counts(router);
    RouterFigures& f = list.emplace_back();
    f.router = info.name;
    f.branches = info.branches;
    f.fan_out = info.fan_out;
    f.cells = loads.cells;
    f.load = loads.load;
    f.imbalance = imbalance(f.load);
    f.entropy = entropy_bits(f.load);
    f.dropped = std::accumulate(loads.dropped.begin(), loads.dropped.end(), int64_t{0});
    f.cells_real = cells_real;
    f.load_real = loads.real();
    f.imbalance_real = imbalance(f.load_real);
    f.entropy_real = entropy_bits(f.load_real);
    std::vector<int64_t> table;
    for (const auto& [label, of_label] : loads_by_label(counted, router))
      table.insert(table.end(), of_label.begin(), of_label.end());
    if (!table.empty())
      f.label_information = mutual_information_bits(table, std::ssize(table) / info.branches, info.branches);
  }
  return list;
}

LoadProfile load_profile(const ProfileAccumulator& counted) {
  LoadProfile profile;
  int32_t router = 0;
  for (const RouterInfo& info : counted.layout().routers) {
    const CountedLoads &all = counted.profiled(router), &turns = counted.profiled_turns(router);
    ++router;
    RouterLoad& of = profile.routers[info.name] = load_of(all, counted.profiled_batches());
    if (turns.loads.batches == 0 || turns.loads.batches == all.loads.batches) continue;
    RouterLoad of_turns = load_of(turns, turns.loads.batches);
    RouterLoad of_prompt = without(of, of_turns, all.loads.batches - turns.loads.batches);
    of.prompt_and_turns = {std::move(of_prompt), std::move(of_turns)};
  }
  return profile;
}

LoadProfile held_out_loads(const ProfileAccumulator& counted) {
  LoadProfile held_out;
  int32_t router = 0;
  for (const RouterInfo& info : counted.layout().routers) {
    held_out.routers[info.name] = without(load_of(counted.counts(router), counted.batches()),
                                          load_of(counted.profiled(router), counted.profiled_batches()),
                                          counted.batches() - counted.profiled_batches());
    ++router;
  }
  return held_out;
}

std::vector<std::string> routed_labels(const ProfileAccumulator& counted) {
  std::vector<std::string> labels;
  for (size_t r = 0; r < counted.layout().routers.size(); ++r)
    for (const auto& [label, loads] : loads_by_label(counted, static_cast<int32_t>(r)))
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) labels.emplace_back(label);
  return labels;
}

}  // namespace stormcell
