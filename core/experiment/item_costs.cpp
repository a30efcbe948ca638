#include "core/experiment/item_costs.h"

#include <algorithm>

#include "core/bench/batch_inputs.h"
#include "core/cost/graph_cost.h"
#include "core/graph/input_specs.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// Limit of kept costs; those beyond it are computed each time.
constexpr size_t kMostKept = 4096;

template <class Key, class Count>
double kept(std::map<Key, double>& known, const Key& key, const Count& count) {
  if (const auto at = known.find(key); at != known.end()) return at->second;
  const double value = count();
  if (known.size() < kMostKept) known.emplace(key, value);
  return value;
}

/// Rows of the dense space that a router of the plan decides on: their number for one item, and which are real; empty:
/// all are.
struct RowsOfItems {
  int64_t per_item = 0;
  std::vector<int32_t> real;
  bool is_real(size_t row) const { return row >= real.size() || real[row] != 0; }
};
RowsOfItems rows_of_items(const Graph& graph, SpaceId space, const Batch& batch, const Bindings& bindings) {
  return {graph.space(space).count.evaluate(bindings) / std::max<int64_t>(1, batch.size()),
          mask_over(graph, space, batch, bindings)};
}

}  // namespace

std::vector<ValueId> routed_values(const Graph& graph) {
  std::vector<ValueId> routed;
  graph.for_each_node([&](NodeId id, int) {
    if (is_route(graph.node(id))) routed.push_back(graph.node(id).outputs[0]);
  });
  return routed;
}

double operations_of(const Graph& graph, const std::vector<ValueId>& routed, const ItemLoads& loads) {
  CostCase of;
  of.bindings = loads.bindings;
  for (size_t r = 0; r < routed.size(); ++r) {
    const ItemLoads::Router& router = loads.routers[r];
    std::vector<double> shares(graph.value(routed[r]).branches, 0.0);
    for (size_t b = 0; b < router.load.size() && router.cells > 0; ++b)
      shares[b] = static_cast<double>(router.load[b]) / router.cells;
    of.shares.set(routed[r], std::move(shares));
  }
  return cost_of(graph, of).total.flops;
}

double operations_of_all(const Graph& graph, const std::vector<ValueId>& routed, const Bindings& bindings) {
  CostCase of;
  of.bindings = bindings;
  for (const ValueId decision : routed)
    of.shares.set(decision, std::vector<double>(graph.value(decision).branches, 1.0));
  return cost_of(graph, of).total.flops;
}

double parts_computed(const Graph& graph, const std::vector<ValueId>& routed, const ItemLoads& loads) {
  double parts = 0;
  for (size_t r = 0; r < routed.size(); ++r) {
    const Value& decision = graph.value(routed[r]);
    const std::optional<int32_t> part = gated_branch(graph.node(decision.producer));
    // Divides by all cells, not by those that came: if an outer gate kept a cell away, the part was not computed for it
    // either.
    const int64_t cells = graph.space(graph.dense_ancestor(decision.type.space)).count.evaluate(loads.bindings);
    if (part && cells > 0) parts += static_cast<double>(loads.routers[r].load[*part]) / cells;
  }
  return parts;
}

Bindings bindings_of_item(const Graph& graph, const Batch& batch, size_t item) {
  Bindings b(graph.symbols.size(), 0);
  const auto real_cells = [&](std::string_view name) {
    const BatchCells* space = batch.find_space(name);
    if (!space) return int64_t{-1};
    if (space->real.empty()) return int64_t{space->per_item};
    const auto first = space->real.begin() + static_cast<std::ptrdiff_t>(item) * space->per_item;
    return static_cast<int64_t>(std::count_if(first, first + space->per_item, [](int32_t real) { return real != 0; }));
  };
  bind_cells(graph, 1, real_cells, b);
  return b;
}

ItemCosts::ItemCosts(const Workload& work)
    : state_(work.state()),
      graphs_(work.graph_of_size()),
      classes_(*state_.model, *state_.data),
      is_counting_(work.phase() == WorkPhase::forward && !routed_values(*work.graph()).empty()) {}

