// Answers about nodes for code outside the operators: an operator declares its role, and these follow from it. Nobody
// asks for an operator's name.
#pragma once
#include <optional>

#include "core/graph/operator.h"

namespace stormcell {

inline bool has_role(const Node& node, Role role) { return node.op->role == role; }
inline bool is_route(const Node& node) { return has_role(node, Role::route); }
/// Bodies that its nodes hold: a guard's two, a repeat's one.
size_t body_count(const Operator& op);
/// More than its outputs: a state changes, another rank gets rows, a region begins.
bool has_effect(const Operator& op);

/// The decision by which a node sends rows, or members of routed cells, to branches, or on all slots of which it works;
/// kNone: none.
ValueId sends_by(const Graph& graph, const Node& node);
/// Whether the node takes rows of the decision's own cells into its branches.
bool opens(const Graph& graph, const Node& node, ValueId decision);
/// Inputs from 2 on, before the extras, that serve one branch each, for a node that works on all slots. The first
/// weights of all branches come first, in the order of `branches`, then the second, and so on.
size_t owned_inputs(const Node& node);
/// The branch that input `index` serves alone, for a node that works on all slots.
std::optional<int32_t> branch_of_input(const Node& node, size_t index);
/// The branches in the list of a node that sends by a decision, in that order; kAllBranches: all slots.
std::vector<int32_t> branches_sent(const Graph& graph, const Node& node);
/// The space whose cells a node works on: that of its outputs, or, where it sends rows to several spaces, that from
/// which they come; kNone: it has no outputs, or they have no cells.
SpaceId place_of(const Graph& graph, const Node& node);
/// Inputs before the extras.
size_t plain_inputs(const Node& node);
/// The number of values that a node which closes branches joins: its first inputs. The others before the extras are
/// their factors.
size_t joined_inputs(const Node& node);
/// The joined values that have factors, ascending: their factors are in this order.
const std::vector<int64_t>& factored_inputs(const Node& node);
/// The input whose numbers multiply the rows of joined value `index`; nothing: none does.
std::optional<size_t> factor_input(const Node& node, size_t index);
/// The state that a node changes; kNone: none.
ValueId changed_state(const Graph& graph, const Node& node);
/// Whether the operator knows the word as an attribute or as an extra.
bool knows(const Operator& op, std::string_view word);
/// Whether its input is never rounded to its weights' format.
bool is_precise(const Node& node);
/// A node of `op` may do the work of a neighbour that folds as `word`.
bool absorbs(const Operator& op, std::string_view word);

}  // namespace stormcell
