#include "core/runtime/resume.h"

#include <algorithm>

#include "core/base/error.h"

namespace stormcell {
namespace {

int32_t turn_of(const Submission& s, RepeatId repeat) { return s.turns.holds(repeat) ? s.turns[repeat] : 0; }

[[noreturn]] void refuse(const Program& program, const SegmentTree& segments, const Submission& s,
                         const StatusArea& area) {
  IdVector<RepeatId, int32_t> asked(area.turns.size());
  for (const RepeatId r : asked.ids()) asked[r] = turn_of(s, r);
  const bool waits = area.status->waits();
  failed("plan", "a submission goes on at " + segments.name(program, s.leaf, asked) + ", the device waits " +
                     (waits ? "at " + segments.name(program, area.status->leaf, area.turns) : "nowhere"));
}

}  // namespace

const Leaf& go_on(const Program& program, const SegmentTree& segments, const Submission& s, const StatusArea& area) {
  if (s.leaf < 0 || static_cast<size_t>(s.leaf) >= segments.leaves.size())
    failed("plan",
           "a submission goes on at leaf " + std::to_string(s.leaf) + " of " + std::to_string(segments.leaves.size()));
  const Leaf& leaf = segments.leaves[s.leaf];
  const auto is_turn = [&](RepeatId repeat) { return turn_of(s, repeat) == area.turns[repeat]; };
  if (!area.status->waits() || area.status->leaf != s.leaf || !std::ranges::all_of(leaf.repeats, is_turn))
    refuse(program, segments, s, area);
  area.status->code = ExecutionStatus::done;
  return leaf;
}

}  // namespace stormcell
