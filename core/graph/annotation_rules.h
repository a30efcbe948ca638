// The rules of annotations: the keys and words that a node, value or weight may have, what they mean, and how a graph
// gets them.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/graph/graph.h"

namespace stormcell {

/// The kind of thing that an annotation is about.
enum class Annotated : uint8_t {
  node,
  value,  ///< result of a node, or a state, in f32
  weight,
};

/// The number format in which a value lies in memory: that of its type unless `storage` says another.
DType format_in_memory(const Value& value);
/// The number format in which products hold a weight: that of its type unless `format` says another.
DType format_in_products(const Value& weight);

/// A weight of a branch stays in memory under a budget (`residency=pinned`) instead of coming and going.
bool is_pinned(const Value& weight);

/// The fault of one annotation of something of this kind: the key or the word is not known there; empty: none.
std::string annotation_problem(std::string_view key, std::string_view word, Annotated on);
/// Whether a value may be annotated, and as what; inputs, integers, decisions and ragged values may not.
bool may_be_annotated(const Value& value, Annotated& on);
/// Checks that the annotations of a graph are known, are where they may be, and fit together: outputs of the graph lie
/// as their type says, and yields of a guard's bodies lie as the guard's output does. Throws Error(bad_input).
void check_annotations(const Graph& graph);

/// Annotates the nodes, values or weights of this name, with * for any characters, by "NAME.KEY=WORD". Throws
/// Error(bad_input) that begins with `where`: not of this form, nothing of this name, an unknown key or word.
void annotate(Graph& graph, std::string_view text, const std::string& where);
/// Whether the graph has the name for something that annotate() would annotate. Throws as it does, but for that.
bool may_annotate(const Graph& graph, std::string_view text, const std::string& where);
/// An annotation's key, and the names that it is about.
struct AnnotatedNames {
  std::string key;
  Annotated what = Annotated::node;
  std::set<std::string> names;
};
/// Throws as annotate() does, but where it is none.
AnnotatedNames annotated_names(const Graph& graph, std::string_view text, const std::string& where);
/// The same for a list. Names that a later annotation repeats or contradicts belong to the later one.
std::vector<AnnotatedNames> held_names(const Graph& graph, const std::vector<std::string>& annotations,
                                       const std::string& where);
/// "27 nodes"
std::string to_text(const AnnotatedNames& said);
/// Whether the second annotation says another word than the first of something that both name.
bool is_overruled(const Graph& graph, std::string_view first, std::string_view second);
/// Each annotation as annotate() reads it, in running order.
std::vector<std::string> annotation_list(const Graph& graph);

}  // namespace stormcell
