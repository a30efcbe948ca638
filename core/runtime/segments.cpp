#include "core/runtime/segments.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "core/graph/roles.h"
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
  Segment run() {
    Segment all;
    all.kind = SegmentKind::sequence;
    all.end = static_cast<int32_t>(program_.steps.size());
    fill(all, 0);
    return all;
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
    std::stable_sort(regions_.begin(), regions_.end(),
                     [](const Region& a, const Region& b) { return a.begin != b.begin ? a.begin < b.begin : a.end > b.end; });
  }

  void find_ends(const ExecutableLayout& layout) {
    std::set<int32_t> decisions;
    for (const PartSite& site : layout.sites) {
      decisions.insert(site.decision);
      cuts_.insert(site.step);
      end_before(site.step + 1, SegmentEnd::wave);
    }
    for (int32_t s = 0; s < static_cast<int32_t>(program_.steps.size()); ++s) {
      const Step& step = program_.steps[s];
      if (step.kind == StepKind::need_weights && !layout.lazy[step.index].empty()) end_before(s, SegmentEnd::fallback);
      if (step.kind != StepKind::kernel) continue;
      const Node& node = program_.graph->node(step.node);
      if (is_route(node) && decisions.contains(step.outputs[0])) end_before(s + 1, SegmentEnd::route);
      if (has_role(node, Role::exchange)) end_before(s + 1, SegmentEnd::exchange);
    }
  }
  void end_before(int32_t step, SegmentEnd why) {
    cuts_.insert(step);
    ends_.emplace(step, why);
  }

  /// A leaf is entered at its begin alone: where one begins in a region, the jump around the region leads to the begin of another.
  void cut_around_regions() {
    for (bool more = true; more;) {
      more = false;
      for (const Region& r : regions_)
        if (has_cut_within(r)) more |= cuts_.insert(r.begin).second | cuts_.insert(r.end).second;
    }
  }
  bool has_cut_within(const Region& r) const {
    const auto at = cuts_.lower_bound(r.begin);
    return at != cuts_.end() && *at < r.end;
  }

  /// Children of steps [segment.begin, segment.end); `from`: the first region that may lie within.
  void fill(Segment& segment, size_t from) {
    for (int32_t at = segment.begin; at < segment.end;) {
      const auto inner = std::find_if(regions_.begin() + static_cast<std::ptrdiff_t>(from), regions_.end(),
                                      [&](const Region& r) { return r.begin >= at && r.end <= segment.end && has_cut_within(r); });
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

  const Program& program_;
  std::vector<Region> regions_;
  std::set<int32_t> cuts_;              // steps where a leaf begins
  std::map<int32_t, SegmentEnd> ends_;  // of the leaf before such a step
};

void add_lines(const Segment& s, const Program& program, int depth, std::string& text) {
  static constexpr const char* kKinds[] = {"leaf", "program", "branch", "taken", "fallback", "repeat"};
  static constexpr const char* kEnds[] = {"", "a fallback's weights", "a route's missing parts", "branches that wait for parts",
                                          "an exchange"};
  text += std::string(static_cast<size_t>(2 * depth), ' ') + kKinds[static_cast<size_t>(s.kind)] + " " + std::to_string(s.begin) + ".." +
          std::to_string(s.end - 1);
  if (s.ends != SegmentEnd::none) text += ", may end with " + std::string(kEnds[static_cast<size_t>(s.ends)]);
  if (s.ends == SegmentEnd::wave || s.ends == SegmentEnd::route || s.ends == SegmentEnd::exchange)
    text += " (" + program.graph->node(program.steps[s.end - 1].node).name + ")";
  text += "\n";
  for (const Segment& child : s.children) add_lines(child, program, depth + 1, text);
}

}  // namespace

Segment segments_of(const Program& program, const ExecutableLayout& layout) { return Cutting(program, layout).run(); }

bool begins_leaf(const Segment& tree, int32_t step) {
  if (tree.kind == SegmentKind::leaf) return tree.begin == step;
  // The last child that does not begin behind the step.
  const auto behind = std::partition_point(tree.children.begin(), tree.children.end(), [&](const Segment& c) { return c.begin <= step; });
  return behind != tree.children.begin() && begins_leaf(*std::prev(behind), step);
}

std::string to_text(const Segment& tree, const Program& program) {
  std::string text;
  add_lines(tree, program, 0, text);
  return text;
}

}  // namespace stormcell
