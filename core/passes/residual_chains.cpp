#include "core/passes/residual_chains.h"

#include <map>
#include <set>

#include "core/graph/rewrite.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// From here on a convolution's own panels are full, and a chain of single steps loses nothing.
constexpr int64_t kMostChannels = 32;
/// Of two maps of one cell: half of an L2 of 2 MiB.
constexpr int64_t kMostBytes = 1 << 20;

class ChainFolding {
 public:
  explicit ChainFolding(Graph graph) : rewriter_(std::move(graph)), uses_(count_uses(rewriter_.graph())) {}

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
      if (first == kNone) continue;
      const ValueId x = graph().node(first).inputs[0];
      const NodeId before = graph().value(x).producer;
      join(first, second);
      nodes[place_of_.at(first)] = kNone;
      ++counts.blocks;
      // The block that made x, and nobody else reads it: both of its uses are of this block.
      if (chains_.contains(before) && uses_[x] == 2 && is_plain(x)) {
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

  /// Nothing is said of the value, neither how it lies nor anything else that the nodes around it would have to keep to.
  bool is_plain(ValueId value) const { return graph().value(value).annotations.empty(); }

  /// The convolution of so many channels to as many that keeps the extents, with these extras and this activation and nothing else.
  bool is_part(const Node& node, std::string_view extras, std::string_view activation) const {
    if (node.op->chains_as.empty() || !node.annotations.empty() || node.attributes.word("extras", "") != extras) return false;
    const TensorType &x = graph().value(node.inputs[0]).type, &w = graph().value(node.inputs[1]).type;
    const int64_t size = w.content[1].constant(), channels = x.content[2].constant();
    const int64_t bytes = 2 * 4 * x.content[0].constant() * x.content[1].constant() * channels;
    for (size_t i = 1; i < 3; ++i)
      if (graph().value(node.inputs[i]).kind != ValueKind::weight || !is_plain(node.inputs[i])) return false;
    return w.content[0] == x.content[2] && w.content[3] == x.content[2] && w.content[2] == w.content[1] && size % 2 == 1 &&
           integer_of(node, "padding") == size / 2 && integer_of(node, "stride") == 1 && integer_of(node, "groups") == 1 &&
           word_of(node, "activation") == activation && channels <= kMostChannels && bytes <= kMostBytes && w.dtype == DType::f32;
  }

  /// The first convolution of the block whose second one this is; kNone: it is not.
  NodeId first_of(NodeId id) const {
    const Node& second = graph().node(id);
    if (!is_part(second, "bias+residual", "none") || !is_plain(second.outputs[0])) return kNone;
    const ValueId between = second.inputs[0];
    const NodeId maker = graph().value(between).producer;
    if (maker == kNone || !place_of_.contains(maker) || chains_.contains(maker) || uses_[between] != 1 || !is_plain(between)) return kNone;
    const Node& first = graph().node(maker);
    const bool fits = is_part(first, "bias", "relu") && first.inputs[0] == second.inputs[3] && first.op == second.op &&
                      graph().value(first.inputs[1]).type == graph().value(second.inputs[1]).type;
    return fits && graph().value(first.inputs[0]).kind != ValueKind::state ? maker : kNone;
  }

  void join(NodeId first, NodeId second) {
    const Node maker = graph().node(first);
    Node& node = rewriter_.graph().node(second);
    node.op = find_operator(node.op->chains_as);
    node.inputs = {maker.inputs[0], maker.inputs[1], maker.inputs[2], node.inputs[1], node.inputs[2]};
    node.attributes = {};
  }
  /// The blocks of `before`, then those of `chain`.
  void prepend(NodeId before, NodeId chain) {
    std::vector<ValueId> inputs = graph().node(before).inputs;
    Node& node = rewriter_.graph().node(chain);
    inputs.insert(inputs.end(), node.inputs.begin() + 1, node.inputs.end());
    node.inputs = std::move(inputs);
  }

  Rewriter rewriter_;
  IdVector<ValueId, int32_t> uses_;
  std::map<NodeId, size_t> place_of_;  // in the block at hand
  std::set<NodeId> chains_;            // made in the block at hand
};

}  // namespace

ResidualChains fold_residual_chains(Graph& graph) {
  ChainFolding folding(graph);
  folding.run();
  if (folding.counts.blocks > 0) graph = folding.finish();
  return folding.counts;
}

}  // namespace stormcell
