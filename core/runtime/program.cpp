#include "core/runtime/program.h"
#include "core/graph/operator.h"
#include "core/runtime/segments.h"

namespace stormcell {

std::string_view to_text(StepKind kind) {
  static constexpr std::string_view names[] = {"kernel", "send",         "copy", "save_rows",    "restore_rows", "skip_empty",
                                               "guard",  "need_weights", "jump", "repeat_begin", "repeat_end",   "record"};
  return names[static_cast<size_t>(kind)];
}

std::string Program::to_text(const SegmentTree* segments) const {
  std::string text;
  const auto names = [&](const std::vector<OperandId>& list) {
    std::string out;
    for (const OperandId o : list) {
      const Operand& x = operands[o];
      out += (out.empty() ? "" : ", ") + graph->value(x.value).name;
    }
    return out;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    if (const int32_t leaf = segments ? segments->leaf_at(static_cast<int32_t>(i)) : -1; leaf >= 0)
      text += segments->name(*this, leaf) + "\n";
    text += std::to_string(i) + " " + std::string(stormcell::to_text(s.kind));
    if (s.kind == StepKind::kernel || s.kind == StepKind::send) text += " " + std::string(graph->node(s.node).op->name);
    text += "(" + names(s.inputs) + ")";
    if (!s.outputs.empty()) text += " -> " + names(s.outputs);
    if (s.branch >= 0) text += " branch " + std::to_string(s.branch);
    if (s.target >= 0) text += " else " + std::to_string(s.target);
    text += "\n";
  }
  return text;
}

}  // namespace stormcell
