// Rules for an operator's attributes: their names, what each holds, which may be left out. A node with another
// attribute, without one that it needs, or with one of another kind is refused before the operator's shape rule reads
// anything.
#pragma once
#include <span>
#include <string_view>
#include <variant>

#include "core/graph/graph.h"

namespace stormcell {

enum class AttributeKind : uint8_t {
  integer,
  flag,      ///< 0 or 1
  real,      ///< an integer will do
  word,      ///< one of `words`, or any
  extent,    ///< a symbolic extent as a word: "P+T"
  integers,  ///< a list
  space,     ///< the number of a space of the graph
  spaces,    ///< a list of such numbers
};

/// Whether a node must have an attribute, and what holds where it has not: kernels, oracle and passes read that from
/// here.
struct Presence {
  static const Presence required, optional;  ///< optional: its operator looks whether it is there
  bool must = false;
  std::variant<std::monostate, int64_t, double, std::string_view> otherwise = {};
};
inline constexpr Presence Presence::required{true}, Presence::optional{false};
constexpr Presence defaults_to(int value) { return {false, int64_t{value}}; }
constexpr Presence defaults_to(double value) { return {false, value}; }
constexpr Presence defaults_to(std::string_view value) { return {false, value}; }

struct AttributeRule {
  std::string_view name;
  AttributeKind kind = AttributeKind::integer;
  Presence presence = Presence::required;
  std::string_view words = {};  ///< words that it may be, with blanks between; empty: any
};

/// The rule of an attribute; nullptr where the operator knows none of that name. Every operator with extras knows
/// `extras`.
const AttributeRule* attribute_rule(const Operator& op, std::string_view attribute);
/// True of an attribute that holds numbers of spaces, which a rewrite numbers anew and the text form writes @NAME.
bool holds_spaces(const Operator& op, std::string_view attribute);
/// The node has what its operator declares and nothing else; throws Error(bad_input) with operator, node, attribute and
/// what is known.
void expect_attributes(const Graph& graph, const Node& node);

/// Checks, for a shape rule, that the node has this attribute, which its operator needs only in some cases.
void expect_attribute(const Node& node, std::string_view attribute);

/// A node's attribute, or what its operator declares where the node has none. Throws where the operator declares
/// nothing either.
int64_t integer_of(const Node& node, std::string_view attribute);
bool flag_of(const Node& node, std::string_view attribute);
double real_of(const Node& node, std::string_view attribute);
std::string word_of(const Node& node, std::string_view attribute);

/// "a", "a or b", "a, b or c" of words with blanks between; `last` comes before the last one.
std::string listed(std::string_view words, std::string_view last = "or");

/// The words for activations, and the same with "none".
inline constexpr std::string_view kActivationWords = "relu gelu gelu_tanh silu tanh sigmoid";
inline constexpr std::string_view kActivationWordsOrNone = "none relu gelu gelu_tanh silu tanh sigmoid";

}  // namespace stormcell
