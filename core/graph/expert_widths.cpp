#include "core/graph/expert_widths.h"

#include <map>
#include <utility>
#include <vector>

namespace stormcell {
namespace {

/// A node that takes one width to another by one matrix.
struct Product {
  int64_t inputs = 0, outputs = 0;
};

std::optional<int64_t> width_of(const Value& value) {
  if (value.type.content.size() != 1 || !value.type.content[0].is_constant()) return {};
  return value.type.content[0].constant();
}

std::optional<Product> product_of(const Graph& g, const Node& node) {
  if (node.outputs.size() != 1 || node.inputs.empty()) return {};
  const std::optional<int64_t> inputs = width_of(g.value(node.inputs[0])), outputs = width_of(g.value(node.outputs[0]));
  if (!inputs || !outputs) return {};
  for (const ValueId id : node.inputs) {
    const Value& weight = g.value(id);
    if (weight.kind != ValueKind::weight || weight.type.content.size() != 2) continue;
    const Dim &a = weight.type.content[0], &b = weight.type.content[1];
    if (a * b == Dim(*inputs) * Dim(*outputs)) return Product{*inputs, *outputs};
  }
  return {};
}

/// The widths of products in running order: all but the last take the cell's width, the last one brings it back.
std::optional<ExpertWidths> widths_of(const std::vector<Product>& products) {
  if (products.size() < 2 || products.size() > 3) return {};
  const Product& last = products.back();
  ExpertWidths widths{products[0].inputs, last.inputs, 1};
  int64_t gated = 0;  // widths of all but the last, side by side
  for (size_t i = 0; i + 1 < products.size(); ++i) {
    if (products[i].inputs != widths.hidden) return {};
    gated += products[i].outputs;
  }
  if (last.outputs != widths.hidden || (gated != widths.ffn && gated != 2 * widths.ffn)) return {};
  widths.matrices += gated / widths.ffn;
  return widths;
}

}  // namespace

std::optional<ExpertWidths> expert_widths(const Graph& graph) {
  std::map<std::pair<ValueId, int32_t>, std::vector<Product>> experts;
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    const SpaceId space = node.outputs.empty() ? kNone : graph.value(node.outputs[0]).type.space;
    if (space == kNone || graph.space(space).kind != SpaceKind::routed || graph.space(space).branch < 0) return;
    if (const std::optional<Product> product = product_of(graph, node))
      experts[{graph.space(space).decision, graph.space(space).branch}].push_back(*product);
  });
  std::optional<ExpertWidths> all;
  for (const auto& [expert, products] : experts) {
    const std::optional<ExpertWidths> one = widths_of(products);
    if (!one || (all && *all != *one)) return {};
    all = one;
  }
  return all;
}

}  // namespace stormcell
