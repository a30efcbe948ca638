// Time from bytes, FLOP and steps.
#include <algorithm>
#include <map>

#include "core/graph/operator.h"
#include "core/passes/pass.h"

namespace stormcell {
namespace {

class Predictor {
 public:
  Predictor(const Graph& graph, const LoadProfile& profile, const MachineModel& machine, const Bindings& bindings)
      : graph_(graph), profile_(profile), machine_(machine), bindings_(bindings) {
    bindings_.resize(graph.symbols.size(), 1);
  }
  double milliseconds() { return block(graph_.top) * 1e3; }

 private:
  /// Rows of a space, the mean over batches.
  double rows(SpaceId id) {
    if (id == kNone) return 1;
    if (const auto at = rows_.find(id); at != rows_.end()) return at->second;
    const CellSpace& space = graph_.space(id);
    double n = 0;
    if (space.kind == SpaceKind::routed) {
      n = rows(space.parent) * share(space.decision, space.branch);
    } else if (space.parent == kNone) {
      n = static_cast<double>(space.count.evaluate(bindings_));
    } else {
      n = rows(space.parent) * static_cast<double>(space.per_parent.evaluate(bindings_));
    }
    return rows_[id] = n;
  }

  /// Rows of a branch for each cell that comes to its router.
  double share(ValueId decision, int32_t branch) const {
    const Value& d = graph_.value(decision);
    const auto at = profile_.routers.find(graph_.node(d.producer).name);
    if (at == profile_.routers.end() || at->second.load.size() != static_cast<size_t>(d.branches))
      return static_cast<double>(d.fan_out) / (branch == kAllBranches ? 1 : d.branches);
    const RouterLoad& load = at->second;
    if (load.cells == 0) return 0;
    double sum = 0;
    for (int32_t b = 0; b < d.branches; ++b)
      if (branch == kAllBranches || b == branch) sum += static_cast<double>(load.load[static_cast<size_t>(b)]);
    return sum / static_cast<double>(load.cells);
  }

  /// Share of the batches in which a space has rows.
  double present(SpaceId space) {
    for (SpaceId s = space; s != kNone; s = graph_.space(s).parent)
      if (graph_.space(s).kind == SpaceKind::routed) return std::min(1.0, rows(space));
    return 1;
  }

  double block(const Block& block) {
    double seconds = 0;
    for (const NodeId id : block.nodes) {
      const Node& node = graph_.node(id);
      if (node.op->name == "repeat") {
        const auto turns = static_cast<double>(Dim::parse(node.attributes.word("most"), graph_.symbols, node.name).evaluate(bindings_));
        seconds += turns * this->block(node.bodies[0]);
      } else if (!node.bodies.empty()) {
        seconds += this->block(node.bodies[0]);
      } else {
        seconds += step(node);
      }
    }
    return seconds;
  }

  double step(const Node& node) {
    // As the plan places it: a scatter runs where its flow lives, everything else where its result lives.
    SpaceId place = kNone;
    if (!node.outputs.empty()) place = graph_.value(node.op->name == "scatter" ? node.inputs[0] : node.outputs[0]).type.space;
    const double runs = present(place);
    if (runs <= 0) return 0;
    const CostContext context{graph_, [&](SpaceId s) { return rows(s) / runs; }, bindings_};
    Cost cost = node.op->cost(context, node);
    if (node.op->name == "grouped_linear") cost.weight_bytes = weights_of_present(node, runs);
    if (cost.bytes() <= 0 && cost.flops <= 0) return 0;  // a look at a counter, no step of its own
    const double peak = (reads_bf16(node) ? machine_.peak_bf16_gflops : machine_.peak_f32_gflops) * 1e9;
    return runs * (std::max(cost.bytes() / (machine_.read_gbps * 1e9), cost.flops / peak) + machine_.step_microseconds * 1e-6);
  }

  /// A grouped product reads the weights of the branches that came.
  double weights_of_present(const Node& node, double runs) {
    const std::vector<int64_t>& branches = node.attributes.list("branches");
    const double cells = rows(graph_.value(node.inputs[1]).type.space) / runs;
    double bytes = 0;
    for (size_t i = 0; i < branches.size(); ++i)
      bytes += std::min(1.0, cells * share(node.inputs[1], static_cast<int32_t>(branches[i]))) * static_cast<double>(graph_.row_bytes(node.inputs[2 + i]));
    return bytes;
  }
  bool reads_bf16(const Node& node) const {
    for (const ValueId v : node.inputs)
      if (graph_.value(v).kind == ValueKind::weight && graph_.value(v).type.content.size() > 1) return graph_.value(v).type.dtype == DType::bf16;
    return false;
  }

  const Graph& graph_;
  const LoadProfile& profile_;
  const MachineModel& machine_;
  Bindings bindings_;
  std::map<SpaceId, double> rows_;
};

}  // namespace

double predict_milliseconds(const Graph& graph, const LoadProfile& profile, const MachineModel& machine, const Bindings& bindings) {
  return Predictor(graph, profile, machine, bindings).milliseconds();
}

}  // namespace stormcell
