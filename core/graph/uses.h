// The uses in a graph: blocks in order, what a node reads and changes with its bodies, how often a value is used.
#pragma once
#include <functional>
#include <set>
#include <vector>

#include "core/base/id_vector.h"
#include "core/graph/graph.h"

namespace stormcell {

/// A block: of a node's body, or the graph's own. References to blocks do not outlive the next node, this does.
struct BlockPlace {
  NodeId owner = kNone;
  size_t body = 0;
  bool operator==(const BlockPlace&) const = default;
};
const Block& block_at(const Graph& graph, BlockPlace place);
Block& block_at(Graph& graph, BlockPlace place);

/// The blocks in running order, each before those that its nodes hold; without fallbacks unless they are asked for.
enum class Fallbacks : uint8_t { left_out, included };
std::vector<BlockPlace> blocks_of(const Graph& graph, Fallbacks fallbacks);

/// Values that a node reads, its bodies included, made outside of it; each once, in the order of their first use.
std::vector<ValueId> reads_of(const Graph& graph, NodeId node);
/// States that a node changes, its bodies included.
std::set<ValueId> states_written(const Graph& graph, NodeId node);
/// How often each value is used: by inputs of nodes in a block, yields of bodies, outputs of the graph.
IdVector<ValueId, int32_t> count_uses(const Graph& graph);
/// Replaces every number of a space in the node's attributes by the result of `to`.
void map_spaces(Node& node, const std::function<SpaceId(SpaceId)>& to);
/// The node's attributes hold the number of one.
bool names_spaces(const Node& node);
/// Bytes of a weight as it is stored.
int64_t stored_bytes(const Graph& graph, ValueId weight);

}  // namespace stormcell
