#include "core/passes/residual_chains.h"

#include <map>
#include <set>

#include "core/graph/rewrite.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// With more channels a convolution's own panels are full, and a chain of single steps loses nothing.
constexpr int64_t kMostChannels = 32;
/// Bytes of two maps of one cell: half of an L2 of 2 MiB.
constexpr int64_t kMostBytes = 1 << 20;

class ChainFolding {
 public:
  ChainFolding(Graph graph, AskedKernels& kernels)
      : rewriter_(std::move(graph)), uses_(count_uses(rewriter_.graph())), kernels_(kernels) {}

  ResidualChains counts;

  void run() {
    for (const BlockPlace place : blocks_of(graph(), Fallbacks::included)) fold(place);
  }
  Graph finish() { return rewriter_.finish(); }

 private:
  const Graph& graph() const { return rewriter_.graph(); }

  void fold(BlockPlace place) {
    std::vector<NodeId> nodes = block_at(graph(), place).nodes;
    place_of_.clear();
    chains_.clear();
    for (size_t i = 0; i < nodes.size(); ++i) place_of_[nodes[i]] = i;
    for (size_t i = 0; i < nodes.size(); ++i) {
      const NodeId second = nodes[i], first = first_of(second);
      if (first == kNone || !kernels_.has(graph().node(second).op->chains_as)) continue;
      const ValueId x = graph().node(first).inputs[0];
      const NodeId before = graph().value(x).producer;
      join(first, second);
      nodes[place_of_.at(first)] = kNone;
      ++counts.blocks;
      // The block that made x, and nobody else reads it: both of its uses are of this block.
      if (chains_.contains(before) && uses_[x] == 2 && is_plain(x) &&
          serve_alike(graph().node(before), graph().node(second)) && is_like(before, second)) {
        prepend(before, second);
        nodes[place_of_.at(before)] = kNone;
        chains_.erase(before);
      } else {
        ++counts.chains;
      }
      chains_.insert(second);
    }
    std::erase(nodes, kNone);
    block_at(rewriter_.graph(), place).nodes = std::move(nodes);
  }

  /// Nothing is said of the value, neither how it lies nor anything else that the nodes around it would have to keep
  /// to.
  bool is_plain(ValueId value) const { return graph().value(value).annotations.empty(); }

  /// The weights and biases among a convolution's inputs, of one branch or of all branches of a decision. The value
  /// that is added comes behind them.
  struct Weights {
    size_t begin, end;
  };
  static Weights weights_of(const Node& node) {
    if (!has_role(node, Role::grouped)) return {1, 3};
    return {2, 2 + owned_inputs(node)};
  }
  /// It has a bias, or each branch has one, and beside these only what is added, where `adds`.
  static bool has_extras(const Node& node, bool adds) {
    const std::string extras = node.attributes.word("extras", "");
    if (has_role(node, Role::grouped)) return flag_of(node, "biases") && extras == (adds ? "residual" : "");
    return extras == (adds ? "bias+residual" : "bias");
  }

  /// The convolution of so many channels to as many that keeps the extents, with biases, this activation and nothing
  /// else. With "none" no activation of the sum either.
  bool is_part(const Node& node, bool adds, std::string_view activation) const {
    if (node.op->chains_as.empty() || !node.annotations.empty() || !has_extras(node, adds)) return false;
    const Weights weights = weights_of(node);
    const TensorType &x = graph().value(node.inputs[0]).type, &w = graph().value(node.inputs[weights.begin]).type;
    const int64_t size = w.content[1].constant(), channels = x.content[2].constant();
    const int64_t bytes = 2 * 4 * x.content[0].constant() * x.content[1].constant() * channels;
    for (size_t i = weights.begin; i < weights.end; ++i)
      if (graph().value(node.inputs[i]).kind != ValueKind::weight || !is_plain(node.inputs[i])) return false;
    return w.content[0] == x.content[2] && w.content[3] == x.content[2] && w.content[2] == w.content[1] &&
           size % 2 == 1 && integer_of(node, "padding") == size / 2 && integer_of(node, "stride") == 1 &&
           integer_of(node, "groups") == 1 && word_of(node, "activation") == activation && channels <= kMostChannels &&
           bytes <= kMostBytes && w.dtype == DType::f32;
  }

