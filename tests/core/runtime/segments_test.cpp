// The tree of segments: leaves hold every step once, nothing enters one but at its begin, and only its end may ask for the host.
#include "core/runtime/segments.h"

#include <algorithm>

#include "core/cpu/cpu_device.h"
#include "core/graph/roles.h"
#include "core/runtime/lower.h"
#include "core/runtime/weight_store.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

struct Planned {
  std::shared_ptr<const Program> program;
  ExecutableLayout layout;
  Segment tree;
};
Planned plan_of(const RandomCase& c, int64_t budget) {
  cpu::CpuDevice device(1);
  WeightStore store(device, c.weights, budget);
  Planned p;
  p.program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
  p.layout = device.layout_of(p.program, store, {c.bindings});
  p.tree = segments_of(*p.program, p.layout);
  return p;
}

void add_leaves(const Segment& s, std::vector<const Segment*>& leaves) {
  if (s.kind == SegmentKind::leaf) leaves.push_back(&s);
  for (const Segment& child : s.children) add_leaves(child, leaves);
}

/// What is wrong with a tree, in a sentence; empty: nothing.
std::string defect(const Planned& p) {
  std::vector<const Segment*> leaves;
  add_leaves(p.tree, leaves);
  const auto steps = static_cast<int32_t>(p.program->steps.size());
  std::vector<const Segment*> leaf_of(static_cast<size_t>(steps));
  int32_t at = 0;
  for (const Segment* leaf : leaves) {
    if (leaf->begin != at || leaf->end <= at || !leaf->children.empty()) return "leaf " + std::to_string(leaf->begin) + " does not go on";
    for (; at < leaf->end; ++at) leaf_of[static_cast<size_t>(at)] = leaf;
  }
  if (at != steps) return "steps are left";
  const auto begins = [&](int32_t step) { return step == steps || leaf_of[static_cast<size_t>(step)]->begin == step; };
  for (int32_t s = 0; s < steps; ++s) {
    const Step& step = p.program->steps[s];
    const Segment* leaf = leaf_of[static_cast<size_t>(s)];
    const std::string where = "step " + std::to_string(s);
    if (begins_leaf(p.tree, s) != (leaf->begin == s)) return where + ": begins_leaf() is wrong";
    // Within a leaf control stays inside, or leaves to where another begins.
    if (step.target >= 0 && !begins(step.target) && leaf_of[static_cast<size_t>(step.target)] != leaf) return where + " jumps into a leaf";
    const bool lacks = step.kind == StepKind::need_weights && !p.layout.lazy[step.index].empty();
    if (lacks && (leaf->begin != s || leaf_of[static_cast<size_t>(s - 1)]->ends != SegmentEnd::fallback))
      return where + ": no fallback's end";
    if (step.kind != StepKind::kernel) continue;
    const bool exchanges = has_role(p.program->graph->node(step.node), Role::exchange);
    if (exchanges && (leaf->end != s + 1 || leaf->ends != SegmentEnd::exchange)) return where + ": no exchange's end";
  }
  for (const PartSite& site : p.layout.sites)
    if (const Segment* leaf = leaf_of[static_cast<size_t>(site.step)];
        leaf->begin != site.step || leaf->end != site.step + 1 || leaf->ends != SegmentEnd::wave)
      return "step " + std::to_string(site.step) + " is no leaf of its own";
  const bool lazy = std::any_of(p.layout.lazy.begin(), p.layout.lazy.end(), [](const auto& handles) { return !handles.empty(); });
  const bool exchange = std::any_of(leaves.begin(), leaves.end(), [](const Segment* l) { return l->ends == SegmentEnd::exchange; });
  if (!lazy && p.layout.sites.empty() && !exchange && leaves.size() != 1) return "more than one leaf where nothing ends one";
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
        QVERIFY2(why.empty(), (c.name + ": " + why + "\n" + to_text(p.tree, *p.program)).c_str());
        ++(p.tree.children.size() == 1 ? whole : cut);
      }
    };
    for (uint64_t seed = 0; seed < 120; ++seed) check(make_random_case(seed));
    for (const Toy& toy : toys()) check(toy.make(1));
    QVERIFY2(whole > 40 && cut > 80, qPrintable(QString("%1 %2").arg(whole).arg(cut)));
  }
};
STORMCELL_TEST(SegmentsTest)

}  // namespace stormcell::testing
#include "segments_test.moc"
