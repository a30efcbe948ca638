// A program as a tree of segments: what a device runs without the host, and where it may ask for it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/runtime/program.h"

namespace stormcell {

struct ExecutableLayout;

enum class SegmentKind : uint8_t {
  leaf,      ///< steps that run without the host: only at its end may a submission end, to be resumed at the leaf that comes next
  sequence,  ///< children one after another: the whole program
  branch,    ///< children that run where a branch got cells
  taken,     ///< children that run where a guard holds
  fallback,  ///< children that run where it misses
  repeat,    ///< children turn after turn
};

/// Why a submission may end with a leaf.
enum class SegmentEnd : uint8_t {
  none,      ///< it does not: the leaf ends where a branch, a guard or a repeat goes another way
  fallback,  ///< the fallback behind it may lack its weights
  route,     ///< a router has chosen branches whose parts may not be there, and the host is told
  wave,      ///< branches of the step may be left whose parts are not there: the leaf is resumed itself
  exchange,  ///< rows go to other ranks: ranks of one process meet within the step so far, and the submission goes on
};

struct Segment {
  SegmentKind kind = SegmentKind::leaf;
  SegmentEnd ends = SegmentEnd::none;  ///< of a leaf
  int32_t begin = 0, end = 0;          ///< steps [begin, end)
  std::vector<Segment> children;       ///< in order, without gaps; of a leaf none
};

/// The tree of a program with the weights that a layout tells of: a subtree in which nothing ends a submission is one leaf.
Segment segments_of(const Program& program, const ExecutableLayout& layout);
/// A submission may be resumed there: a leaf begins.
bool begins_leaf(const Segment& tree, int32_t step);
/// One line a segment, indented: its kind, its steps, what ends it.
std::string to_text(const Segment& tree, const Program& program);

}  // namespace stormcell
