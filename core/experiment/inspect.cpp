#include "core/experiment/inspect.h"

#include <algorithm>

#include "core/bench/devices.h"
#include "core/bench/plan_checks.h"
#include "core/cost/graph_cost.h"
#include "core/exits/exit_chain.h"
#include "core/experiment/inspected_graph.h"
#include "core/experiment/inspected_kernels.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/cell_flow.h"
#include "core/graph/dot.h"
#include "core/graph/hoist.h"
#include "core/graph/input_specs.h"
#include "core/graph/operator.h"
#include "core/graph/patch_grid.h"
#include "core/graph/roles.h"
#include "core/graph/text.h"
#include "core/models/model.h"
#include "core/runtime/lower.h"
#include "core/runtime/segment_text.h"
#include "core/runtime/weight_store.h"

namespace stormcell {
namespace {

std::vector<RouterStructure> routers_of(const Graph& graph, const Bindings& bindings) {
  const CellFlow flow = analyze_cell_flow(graph);
  const std::vector<Hoist> hoists = find_hoists(graph, bindings);
  std::vector<RouterStructure> routers;
  for (size_t i = 0; i < flow.routers().size(); ++i) {
    const RouterFlow& router = flow.routers()[i];
    const Value& decision = graph.value(router.decision);
    RouterStructure r;
    r.name = router.name;
    r.branches = decision.branches;
    r.cell_space = graph.space(decision.type.space).name;
    r.protocol = graph.node(router.router).attributes.word("protocol");
    for (const std::string& name : router.routers) r.depends.push_back("router " + name);
    for (const std::string& name : router.outputs) r.depends.push_back("output " + name);
    for (const Mixing& mixing : router.mixes) r.mixes.push_back(to_text(graph, mixing));
    r.hoistable_bytes = hoists[i].bytes;
    r.hoistable_flops = hoists[i].flops;
    routers.push_back(std::move(r));
  }
  return routers;
}

std::shared_ptr<const Model> open(const std::string& name) {
  ModelOptions options;
  options.check_weights = false;
  return open_model(name, options);
}

std::optional<PictureStructure> picture_of(const Model& model, const Graph& graph) {
  for (const InputSpec& input : input_specs(graph)) {
    if (input.role != InputRole::pixels) continue;
    PictureStructure p{input.content[0], input.content[1], input.content[2]};
    if (model.sizes) p.least = model.sizes->least, p.most = model.sizes->most;
    return p;
  }
  return {};
}

std::vector<InputStructure> inputs_of(const Graph& graph) {
  std::vector<InputStructure> list;
  for (const InputSpec& input : input_specs(graph))
    list.push_back({input.name, std::string(to_text(input.role)), input.space, input.content});
  return list;
}

std::vector<GridStructure> grids_of(const Graph& graph) {
  std::vector<GridStructure> list;
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (!has_role(node, Role::unfold)) return;
    const PatchGrid grid = grid_of_unfold(graph, node);
    const SpaceId space = graph.dense_ancestor(graph.value(node.outputs[0]).type.space);
    list.push_back(
        {graph.space(space).name, grid.rows(), grid.columns(), grid.patch_height, grid.patch_width, grid.stride});
  });
  return list;
}

SegmentStructure structure_of(const Segment& segment, const Program& program) {
  const SegmentWords words = words_of(segment, program);
  SegmentStructure s;
  s.kind = words.kind, s.of = words.of;
  if (segment.leaf >= 0) s.leaf = segment.leaf;
  s.begin = segment.begin, s.end = segment.end;
  s.kernels = words.kernels, s.branches = words.branches, s.guards = words.guards, s.repeats = words.repeats;
  s.ends = words.ends, s.at = words.at;
  for (const Segment& child : segment.children) s.children.push_back(structure_of(child, program));
  return s;
}

