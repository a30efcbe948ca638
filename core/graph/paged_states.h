// The states of a graph that belong to sequences and lie in pages, and the rows that an execution may add to them.
#pragma once
#include <functional>
#include <span>
#include <vector>

#include "core/graph/graph.h"

namespace stormcell {

/// A state lies in pages under three conditions. Its rows are the cells of sequences (of a root space). All changes put
/// rows at the places which one state of the sequences holds. All readers attend to the keys up to those places. Any
/// other operator reads rows as they lie behind each other, and a state that it reads stays in one piece.
struct PagedStates {
  std::vector<ValueId> states;  ///< in the order of their numbers
  ValueId places = kNone;       ///< i32 over the sequences: how many rows each of them has
};
PagedStates paged_states(const Graph& graph);

/// The most rows that one execution adds to a state, for each sequence: those of all its puts, in as many turns as they
/// may have. Cells that a given mask leaves out are not put; `mask` gives its values by the input's number.
std::vector<int64_t> rows_added(const Graph& graph, const PagedStates& paged, const Bindings& bindings,
                                const std::function<std::span<const int32_t>(ValueId)>& mask);

}  // namespace stormcell
