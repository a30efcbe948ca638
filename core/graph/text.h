// The text form of a graph: for people, for tests, and read back. One line a symbol list, space, input, weight, state, node or output;
// bodies of regions are indented. The form is canonical: to_text(parse_graph(t)) == t for every t that to_text wrote.
//
//   stormcell.graph/1
//   symbols N T
//   space sequences = root N
//   space tokens = sequences x T
//   input %ids : i32 tokens
//   weight %w : f32 [4,8]
//   state %h : f32 tokens [8]
//   %s : f32 tokens [4] = linear(%h, %w) activation="relu"
//   %d : decision tokens 4x1 = route(%s) protocol="top-k"
//   space d/0 = tokens by %d branch 0 at most N*T
//   %y : f32 tokens [8] = guard(%p) as "name" {
//     ...
//     yield %a
//   } {
//     ...
//     yield %b
//   }
//   output y = %y
//
// A decision reads BRANCHESxCHOICES. Annotations stand behind a value's type and at a node's end:
//   %s : f32 tokens [4] @storage=bf16 = linear(%h, %w) activation="relu" @kernel=linear.plain
// Spaces in attributes are written @NAME. A node is called as its first output unless it says `as`.
// Names with other than plain characters stand in quotes, with \" \\ \n \t \xHH. # begins a comment.
#pragma once
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace stormcell {

/// Spaces of decisions that are no more are left out; names that occur twice get ~2, ~3, ... behind them.
std::string to_text(const Graph& graph);

/// Reads and verifies. Errors are `where:LINE: expected ..., got ...`. Never crashes, whatever comes.
Graph parse_graph(std::string_view text, std::string_view where);

}  // namespace stormcell