  /// The first convolution of the block whose second one this is; kNone: it is not.
  NodeId first_of(NodeId id) const {
    const Node& second = graph().node(id);
    if (!is_part(second, true, "none") || !is_plain(second.outputs[0])) return kNone;
    const ValueId between = second.inputs[0];
    const NodeId maker = graph().value(between).producer;
    if (maker == kNone || !place_of_.contains(maker) || chains_.contains(maker) || uses_[between] != 1 ||
        !is_plain(between))
      return kNone;
    const Node& first = graph().node(maker);
    const size_t weights = weights_of(second).begin;
    const bool fits = is_part(first, false, "relu") && first.inputs[0] == second.inputs[weights_of(second).end] &&
                      serve_alike(first, second) &&
                      graph().value(first.inputs[weights]).type == graph().value(second.inputs[weights]).type;
    return fits && graph().value(first.inputs[0]).kind != ValueKind::state ? maker : kNone;
  }

  /// One operator; of all branches of a decision: of the same decision, the same branches and the same cells.
  static bool serve_alike(const Node& x, const Node& y) {
    if (x.op != y.op) return false;
    if (!has_role(x, Role::grouped)) return true;
    return x.inputs[1] == y.inputs[1] && x.attributes.list("branches") == y.attributes.list("branches") &&
           x.attributes.integer("slots") == y.attributes.integer("slots");
  }

  /// Their blocks have weights of the same shape.
  bool is_like(NodeId x, NodeId y) const {
    const auto weights = [&](NodeId id) {
      const Node& node = graph().node(id);
      return graph().value(node.inputs[weights_of(node).begin]).type;
    };
    return weights(x) == weights(y);
  }

  void join(NodeId first, NodeId second) {
    const Node maker = graph().node(first);
    Node& node = rewriter_.graph().node(second);
    const Weights weights = weights_of(node);
    const auto at = [](size_t i) { return static_cast<std::ptrdiff_t>(i); };
    std::vector<ValueId> inputs(maker.inputs.begin(), maker.inputs.begin() + at(weights.end));
    inputs.insert(inputs.end(), node.inputs.begin() + at(weights.begin), node.inputs.begin() + at(weights.end));
    Attributes attributes;
    if (has_role(node, Role::grouped)) {
      attributes.set("branches", node.attributes.list("branches"));
      attributes.set("slots", node.attributes.integer("slots"));
    }
    node.op = find_operator(node.op->chains_as);
    node.inputs = std::move(inputs);
    node.attributes = std::move(attributes);
  }
  /// The blocks of `before`, then those of `chain`.
  void prepend(NodeId before, NodeId chain) {
    std::vector<ValueId> inputs = graph().node(before).inputs;
    Node& node = rewriter_.graph().node(chain);
    const std::ptrdiff_t first = weights_of(node).begin;
    inputs.insert(inputs.end(), node.inputs.begin() + first, node.inputs.end());
    node.inputs = std::move(inputs);
  }

  Rewriter rewriter_;
  IdVector<ValueId, int32_t> uses_;
  AskedKernels& kernels_;
  std::map<NodeId, size_t> place_of_;  // in the block at hand
  std::set<NodeId> chains_;            // made in the block at hand
};

}  // namespace

ResidualChains fold_residual_chains(Graph& graph, AskedKernels& kernels) {
  ChainFolding folding(graph, kernels);
  folding.run();
  if (folding.counts.blocks > 0) graph = folding.finish();
  return folding.counts;
}

}  // namespace stormcell
