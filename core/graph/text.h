// The text form of a graph: for people, for tests, and read back. One line a symbol list, space, input, weight, state,
// node or output; bodies of regions are indented. The form is canonical: to_text(parse_graph(t)) == t for every t that
// to_text wrote.
//
//   stormcell.graph/1
//   symbols N T
//   space sequences = root N
//   space tokens = sequences x T
//   input %ids : i32 tokens role ids
//   input %mask : i32 tokens role mask
//   weight %w : f32 [4,8]
//   weight %v : f32 [2,64,8] = stack(slice("a", 0, 64), "b")
//   state %h : f32 tokens [8]
//   %s : f32 tokens [4] = linear(%h, %w) activation="relu"
//   %d : decision tokens 4x1 = route(%s) protocol="top-k"
//   space d/0 = tokens by %d branch 0 at most N*T
//   space d/slots = tokens by %d slots at most N*T
//   %real : ragged tokens x1 = compact(%mask)
//   space real/tokens = tokens ragged %real at most N*T
//   %y : f32 tokens [8] = guard(%p) as "name" {
//     ...
//     yield %a
//   } {
//     ...
//     yield %b
//   }
//   output y = %y real %mask
//
// A weight without a recipe (core/weights/recipe.h) behind it is the stored tensor of its name. A decision has the type
// BRANCHESxCHOICES, and its slots are all that it chose, branch after branch. Ragged cells have the type xTIMES: how
// often one may come. The content of an output where the mask behind `real` is 0 means nothing. Annotations are behind
// a value's type and at a node's end:
//   %s : f32 tokens [4] @storage=bf16 = linear(%h, %w) activation="relu" @kernel=linear.plain
// Spaces in attributes are written @NAME. A node is called as its first output unless it says `as`.
// Names with other than plain characters are in quotes, with \" \\ \n \t \xHH. # begins a comment.
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
