// The graph that the routers of a run form.
#pragma once
#include <string>
#include <vector>

#include "core/profile/record.h"

namespace stormcell {

/// Describes the fault in a layout's edges; empty: none. An edge joins an earlier router of a cell space with a later
/// one, each pair once; its branches are those of `from`, ascending, each once.
std::string edge_fault(const RunLayout& layout);

/// Indexes into layout.edges, ascending, of the edges that leave a router and of those that enter it.
std::vector<int32_t> edges_from(const RunLayout& layout, int32_t router);
std::vector<int32_t> edges_to(const RunLayout& layout, int32_t router);
/// -1: the layout has no such edge.
int32_t find_edge(const RunLayout& layout, int32_t from, int32_t to);

/// One flag for each branch of `from`: 1 if its cells take the edge. Empty: those of all branches take it.
std::vector<uint8_t> branch_flags(const RunLayout& layout, const LayoutEdge& edge);

/// Edges for a trace, which records no graph: the routers of one stack and cell space follow each other.
std::vector<LayoutEdge> chain_edges(const RunLayout& layout);

}  // namespace stormcell
