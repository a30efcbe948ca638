#include "core/passes/grouped_form.h"

#include <optional>
#include <string_view>

#include "core/graph/roles.h"

namespace stormcell {
namespace {

/// The extra of a node that its grouped form has for each branch, and the flag that says so there.
constexpr std::string_view kOwnExtra = "bias", kOwnExtras = "biases";

const Operator& grouped_form(const Node& node) { return *find_operator(node.op->grouped_as); }
bool is_owned(const Operator& grouped, std::string_view extra) {
  return extra == kOwnExtra && knows(grouped, kOwnExtras);
}
/// The input that holds a node's own bias, where it has one.
std::optional<size_t> own_bias(const Node& node) {
  if (!has_grouped_form(node) || !is_owned(grouped_form(node), kOwnExtra)) return {};
  return extra_input(node, kOwnExtra);
}

}  // namespace

std::vector<size_t> own_weights(const Node& node) {
  std::vector<size_t> own;
  if (!has_grouped_form(node)) return own;
  for (size_t i = 1; i < plain_inputs(node); ++i) own.push_back(i);
  if (const auto bias = own_bias(node)) own.push_back(*bias);
  return own;
}

std::string not_grouped(const Node& node) {
  const Operator& grouped = grouped_form(node);
  for (const auto& [name, value] : node.attributes)
    if (!knows(grouped, name) && value != Attribute(int64_t{0})) return name;
  for (size_t i = 0; i < extra_count(node); ++i)
    if (const std::string extra = extra_name(node, i); !knows(grouped, extra) && !is_owned(grouped, extra))
      return extra;
  return {};
}

Attributes grouped_attributes(const Node& node) {
  Node carries = node;
  if (own_bias(node)) {
    remove_extra(carries, kOwnExtra);
    carries.attributes.set(kOwnExtras, int64_t{1});
  }
  for (const auto& [name, value] : node.attributes)
    if (!knows(grouped_form(node), name)) carries.attributes.erase(name);  // 0, as not_grouped() found
  return carries.attributes;
}

}  // namespace stormcell
