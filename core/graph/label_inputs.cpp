#include "core/graph/label_inputs.h"

#include "core/base/error.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// The input whose labels `labels` are, moved to a branch at most; kNone where they are computed.
ValueId source_of(const Graph& graph, ValueId labels) {
  for (;;) {
    const Value& v = graph.value(labels);
    if (v.producer == kNone) return v.kind == ValueKind::input && v.role == InputRole::label ? labels : kNone;
    const bool moved = v.type.space != kNone &&
                       (graph.space(v.type.space).kind == SpaceKind::routed || graph.holds_members(v.type.space)) &&
                       graph.origin(v.type.space) == input_type(graph, graph.node(v.producer), 0).space;
    if (!moved) return kNone;
    labels = graph.node(v.producer).inputs[0];
  }
}

}  // namespace

std::vector<LabelInput> label_inputs(const Graph& graph) {
  std::vector<LabelInput> inputs;
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (!is_route(node) || protocol_row(protocol_of(node.attributes).kind).decided_by != DecidedBy::branch_label)
      return;
    if (const ValueId input = source_of(graph, node.inputs[0]); input != kNone)
      inputs.push_back({input, graph.value(node.outputs[0]).branches, node.name});
  });
  return inputs;
}

void check_labels(const Graph& graph, const LabelInput& input, std::span<const int32_t> labels) {
  for (size_t cell = 0; cell < labels.size(); ++cell)
    if (labels[cell] < 0 || labels[cell] >= input.branches)
      bad_input("input " + graph.value(input.input).name,
                "expected labels of 0 to " + std::to_string(input.branches - 1) + ", the branches of router " +
                    input.router + ", got " + std::to_string(labels[cell]) + " for cell " + std::to_string(cell),
                "give each cell of " + graph.space(graph.value(input.input).type.space).name + " its branch");
}

}  // namespace stormcell
