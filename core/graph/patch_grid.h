// How a picture is cut into patches that may overlap: what unfold and fold mean by it.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/graph/operator.h"

namespace stormcell {

/// The fate of pixels behind the last whole step of a grid.
enum class PatchBorder : uint8_t {
  shift,  ///< the last row and the last column of patches are shifted back so that they end with the picture
  cut,    ///< no patch holds them
};

/// Patches [patch_height, patch_width] of a picture [height, width], `stride` apart, row by row. Every patch holds
/// pixels of the picture only; every pixel that the border does not cut is in one where the stride is no larger than
/// the patch.
struct PatchGrid {
  int64_t height = 0, width = 0, patch_height = 0, patch_width = 0, stride = 1;
  PatchBorder border = PatchBorder::shift;

  bool is_valid() const {
    constexpr int64_t kMost = 1 << 20;  // numbers of patches stay far from overflow
    return patch_height >= 1 && patch_width >= 1 && stride >= 1 && stride <= kMost && patch_height <= height &&
           patch_width <= width && height <= kMost && width <= kMost;
  }
  int64_t rows() const { return steps(height - patch_height); }
  int64_t columns() const { return steps(width - patch_width); }
  int64_t patches() const { return rows() * columns(); }
  /// First row and first column of pixels of the patches in a row or column of the grid.
  int64_t top(int64_t row) const { return std::min(row * stride, height - patch_height); }
  int64_t left(int64_t column) const { return std::min(column * stride, width - patch_width); }
  /// The part of the picture that patches reach, from its first pixel on.
  int64_t covered_height() const { return top(rows() - 1) + patch_height; }
  int64_t covered_width() const { return left(columns() - 1) + patch_width; }

 private:
  int64_t steps(int64_t room) const { return (border == PatchBorder::cut ? room : room + stride - 1) / stride + 1; }
};

/// The patches of the unfold node `node`, whose pictures are [H, W, C].
PatchGrid grid_of_unfold(const Graph& graph, const Node& node);
/// The patches of the fold node `node`, whose patches are [h, w, C].
PatchGrid grid_of_fold(const Graph& graph, const Node& node);
/// How many patches a row of the grid has whose cells `space` holds, for the identity of its cells; 0 where nothing
/// lays out the space in a grid, or in grids of unequal widths.
int64_t grid_columns(const Graph& graph, SpaceId space);
/// Throws unless every cell above `space` has just the patches of the grid: a dense space, or members of routed parents
/// of one.
void expect_patches(const Graph& graph, const Node& node, SpaceId space, const PatchGrid& grid);

}  // namespace stormcell
