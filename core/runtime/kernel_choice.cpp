#include "core/runtime/kernel_choice.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/graph/annotation_rules.h"

namespace stormcell {
namespace {

/// An annotation says in which format an operand of the step lies.
bool has_annotated_operands(const KernelBuildContext& context) {
  const Node& node = context.node();
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!context.value(i).annotations.empty()) return true;
  return std::any_of(node.outputs.begin(), node.outputs.end(),
                     [&](ValueId v) { return !context.graph().value(v).annotations.empty(); });
}

}  // namespace

std::string not_known(const KernelBuildContext& context, const KernelKnows& knows) {
  const Node& node = context.node();
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const Value& v = context.value(i);
    if (v.kind == ValueKind::weight) {
      const bool is_matrix = v.type.content.size() > 1;
      if (!(knows.formats && is_matrix) && format_in_products(v) != v.type.dtype)
        return "holds weight %" + v.name + " in " + std::string(to_text(format_in_products(v)));
    } else if (format_in_memory(v) != v.type.dtype && !(knows.bf16_in && i == 0)) {
      return "reads %" + v.name + " in bf16";
    }
  }
  for (const ValueId v : node.outputs)
    if (const Value& made = context.graph().value(v); !knows.bf16_out && format_in_memory(made) != made.type.dtype)
      return "writes %" + made.name + " in bf16";
  return {};
}

void refuse_kernel(const KernelBuildContext& context, std::span<const KernelOffer> offers, std::string_view device) {
  const std::string where = node_text(context.node());
  if (offers.empty()) failed(where, "no " + std::string(device) + " kernel");
  const std::string* asked = context.asked_kernel();
  std::string of_operator, would_do, unknown;
  bool is_there = false, none_knows = true;
  for (const KernelOffer& offer : offers) {
    add_to_list(of_operator, offer.name, " ");
    is_there = is_there || (asked && offer.name == *asked);
    if (unknown.empty()) unknown = offer.lacks;
    none_knows = none_knows && !offer.lacks.empty();
    if (offer.supports) add_to_list(would_do, offer.name, " ");
  }
  if (asked && !is_there)
    bad_input(where, "expected kernel " + listed(of_operator) + ", got \"" + *asked + "\"",
              "inspect MODEL lists the kernels of each operator");
  if (asked)
    bad_input(where, "kernel " + *asked + " does not support this case",
              would_do.empty() ? "no other does" : listed(would_do) + " does");
  if (none_knows) bad_input(where, "no kernel " + unknown, "leave that annotation out");
  if (has_annotated_operands(context))
    bad_input(where, "no kernel supports the formats of its operands together", "leave an annotation out");
  failed(where, "no " + std::string(device) + " kernel");
}

}  // namespace stormcell
