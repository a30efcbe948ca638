#include "core/runtime/segment_text.h"

#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/graph/operator.h"

namespace stormcell {
namespace {

const std::string& name_of(const Program& program, NodeId node) { return program.graph->node(node).name; }

std::string region_name(const Segment& s, const Program& program) {
  switch (s.kind) {
    case SegmentKind::branch: {
      const Step& opens = program.steps[s.begin - 1];
      return std::to_string(opens.branch) + " of " + program.graph->value(program.operands[opens.inputs[0]].value).name;
    }
    case SegmentKind::taken:
      return program.guards[program.steps[s.begin - 1].guard].name;
    case SegmentKind::fallback:
      // Rows that its guard's body wrote may be put back first.
      for (int32_t at = s.begin; at < s.end; ++at)
        if (program.steps[at].kind == StepKind::need_weights) return program.guards[program.steps[at].guard].name;
      return {};
    case SegmentKind::repeat:
      return name_of(program, program.repeats[program.steps[s.end - 1].repeat].node);
    case SegmentKind::leaf:
    case SegmentKind::sequence:
      return {};
  }
  return {};
}

void count_contents(const Segment& leaf, const Program& program, SegmentWords& words) {
  for (int32_t s = leaf.begin; s < leaf.end; ++s) {
    const Step& step = program.steps[s];
    const auto holds = [&](int32_t target) { return target >= leaf.begin && target <= leaf.end; };
    words.kernels += step.kind == StepKind::kernel;
    words.branches += step.kind == StepKind::skip_empty && holds(step.target);
    // A guard's fallback lies behind its jump over it.
    words.guards += step.kind == StepKind::guard && holds(program.steps[step.target - 1].target);
    words.repeats += step.kind == StepKind::repeat_end && holds(step.target);
  }
}

void add_lines(const Segment& s, const Program& program, int depth, std::string& text) {
  const SegmentWords words = words_of(s, program);
  text += std::string(2 * depth, ' ') + words.kind;
  if (s.kind == SegmentKind::leaf) text += " " + std::to_string(s.leaf);
  if (!words.of.empty()) text += " " + words.of;
  text += s.end - s.begin == 1 ? ": step " + std::to_string(s.begin)
                               : ": steps " + std::to_string(s.begin) + " to " + std::to_string(s.end - 1);
  if (words.branches + words.guards + words.repeats > 0) text += ", resident";
  if (const std::string contents = words.contents(); !contents.empty()) text += ", " + contents;
  if (!words.ends.empty()) text += "; may end for " + words.ends + (words.at.empty() ? "" : " (" + words.at + ")");
  text += "\n";
  for (const Segment& child : s.children) add_lines(child, program, depth + 1, text);
}

}  // namespace

std::string SegmentWords::contents() const {
  std::string text;
  const auto add = [&](int64_t count, std::string_view one) {
    if (count > 0) text += (text.empty() ? "" : ", ") + counted(count, one);
  };
  add(kernels, "kernel");
  add(branches, "branch");
  add(guards, "guard");
  add(repeats, "repeat");
  return text;
}

SegmentWords words_of(const Segment& s, const Program& program) {
  static constexpr const char* kKinds[] = {"leaf", "program", "branch", "taken", "fallback", "repeat"};
  static constexpr const char* kEnds[] = {"",
                                          "weights of the fallback behind it",
                                          "parts of the branches that were chosen",
                                          "parts of the branches that are left",
                                          "an exchange between ranks",
                                          "a turn"};
  SegmentWords words;
  words.kind = row_of(kKinds, s.kind);
  words.ends = row_of(kEnds, s.ends);
  words.of = region_name(s, program);
  if (s.kind == SegmentKind::leaf) count_contents(s, program, words);
  if (s.ends == SegmentEnd::fallback) {
    words.at = program.guards[program.steps[s.end].guard].name;
  } else if (s.ends != SegmentEnd::none) {
    words.at = name_of(program, program.steps[s.end - 1].node);
  }
  return words;
}

std::string to_text(const SegmentTree& tree, const Program& program) {
  std::string text;
  add_lines(tree.root, program, 0, text);
  return text;
}

std::string to_text(const Program& program, const SegmentTree* segments) {
  std::string text;
  const auto names = [&](const std::vector<OperandId>& list) {
    std::string out;
    for (const OperandId o : list)
      out += (out.empty() ? "" : ", ") + program.graph->value(program.operands[o].value).name;
    return out;
  };
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const Step& s = program.steps[i];
    if (const int32_t leaf = segments ? segments->leaf_at(static_cast<int32_t>(i)) : -1; leaf >= 0)
      text += segments->name(program, leaf) + "\n";
    text += std::to_string(i) + " " + std::string(to_text(s.kind));
    if (s.kind == StepKind::kernel || s.kind == StepKind::send)
      text += " " + std::string(program.graph->node(s.node).op->name);
    text += "(" + names(s.inputs) + ")";
    if (!s.outputs.empty()) text += " -> " + names(s.outputs);
    if (s.branch >= 0) text += " branch " + std::to_string(s.branch);
    if (s.target >= 0) text += " else " + std::to_string(s.target);
    text += "\n";
  }
  return text;
}

}  // namespace stormcell
