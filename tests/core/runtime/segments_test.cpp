// The tree of segments: leaves hold every step once, nothing enters one but at its begin, and only its end may ask for
// the host.
#include "core/runtime/segments.h"

#include <algorithm>

#include "core/cpu/cpu_device.h"
#include "core/runtime/lower.h"
#include "core/runtime/segment_text.h"
#include "core/runtime/weight_store.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

struct Planned {
  std::shared_ptr<const Program> program;
  ExecutableLayout layout;
  const SegmentTree& tree() const { return layout.segments; }
};
Planned plan_of(const RandomCase& c, int64_t budget) {
  cpu::CpuDevice device(1);
  WeightStore store(device, c.weights, budget);
  Planned p;
  p.program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
  p.layout = device.layout_of(p.program, store, {c.bindings});
  return p;
}

void add_leaves(const Segment& s, std::vector<const Segment*>& leaves) {
  if (s.kind == SegmentKind::leaf) leaves.push_back(&s);
  for (const Segment& child : s.children) add_leaves(child, leaves);
}

/// The repeats that a step stands in, the outermost first.
std::vector<RepeatId> repeats_around(const Program& program, int32_t step) {
  std::vector<RepeatId> around;
  for (int32_t s = 0; s < static_cast<int32_t>(program.steps.size()); ++s)
    if (const Step& begins = program.steps[s];
        begins.kind == StepKind::repeat_begin && s < step && step < begins.target)
      around.push_back(begins.repeat);
  return around;
}

/// Wrong decisions with a tree, in a sentence; empty: nothing.
std::string defect(const Planned& p) {
  std::vector<const Segment*> leaves;
  add_leaves(p.tree().root, leaves);
  const auto steps = static_cast<int32_t>(p.program->steps.size());
  std::vector<const Segment*> leaf_of(static_cast<size_t>(steps));
  int32_t at = 0;
  if (leaves.size() != p.tree().leaves.size()) return "other leaves than in the list";
  for (size_t l = 0; l < leaves.size(); ++l) {
    const Segment* leaf = leaves[l];
    const Leaf& listed = p.tree().leaves[l];
    if (leaf->leaf != static_cast<int32_t>(l) || listed.begin != leaf->begin || listed.end != leaf->end ||
        listed.ends != leaf->ends)
      return "leaf " + std::to_string(l) + " is another in the list";
    // In a leaf whole repeats may stand, but none begins or ends around one unseen.
    if (listed.repeats != repeats_around(*p.program, leaf->begin))
      return "leaf " + std::to_string(l) + " stands in other repeats";
    if (leaf->begin != at || leaf->end <= at || !leaf->children.empty())
      return "leaf " + std::to_string(leaf->begin) + " does not go on";
    for (; at < leaf->end; ++at) leaf_of[static_cast<size_t>(at)] = leaf;
  }
  if (at != steps) return "steps are left";
  const auto begins = [&](int32_t step) { return step == steps || leaf_of[static_cast<size_t>(step)]->begin == step; };
  for (int32_t s = 0; s < steps; ++s) {
    const Step& step = p.program->steps[s];
    const Segment* leaf = leaf_of[static_cast<size_t>(s)];
    const std::string where = "step " + std::to_string(s);
    if (p.tree().leaf_at(s) != (leaf->begin == s ? leaf->leaf : -1)) return where + ": leaf_at() is wrong";
    // Within a leaf control stays inside, or leaves to where another begins.
    if (step.target >= 0 && !begins(step.target) && leaf_of[static_cast<size_t>(step.target)] != leaf)
      return where + " jumps into a leaf";
    const bool lacks = step.kind == StepKind::need_weights && !p.layout.lazy[step.guard].empty();
    if (lacks && (leaf->begin != s || leaf_of[static_cast<size_t>(s - 1)]->ends != SegmentEnd::fallback))
      return where + ": no fallback's end";
    if (step.kind == StepKind::send && (leaf->end != s + 1 || leaf->ends != SegmentEnd::exchange))
      return where + ": no exchange's end";
  }
  for (const PartSite& site : p.layout.sites)
    if (const Segment* leaf = leaf_of[static_cast<size_t>(site.step)];
        leaf->begin != site.step || leaf->end != site.step + 1 || leaf->ends != SegmentEnd::wave)
      return "step " + std::to_string(site.step) + " is not a leaf of its own";
  const bool lazy =
      std::any_of(p.layout.lazy.begin(), p.layout.lazy.end(), [](const auto& handles) { return !handles.empty(); });
  const bool exchange =
      std::any_of(leaves.begin(), leaves.end(), [](const Segment* l) { return l->ends == SegmentEnd::exchange; });
  if (!lazy && p.layout.sites.empty() && !exchange && leaves.size() != 1)
    return "more than one leaf where nothing ends one";
  return {};
}

}  // namespace

class SegmentsTest : public QObject {
  Q_OBJECT
 private slots:
  void leaves_hold_every_step_and_only_their_ends_suspend() {
    int whole = 0, cut = 0;
    const auto check = [&](const RandomCase& c) {
      for (const int64_t budget : {int64_t{0}, int64_t{1} << 40}) {
        const Planned p = plan_of(c, budget);
        const std::string why = defect(p);
        QVERIFY2(why.empty(), (c.name + ": " + why + "\n" + to_text(p.tree(), *p.program)).c_str());
        const bool one_leaf = p.tree().leaves.size() <= 1;
        QCOMPARE(one_leaf, p.tree().root.children.size() <= 1);
        ++(one_leaf ? whole : cut);
      }
    };
    for (uint64_t seed = 0; seed < 120; ++seed) check(make_random_case(seed));
    for (const Toy& toy : toys()) check(toy.make(1));
    QVERIFY2(whole > 40 && cut > 80, qPrintable(QString("%1 %2").arg(whole).arg(cut)));
  }
  void a_program_s_text_marks_its_leaves() {
    const Planned p = plan_of(iterated_router_toy(1), int64_t{1} << 40);
    const std::string plain = to_text(*p.program), marked = to_text(*p.program, &p.tree());
    QVERIFY(plain.find("leaf ") == std::string::npos);
    size_t lines = 0, in_repeat = 0;
    for (size_t l = 0; l < p.tree().leaves.size(); ++l) {
      const bool inside = !p.tree().leaves[l].repeats.empty();
      const std::string line = "leaf " + std::to_string(l) + (inside ? " in loop\n" : "\n");
      lines += line.size(), in_repeat += inside;
      QVERIFY2(marked.find(line + std::to_string(p.tree().leaves[l].begin) + " ") != std::string::npos, marked.c_str());
    }
    QCOMPARE(marked.size(), plain.size() + lines);
    QVERIFY(in_repeat > 3);
    const std::string tree = to_text(p.tree(), *p.program);
    for (const char* words :
         {"program: steps 0 to ", "\n  repeat loop: steps ", "; may end for parts of the branches that were chosen (",
          "; may end for parts of the branches that are left ("})
      QVERIFY2(tree.find(words) != std::string::npos, tree.c_str());
  }
};
STORMCELL_TEST(SegmentsTest)

}  // namespace stormcell::testing
#include "segments_test.moc"
