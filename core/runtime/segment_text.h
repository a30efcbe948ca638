// Programs and their trees of segments in words, for people.
#pragma once
#include <cstdint>
#include <string>

#include "core/runtime/segments.h"

namespace stormcell {

/// One segment in words. Beside a leaf's own steps it says what the device decides there by itself.
struct SegmentWords {
  std::string kind;  ///< "program", "branch", "taken", "fallback", "repeat", "leaf"
  std::string of;    ///< owner of the branch, body or turns: "3 of encoder.block.1.mlp", the guard, the repeat; else
                     ///< empty
  std::string ends;  ///< why a submission may end with a leaf; empty: it does not
  std::string at;    ///< the node where it does
  int64_t kernels = 0, branches = 0, guards = 0,
          repeats = 0;  ///< for a leaf: what it runs, and the regions that lie in it whole

  /// "12 kernels, 8 branches, 1 repeat".
  std::string contents() const;
};
SegmentWords words_of(const Segment& segment, const Program& program);

/// One line a segment, indented. A leaf that holds regions whole is called resident: the device decides there by
/// itself.
std::string to_text(const SegmentTree& tree, const Program& program);

/// One line a step. With a tree, a line before each leaf's first step names the leaf.
std::string to_text(const Program& program, const SegmentTree* segments = nullptr);

}  // namespace stormcell