void set_exit_costs(const Graph& graph, const TaskAnswer& answer, ModelStructure& s) {
  const std::optional<ExitChain> chain = exit_chain(graph, answer);
  if (!chain) return;
  // Only if the number of items is the only open symbol: any other one would be taken for 1.
  if (graph.symbols.size() == 1)
    s.item_flops = ItemFlops{.first_exit = chain->costs.front() * chain->whole, .whole = chain->whole};
  for (RouterStructure& r : s.routers)
    if (const std::optional<size_t> test = chain->test_of(r.name)) r.exit_cost = chain->costs[*test];
}

/// The plan of a graph, as the CPU lays it out for the typical case: which weights there are says the tree, not which
/// values they have.
PlanStructure plan_of(const Model& model, Device& device, std::shared_ptr<const Graph> graph,
                      const InspectOptions& options, std::string& text) {
  WeightStore store(device, model.weights, options.weight_budget);
  const Bindings bounds = typical_case(model, *graph);
  const auto program = std::make_shared<const Program>(lower(std::move(graph)));
  const ExecutableLayout layout = device.layout_of(program, store, {bounds});
  store.check_budget();
  text = to_text(layout.segments, *program);
  PlanStructure plan;
  plan.phase = work_phase(options.phase);
  plan.weight_budget = options.weight_budget;
  plan.steps = std::ssize(program->steps);
  plan.leaves = std::ssize(layout.segments.leaves);
  plan.ends =
      std::ranges::count_if(layout.segments.leaves, [](const Leaf& leaf) { return leaf.ends != SegmentEnd::none; });
  plan.program = structure_of(layout.segments.root, *program);
  return plan;
}

/// Figures for --weight-budget in the CPU's layouts: all weights of branches, and the least budget that works.
void set_budget(const Model& model, Device& device, const std::shared_ptr<const Graph>& graph, ModelStructure& s) {
  const std::unique_ptr<WeightStore> asked =
      asked_weights({device, model.weights, kBudgetForAll}, graph, typical_case(model, *graph));
  s.expert_bytes = asked->counters().branch_weight_bytes;
  s.least_budget = asked->least_budget();
}

ModelStructure structure_of(const Model& model, const Graph& graph) {
  const Bindings bindings = typical_case(model, graph);
  ModelStructure s;
  s.name = model.name;
  s.family = model.family;
  s.weights = std::string(to_text(model.origin));
  s.weights_stated = model.origin_stated;
  s.parameters = model.parameters;
  s.weight_bytes = model.weight_bytes;
  s.flops_per_cell = cost_of(graph, {bindings, {}, {}, 1}).flops_per_cell();
  s.inputs = inputs_of(graph);
  s.picture = picture_of(model, graph);
  s.grids = grids_of(graph);
  s.routers = routers_of(graph, bindings);
  set_exit_costs(graph, model.answer, s);
  graph.for_each_node([&](NodeId id, int) { ++s.operators[std::string(graph.node(id).op->name)]; });
  std::vector<std::string> operators;
  for (const auto& [op, count] : s.operators) operators.push_back(op);
  s.kernels = inspected_kernels(operators, devices());
  s.annotations = annotation_list(graph);
  s.unsupported = model.unsupported;
  s.warnings = model.warnings;
  return s;
}

}  // namespace

InspectedModel inspect_with_graph(const InspectOptions& options) {
  const auto model = open(options.model);
  const std::unique_ptr<Device> device = open_device(devices().front().name, {});
  const auto [graph, warnings] = inspected_graph(*model, *device, options);
  InspectedModel inspected{structure_of(*model, *graph), to_text(*graph), to_dot(*graph), {}, model->path};
  ModelStructure& s = inspected.structure;
  s.warnings.insert(s.warnings.end(), warnings.begin(), warnings.end());
  if (!s.routers.empty()) set_budget(*model, *device, graph, s);
  if (options.segments) s.plan = plan_of(*model, *device, graph, options, inspected.segments);
  return inspected;
}

}  // namespace stormcell