ItemCosts::Counted ItemCosts::counted(PictureSize size) const {
  Counted c;
  c.graph = graphs_(size);
  c.routed = routed_values(*c.graph);
  c.largest = LargestBranches::of(*c.graph, c.routed);
  c.parts = std::count_if(c.routed.begin(), c.routed.end(), [&](ValueId decision) {
    return gated_branch(c.graph->node(c.graph->value(decision).producer)).has_value();
  });
  for (size_t r = 0; r < c.routed.size(); ++r)
    c.number.emplace(c.graph->node(c.graph->value(c.routed[r]).producer).name, r);
  return c;
}

std::vector<ItemLoads> ItemCosts::loads_of(const Counted& of, const ReadyPlan& plan, const Batch& batch,
                                           std::vector<ItemCost>& items) const {
  ItemLoads none;
  for (const ValueId decision : of.routed)
    none.routers.push_back({0, std::vector<int64_t>(of.graph->value(decision).branches, 0)});
  std::vector<ItemLoads> loads(items.size(), none);
  for (size_t i = 0; i < items.size(); ++i) loads[i].bindings = bindings_of_item(*of.graph, batch, i);
  const Program& program = *plan.program;
  const Bindings bindings = plan.bindings(batch);
  std::map<SpaceId, RowsOfItems> rows;
  for (const ExecutedDecision* d : standing_decisions(program, plan.records->routers, plan.result)) {
    const ProgramRouter& router = program.routers[d->router];
    const auto number = of.number.find(router.name);
    if (number == of.number.end()) continue;
    auto at = rows.find(router.dense_space);
    if (at == rows.end())
      at = rows.emplace(router.dense_space, rows_of_items(*program.graph, router.dense_space, batch, bindings)).first;
    const RowsOfItems& of_items = at->second;
    for (size_t c = 0; c < static_cast<size_t>(d->shape.cells); ++c) {
      const size_t row = d->ancestor.empty() ? c : static_cast<size_t>(d->ancestor[c]);
      const size_t item = of_items.per_item > 0 ? row / static_cast<size_t>(of_items.per_item) : items.size();
      if (item >= items.size() || !of_items.is_real(row)) continue;
      ItemLoads::Router& into = loads[item].routers[number->second];
      ++into.cells;
      for (int32_t k = 0; k < d->shape.fan_out; ++k) {
        const int32_t choice = d->choice[c * d->shape.fan_out + k];
        if (is_kept(choice)) ++into.load[choice];
        items[item].choices += is_kept(choice) || is_dropped(choice);
        items[item].dropped += is_dropped(choice);
      }
    }
  }
  return loads;
}

void ItemCosts::add(const ReadyPlan& plan, const Batch& batch) {
  if (!is_counting_) return;
  Counted& of = of_size_.at(batch.picture, [&](PictureSize size) { return counted(size); });
  is_counting_ = std::all_of(of.number.begin(), of.number.end(), [&](const auto& router) {
    return std::any_of(plan.program->routers.begin(), plan.program->routers.end(),
                       [&](const ProgramRouter& r) { return r.name == router.first; });
  });
  if (!is_counting_) return;
  std::vector<ItemCost> items(batch.size());
  const std::vector<ItemLoads> loads = loads_of(of, plan, batch, items);
  for (size_t i = 0; i < items.size(); ++i) {
    items[i].item = batch.items[i];
    items[i].operations = kept(of.operations, loads[i], [&] { return operations_of(*of.graph, of.routed, loads[i]); });
    items[i].of_all =
        kept(of.of_all, loads[i].bindings, [&] { return operations_of_all(*of.graph, of.routed, loads[i].bindings); });
    if (of.largest)
      items[i].of_largest =
          kept(of.of_largest, loads[i].bindings, [&] { return of.largest->operations(loads[i].bindings); });
    items[i].classes = classes_.of(batch, i);
    items[i].parts = parts_computed(*of.graph, of.routed, loads[i]), items[i].of_parts = of.parts;
  }
  std::erase_if(items, [](const ItemCost& item) { return item.of_all == 0; });  // padding alone has no share
  items_.insert(items_.end(), items.begin(), items.end());
}

std::optional<ItemCostFigures> ItemCosts::figures() const {
  if (!is_counting_ || items_.empty()) return std::nullopt;
  ItemCostFigures f = item_cost_figures(
      items_,
      {classes_.may_be_several(), [&](const std::string& a, const std::string& b) { return classes_.before(a, b); }});
  f.item = std::string(state_.data->item_noun());
  for (ItemSpent* item : {&f.least, &f.most}) item->name = state_.data->place(item->item);
  return f;
}

}  // namespace stormcell
