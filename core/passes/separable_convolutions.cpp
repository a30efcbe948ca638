#include "core/passes/separable_convolutions.h"

#include <set>

#include "core/graph/rewrite.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// Longer products take weights from beyond L2, and their own kernel fetches them ahead (kLongField of
/// core/cpu/ops/conv2d_choice.h).
constexpr int64_t kMostDepth = 2048;

class SeparableFolding {
 public:
  SeparableFolding(Graph graph, AskedKernels& kernels)
      : rewriter_(std::move(graph)), uses_(count_uses(rewriter_.graph())), kernels_(kernels) {}

  size_t count = 0;

  void run() {
    for (const BlockPlace place : blocks_of(graph(), Fallbacks::included)) fold(place);
  }
  Graph finish() { return rewriter_.finish(); }

 private:
  const Graph& graph() const { return rewriter_.graph(); }

  void fold(BlockPlace place) {
    std::vector<NodeId>& nodes = block_at(rewriter_.graph(), place).nodes;
    const std::set<NodeId> here(nodes.begin(), nodes.end());
    std::set<NodeId> gone;
    for (const NodeId pointwise : nodes)
      if (const NodeId depthwise = depthwise_of(pointwise);
          depthwise != kNone && here.contains(depthwise) && kernels_.has(graph().node(pointwise).op->separable_as)) {
        join(depthwise, pointwise);
        gone.insert(depthwise);
      }
    std::erase_if(nodes, [&](NodeId id) { return gone.contains(id); });
    count += gone.size();
  }

  bool is_plain(ValueId value) const { return graph().value(value).annotations.empty(); }
  /// A convolution whose weights are stored in f32 and nothing is said of.
  bool is_convolution(const Node& node) const {
    if (node.op->separable_as.empty() || !node.annotations.empty()) return false;
    const Value& weight = graph().value(node.inputs[1]);
    return weight.kind == ValueKind::weight && weight.annotations.empty() && weight.type.dtype == DType::f32;
  }

  /// The depthwise convolution whose map only this pointwise one reads; kNone: there is none.
  NodeId depthwise_of(NodeId id) const {
    const Node& pointwise = graph().node(id);
    if (!is_convolution(pointwise)) return kNone;
    const std::vector<Dim>& kernel = graph().value(pointwise.inputs[1]).type.content;
    const int64_t channels = kernel[3].constant();
    const bool is_pointwise = kernel[1] == Dim(1) && kernel[2] == Dim(1) && integer_of(pointwise, "stride") == 1 &&
                              integer_of(pointwise, "padding") == 0 && integer_of(pointwise, "groups") == 1 &&
                              channels <= kMostDepth;
    const ValueId between = pointwise.inputs[0];
    const NodeId maker = graph().value(between).producer;
    if (!is_pointwise || maker == kNone || uses_[between] != 1 || !is_plain(between)) return kNone;
    const Node& depthwise = graph().node(maker);
    if (!is_convolution(depthwise) || extra_count(depthwise) > 0 || word_of(depthwise, "activation") != "none")
      return kNone;
    const bool is_depthwise = channels > 1 && integer_of(depthwise, "groups") == channels &&
                              graph().value(depthwise.inputs[1]).type.content[0] == Dim(channels);
    return is_depthwise && graph().value(depthwise.inputs[0]).kind != ValueKind::state ? maker : kNone;
  }

  void join(NodeId depthwise, NodeId pointwise) {
    const Node first = graph().node(depthwise);
    Node& node = rewriter_.graph().node(pointwise);
    node.op = find_operator(node.op->separable_as);
    node.inputs[0] = first.inputs[0];
    node.inputs.insert(node.inputs.begin() + 1, first.inputs[1]);
    Attributes attributes;
    for (const char* of_first : {"stride", "padding"}) attributes.set(of_first, integer_of(first, of_first));
    attributes.set("activation", word_of(node, "activation"));
    if (flag_of(node, "residual_first")) attributes.set("residual_first", int64_t{1});
    if (extra_count(node) > 0) attributes.set("extras", node.attributes.word("extras"));
    node.attributes = std::move(attributes);
  }

  Rewriter rewriter_;
  IdVector<ValueId, int32_t> uses_;
  AskedKernels& kernels_;
};

}  // namespace

size_t fold_separable_convolutions(Graph& graph, AskedKernels& kernels) {
  SeparableFolding folding(graph, kernels);
  folding.run();
  if (folding.count > 0) graph = folding.finish();
  return folding.count;
}

}  // namespace stormcell
