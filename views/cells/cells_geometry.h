// Layout of chips: in rows like words of a text, sequence below sequence, scrolled by pixels through any number of
// sequences. Pure.
#pragma once
#include <QPoint>
#include <QPointF>
#include <QRectF>
#include <QSizeF>
#include <cstdint>
#include <functional>
#include <vector>

namespace stormcell::views {

struct CellsMetrics {
  double width = 600;   ///< of a column, the gutter included
  double gutter = 120;  ///< at its left, for the sequence's name
  double line = 18;     ///< height of a line of words
  double chip = 20;     ///< height of a chip
  double stripes = 0;   ///< height of all stripes below a row of chips
  double picture = 0;   ///< longer side of a picture
  double word_gap = 5, row_gap = 5, block_gap = 9;
  double head = 0;  ///< height of the sequence's name if it is above its cells, not in the gutter
  int across = 1;   ///< sequences side by side, each `width` wide
  double pitch() const { return chip + stripes + row_gap; }
  bool operator==(const CellsMetrics&) const = default;
};

/// The chips of one sequence; places are relative to the block's top left corner.
struct LineLayout {
  std::vector<QRectF> chips;
  std::vector<int> row;  ///< of each chip
  double height = 0;     ///< with the gap below
  QRectF picture;        ///< below the chips, which then tile it; empty: there is none
  /// -1: none. Between chips: none.
  int at(QPointF point) const;
  /// The nearest chip of another row, below or above; -1: there is no such row.
  int neighbour(int chip, int rows) const;
};
/// `words`: the chip has a gap before it unless it begins a row. No chip is wider than the column.
LineLayout lay_out(const std::vector<double>& widths, const std::vector<bool>& words, const CellsMetrics& metrics,
                   bool note_below);
/// Cells at their places in a grid (x: column, y: row), all equally wide; narrower than their texts if the grid has
/// more columns than there is room for.
LineLayout lay_out_grid(const std::vector<double>& widths, const std::vector<QPoint>& places,
                        const CellsMetrics& metrics, bool note_below);

/// Cells on a picture of that shape, each as large as its part of it: an even grid of so many columns and rows
/// (overlaps of patches are not drawn). A picture that is one cell has room for its stripes below.
LineLayout lay_out_picture(QSizeF picture, QSize grid, const std::vector<QPoint>& places, const CellsMetrics& metrics);

/// Grid of pictures of `shape` pixels, side by side in a room. Each of their pixels covers a whole number of screen
/// pixels, as many as let all `count` be seen; too many pictures are drawn at a recognisable size. `below`: height of
/// the text above and below each.
struct PictureGrid {
  double longer = 0;  ///< side of a picture
  int across = 1;
};
PictureGrid grid_of_pictures(QSizeF room, QSize shape, int64_t count, QSizeF gap, double below);

/// Top of the view: a sequence, and its pixels that are above the view.
struct CellScroll {
  int64_t sequence = 0;
  double offset = 0;
  bool operator==(const CellScroll&) const = default;
};
/// Scrolls by pixels. `height`: of a sequence's block; sequences [first, end).
CellScroll scrolled(CellScroll from, double by, int64_t first, int64_t end,
                    const std::function<double(int64_t)>& height);

/// Height of one stripe: all together stay below `most`, none is thinner than a pixel or thicker than useful.
double stripe_height(int stripes, double most);

/// Chips of a legend in rows, as many as fit into `bounds`; widths of text, without margins.
std::vector<QRectF> legend_boxes(const std::vector<double>& widths, QRectF bounds, double height);

}  // namespace stormcell::views
