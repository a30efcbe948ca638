// The graph that the routers of a run form.
#pragma once
#include <string>
#include <vector>

#include "core/profile/record.h"

namespace stormcell {

/// What is wrong with the edges of a layout, empty: nothing. Edges join routers of one cell space, the earlier with the
/// later, each two once; branches are those of `from`, ascending, each once.
std::string edge_fault(const RunLayout& layout);

/// Indexes into layout.edges, ascending: those that leave a router, and those that come to it.
std::vector<int32_t> edges_from(const RunLayout& layout, int32_t router);
std::vector<int32_t> edges_to(const RunLayout& layout, int32_t router);
/// -1: there is none.
int32_t find_edge(const RunLayout& layout, int32_t from, int32_t to);

/// One flag for each branch of `from`, 1: its cells take the edge; empty: those of all branches do.
std::vector<uint8_t> branch_flags(const RunLayout& layout, const LayoutEdge& edge);

/// Edges for a trace, which records no graph: the routers of one stack and cell space follow each other.
std::vector<LayoutEdge> chain_edges(const RunLayout& layout);

}  // namespace stormcell
