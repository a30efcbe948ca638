// How the rows and panels of a product are cut into units of work. Private to the products.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/cpu/kernels/packed_weight.h"

namespace stormcell::cpu {

/// Rows of a unit at most: at k = 3072 they are 1.1 MiB, which an L2 of 2 MiB holds beside the panel; 96 rows: 196 GFLOP/s, 192 rows: 172.
inline constexpr int64_t kUnitRows = 96;
inline constexpr size_t kTileBytes = kUnitRows * kPanelColumns * sizeof(float);

/// The units of one product: `parts` row blocks times the panels, row block after row block, so that a thread that takes consecutive units
/// streams consecutive panels over the rows it has in its L2.
struct ProductUnits {
  int64_t rows = 0, panels = 0, parts = 0;

  ProductUnits() = default;
  ProductUnits(int64_t rows, int64_t n, int threads) : rows(rows), panels(panel_count(n)) {
    parts = (rows + kUnitRows - 1) / kUnitRows;
    // A narrow product (a router's, a small head's) has too few panels to go round: cut its rows further, down to 12.
    if (parts * panels < 4 * threads) parts = std::max(parts, std::min((rows + 11) / 12, (4 * threads + panels - 1) / panels));
  }
  int64_t count() const { return parts * panels; }
  int64_t row_begin(int64_t part) const { return rows * part / parts; }
  /// Time of a unit, in units of one row of one panel: below 16 rows the weights must still be read.
  int64_t cost() const { return std::max<int64_t>(16, (rows + parts - 1) / parts); }
};

}  // namespace stormcell::cpu
