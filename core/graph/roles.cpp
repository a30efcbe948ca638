#include "core/graph/roles.h"

#include <algorithm>

namespace stormcell {
namespace {

constexpr size_t kSentBy = 1;      // input of an `open` or `grouped` node: what tells where rows go
constexpr size_t kFirstOwned = 2;  // first input of a `grouped` node that serves one branch alone

bool holds_word(std::string_view words, std::string_view word) {
  return (" " + std::string(words) + " ").find(" " + std::string(word) + " ") != std::string::npos;
}

}  // namespace

size_t body_count(const Operator& op) { return op.role == Role::guard ? 2 : op.role == Role::repeat ? 1 : 0; }

bool has_effect(const Operator& op) {
  return op.role == Role::state || op.role == Role::exchange || body_count(op) > 0;
}

ValueId sends_by(const Graph& graph, const Node& node) {
  if (!has_role(node, Role::open) && !has_role(node, Role::grouped)) return kNone;
  const ValueId sent_by = node.inputs[kSentBy];
  if (graph.value(sent_by).kind == ValueKind::decision) return sent_by;
  // Members go where their parents are sent.
  const SpaceId to = node.outputs.empty() ? kNone : graph.value(node.outputs[0]).type.space;
  return to != kNone && graph.holds_members(to) ? graph.space(graph.space(to).parent).decision : kNone;
}

bool opens(const Graph& graph, const Node& node, ValueId decision) {
  if (sends_by(graph, node) != decision) return false;
  return has_role(node, Role::open) || graph.value(node.inputs[0]).type.space == graph.value(decision).type.space;
}

size_t owned_inputs(const Node& node) { return has_role(node, Role::grouped) ? plain_inputs(node) - kFirstOwned : 0; }

std::optional<int32_t> branch_of_input(const Node& node, size_t index) {
  if (index < kFirstOwned || index - kFirstOwned >= owned_inputs(node)) return {};
  const std::vector<int64_t>& branches = node.attributes.list("branches");
  return static_cast<int32_t>(branches[(index - kFirstOwned) % branches.size()]);
}

std::vector<int32_t> branches_sent(const Graph& graph, const Node& node) {
  std::vector<int32_t> branches;
  if (sends_by(graph, node) == kNone) return branches;
  if (has_role(node, Role::grouped)) {
    for (const int64_t b : node.attributes.list("branches")) branches.push_back(static_cast<int32_t>(b));
  } else {
    for (const int64_t s : node.attributes.list("spaces")) {
      const SpaceId to(s);
      branches.push_back(graph.space(graph.holds_members(to) ? graph.space(to).parent : to).branch);
    }
  }
  return branches;
}

SpaceId place_of(const Graph& graph, const Node& node) {
  if (node.outputs.empty()) return kNone;
  return graph.value(has_role(node, Role::open) ? node.inputs[0] : node.outputs[0]).type.space;
}

size_t plain_inputs(const Node& node) { return node.inputs.size() - extra_count(node); }

size_t joined_inputs(const Node& node) { return plain_inputs(node) - factored_inputs(node).size(); }

const std::vector<int64_t>& factored_inputs(const Node& node) {
  static const std::vector<int64_t> none;
  return node.attributes.has("factors") ? node.attributes.list("factors") : none;
}

std::optional<size_t> factor_input(const Node& node, size_t index) {
  const std::vector<int64_t>& of = factored_inputs(node);
  const auto at = std::find(of.begin(), of.end(), static_cast<int64_t>(index));
  if (at == of.end()) return {};
  return joined_inputs(node) + static_cast<size_t>(at - of.begin());
}

ValueId changed_state(const Graph& graph, const Node& node) {
  if (!has_role(node, Role::state)) return kNone;
  return graph.value(node.inputs[0]).kind == ValueKind::state ? node.inputs[0] : kNone;
}

bool knows(const Operator& op, std::string_view word) {
  return attribute_rule(op, word) || holds_word(op.extras, word);
}
bool is_precise(const Node& node) { return knows(*node.op, "precise") && flag_of(node, "precise"); }
bool absorbs(const Operator& op, std::string_view word) { return !word.empty() && holds_word(op.absorbs, word); }

}  // namespace stormcell
