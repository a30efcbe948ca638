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

/// What an annotation is said of.
enum class Annotated : uint8_t {
  node,
  value,  ///< what a node makes, or a state, in f32
  weight,
};

/// The number format in which a value lies in memory: that of its type unless `storage` says another.
DType format_in_memory(const Value& value);
/// The number format in which products hold a weight: that of its type unless `format` says another.
DType format_in_products(const Value& weight);

/// A weight of a branch stays in memory under a budget (`residency=pinned`) instead of coming and going.
bool is_pinned(const Value& weight);

/// What is wrong with one annotation of something of this kind: the key or the word is not known there; empty: nothing.
std::string annotation_problem(std::string_view key, std::string_view word, Annotated on);
/// What may be said of a value; nothing of inputs, integers, decisions and ragged values.
bool may_be_annotated(const Value& value, Annotated& on);
/// The annotations of a graph are known ones where they may stand, and fit together: what the graph gives lies as its
/// type says, and what the bodies of a guard yield lies as the guard's output does. Throws Error(bad_input).
void check_annotations(const Graph& graph);

/// Says "NAME.KEY=WORD" of the nodes, values or weights of this name, in which * stands for any characters. Throws
/// Error(bad_input) that begins with `where`: not of this form, nothing of this name, an unknown key or word.
void annotate(Graph& graph, std::string_view text, const std::string& where);
/// Whether there is something of the name that annotate() would say this of. Throws as it does, but for that.
bool may_annotate(const Graph& graph, std::string_view text, const std::string& where);
/// What an annotation is said of.
struct AnnotatedNames {
  std::string key;
  Annotated what = Annotated::node;
  std::set<std::string> names;
};
/// Throws as annotate() does, but where it is none.
AnnotatedNames annotated_names(const Graph& graph, std::string_view text, const std::string& where);
/// The same of a list, without what a later one says something else of, or the same again.
std::vector<AnnotatedNames> held_names(const Graph& graph, const std::vector<std::string>& annotations,
                                       const std::string& where);
/// "27 nodes"
std::string to_text(const AnnotatedNames& said);
/// Whether the second annotation says another word than the first of something that both name.
bool is_overruled(const Graph& graph, std::string_view first, std::string_view second);
/// Each annotation as annotate() reads it, in running order.
std::vector<std::string> annotation_list(const Graph& graph);

}  // namespace stormcell
