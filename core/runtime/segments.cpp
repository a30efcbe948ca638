#include "core/runtime/segments.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/runtime/device.h"

namespace stormcell {
namespace {

/// Steps [begin, end) that run together, or again, or not at all.
struct Region {
  int32_t begin, end;
  SegmentKind kind;
};

class Cutting {
 public:
  Cutting(const Program& program, const ExecutableLayout& layout) : program_(program) {
    find_regions();
    find_ends(layout);
    cut_around_regions();
  }
  SegmentTree run() {
    SegmentTree tree;
    tree.root.kind = SegmentKind::sequence;
    tree.root.end = static_cast<int32_t>(program_.steps.size());
    fill(tree.root, 0);
    number_leaves(tree.root, tree);
    return tree;
  }

 private:
  void find_regions() {
    for (int32_t s = 0; s < static_cast<int32_t>(program_.steps.size()); ++s) {
      const Step& step = program_.steps[s];
      if (step.kind == StepKind::skip_empty) regions_.push_back({s + 1, step.target, SegmentKind::branch});
      if (step.kind == StepKind::guard) regions_.push_back({s + 1, step.target, SegmentKind::taken});
      if (step.kind == StepKind::jump) regions_.push_back({s + 1, step.target, SegmentKind::fallback});
      if (step.kind == StepKind::repeat_end) regions_.push_back({step.target, s + 1, SegmentKind::repeat});
    }
    // Outer ones first.
    std::stable_sort(regions_.begin(), regions_.end(), [](const Region& a, const Region& b) {
      return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
    });
  }

  void find_ends(const ExecutableLayout& layout) {
    std::set<OperandId> decisions;
    for (const PartSite& site : layout.sites) {
      decisions.insert(site.decision);
      cuts_.insert(site.step);
      end_before(site.step + 1, SegmentEnd::wave);
    }
    for (int32_t s = 0; s < static_cast<int32_t>(program_.steps.size()); ++s) {
      const Step& step = program_.steps[s];
      if (step.kind == StepKind::need_weights && !layout.lazy[step.guard].empty()) end_before(s, SegmentEnd::fallback);
      if (step.kind == StepKind::send) end_before(s + 1, SegmentEnd::exchange);
      // Before the first turn, and behind each of them: the last leaf of a turn ends where the repeat does.
      if (step.kind == StepKind::repeat_end && layout.ends_turns)
        end_before(step.target, SegmentEnd::turn), end_before(s + 1, SegmentEnd::turn);
      if (step.kind == StepKind::kernel && !step.outputs.empty() && decisions.contains(step.outputs[0]))
        end_before(s + 1, SegmentEnd::route);
    }
  }
  void end_before(int32_t step, SegmentEnd why) {
    cuts_.insert(step);
    ends_.emplace(step, why);
  }

  /// A leaf is entered at its beginning only. If a leaf begins within a region, the jump around the region must lead to
  /// the beginning of another leaf.
  void cut_around_regions() {
    for (bool more = true; more;) {
      more = false;
      for (const Region& r : regions_)
        if (has_cut_within(r))
          for (const int32_t place : {r.begin, r.end}) more = cuts_.insert(place).second || more;
    }
  }
  bool has_cut_within(const Region& r) const {
    const auto at = cuts_.lower_bound(r.begin);
    return at != cuts_.end() && *at < r.end;
  }

  /// Children of steps [segment.begin, segment.end); `from`: the first region that may lie within.
  void fill(Segment& segment, size_t from) {
    for (int32_t at = segment.begin; at < segment.end;) {
      const auto inner = std::find_if(regions_.begin() + from, regions_.end(), [&](const Region& r) {
        return r.begin >= at && r.end <= segment.end && has_cut_within(r);
      });
      Segment child;
      child.begin = at;
      if (inner != regions_.end() && inner->begin == at) {
        child.kind = inner->kind;
        child.end = inner->end;
        fill(child, static_cast<size_t>(inner - regions_.begin()) + 1);
      } else {
        const int32_t behind = inner == regions_.end() ? segment.end : inner->begin;
        const auto cut = cuts_.upper_bound(at);
        child.end = cut == cuts_.end() ? behind : std::min(behind, *cut);
        if (const auto why = ends_.find(child.end); why != ends_.end()) child.ends = why->second;
      }
      at = child.end;
      segment.children.push_back(std::move(child));
    }
  }

  void number_leaves(Segment& segment, SegmentTree& tree) {
    if (segment.kind == SegmentKind::leaf) {
      segment.leaf = static_cast<int32_t>(tree.leaves.size());
      tree.leaves.push_back({segment.begin, segment.end, segment.ends, repeats_});
      return;
    }
    const bool repeat = segment.kind == SegmentKind::repeat;
    if (repeat) repeats_.push_back(program_.steps[segment.end - 1].repeat);
    for (Segment& child : segment.children) number_leaves(child, tree);
    if (repeat) repeats_.pop_back();
  }

  const Program& program_;
  std::vector<Region> regions_;
  std::set<int32_t> cuts_;              // steps where a leaf begins
  std::map<int32_t, SegmentEnd> ends_;  // end of the leaf before such a step
  std::vector<RepeatId> repeats_;       // around the segment whose leaves are numbered
};

}  // namespace

SegmentTree segments_of(const Program& program, const ExecutableLayout& layout) {
  return Cutting(program, layout).run();
}

int32_t SegmentTree::leaf_at(int32_t step) const {
  const auto at = std::partition_point(leaves.begin(), leaves.end(), [&](const Leaf& l) { return l.begin < step; });
  return at != leaves.end() && at->begin == step ? static_cast<int32_t>(at - leaves.begin()) : -1;
}

std::string SegmentTree::name(const Program& program, int32_t leaf, std::span<const int32_t> turns) const {
  return "leaf " + std::to_string(leaf) + turns_text(program, leaf, turns);
}

std::string SegmentTree::turns_text(const Program& program, int32_t leaf, std::span<const int32_t> turns) const {
  std::string text;
  if (leaf < 0 || static_cast<size_t>(leaf) >= leaves.size()) return text;
  for (const RepeatId r : leaves[leaf].repeats)
    text += (turns.empty() ? " in " : ", turn " + std::to_string(turns[static_cast<size_t>(r)]) + " of ") +
            program.graph->node(program.repeats[r].node).name;
  return text;
}

}  // namespace stormcell
