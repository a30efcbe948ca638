#include "core/experiment/inspect.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/cost/graph_cost.h"
#include "core/experiment/plan_graphs.h"
#include "core/formats/file_text.h"
#include "core/graph/cell_flow.h"
#include "core/graph/dot.h"
#include "core/graph/hoist.h"
#include "core/graph/input_specs.h"
#include "core/graph/operator.h"
#include "core/graph/patch_grid.h"
#include "core/graph/roles.h"
#include "core/graph/text.h"
#include "core/models/model.h"

namespace stormcell {
namespace {

// What costs are stated for: eight sequences of 128 cells, as far as the model takes them.
constexpr int64_t kSequencesOfCase = 8, kLengthOfCase = 128;

Bindings typical_case(const Model& model, const Graph& graph) {
  const int64_t length = model.max_length > 0 ? std::min(model.max_length, kLengthOfCase) : kLengthOfCase;
  Bindings bindings(graph.symbols.size(), 1);
  bind_cells(
      graph, kSequencesOfCase, [&](std::string_view) { return length; }, bindings);
  return bindings;
}

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

/// The graph of the size that is asked for.
std::shared_ptr<const Graph> graph_of(const Model& model, const std::string& size) {
  if (size.empty()) return model.forward;
  const std::optional<PictureSize> asked = parse_picture_size(size);
  if (!asked) bad_input("--size", in_quotes(size) + " is not HEIGHTxWIDTH in pixels", "for example 48x64");
  return model.forward_for(*asked);
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
    list.push_back({graph.space(space).name, grid.rows(), grid.columns(), grid.patch_height, grid.patch_width, grid.stride});
  });
  return list;
}

ModelStructure structure_of(const Model& model, const Graph& graph) {
  const Bindings bindings = typical_case(model, graph);
  ModelStructure s;
  s.name = model.name;
  s.family = model.family;
  s.parameters = model.parameters;
  s.weight_bytes = model.weight_bytes;
  s.flops_per_cell = cost_of(graph, {bindings, {}, {}, 1}).flops_per_cell();
  s.inputs = inputs_of(graph);
  s.picture = picture_of(model, graph);
  s.grids = grids_of(graph);
  s.routers = routers_of(graph, bindings);
  graph.for_each_node([&](NodeId id, int) { ++s.operators[std::string(graph.node(id).op->name)]; });
  s.annotations = annotation_list(graph);
  s.unsupported = model.unsupported;
  s.warnings = model.warnings;
  return s;
}

}  // namespace

InspectedModel inspect_with_graph(const std::string& name, const std::string& size, const std::vector<std::string>& annotations) {
  const auto model = open(name);
  const std::shared_ptr<const Graph> graph = annotated(graph_of(*model, size), annotations, "--annotate");
  return {structure_of(*model, *graph), to_text(*graph), to_dot(*graph)};
}

}  // namespace stormcell
