// A program as a tree of segments: the device runs each without the host, and may ask for the host between two.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/runtime/program.h"

namespace stormcell {

struct ExecutableLayout;

enum class SegmentKind : uint8_t {
  leaf,      ///< steps that run without the host; a submission ends only at the end of a leaf, and is resumed at the
             ///< beginning of one
  sequence,  ///< children one after another: the whole program
  branch,    ///< children that run where a branch got cells
  taken,     ///< children that run where a guard holds
  fallback,  ///< children that run where it misses
  repeat,    ///< children turn after turn
};

/// The reason why a submission may end with a leaf.
enum class SegmentEnd : uint8_t {
  none,      ///< it does not: the leaf ends where a branch, a guard or a repeat goes another way
  fallback,  ///< the fallback behind it may lack its weights
  route,     ///< a router has chosen branches whose parts may be missing: the host learns which
  wave,      ///< parts of some branches of the step may be missing: the same leaf is resumed
  exchange,  ///< rows go to other ranks: a submission always ends here, and the next leaf takes what arrived
  turn,      ///< a turn of a repeat begins: where the layout ends_turns, a submission always ends here
};

struct Segment {
  SegmentKind kind = SegmentKind::leaf;
  SegmentEnd ends = SegmentEnd::none;  ///< set for a leaf
  int32_t leaf = -1;                   ///< number of a leaf
  int32_t begin = 0, end = 0;          ///< steps [begin, end)
  std::vector<Segment> children;       ///< in order, without gaps; a leaf has none
};

/// A leaf as a submission names it.
struct Leaf {
  int32_t begin = 0, end = 0;  ///< steps [begin, end)
  SegmentEnd ends = SegmentEnd::none;
  std::vector<RepeatId> repeats;  ///< around it, the outermost first: it has a turn of each
};

struct SegmentTree {
  Segment root;
  std::vector<Leaf> leaves;  ///< by number: in the order of their steps

  /// The number of the leaf that begins with a step; -1: none does.
  int32_t leaf_at(int32_t step) const;
  /// "leaf 3, turn 2 of rounds"; without turns "leaf 3 in rounds". `turns`: by repeat of the program.
  std::string name(const Program& program, int32_t leaf, std::span<const int32_t> turns = {}) const;
  /// The part of name() behind the leaf's number.
  std::string turns_text(const Program& program, int32_t leaf, std::span<const int32_t> turns) const;
};

/// The tree of a program with the weights that a layout tells of: a subtree in which nothing ends a submission is one
/// leaf.
SegmentTree segments_of(const Program& program, const ExecutableLayout& layout);

}  // namespace stormcell
