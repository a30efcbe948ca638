// How the rows and panels of a product are cut into units of work. Private to the products.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/cpu/kernels/packed_weight.h"

namespace stormcell::cpu {

/// Rows of a unit at most.
inline constexpr int64_t kUnitRows = 96;
/// Rows of a unit, if rows are cut anyway: they and the panel that passes by should stay in an L2 together, 1.25 MiB of
/// 2. At k = 3072 that is 48 rows, 3-8 % faster than 96 for 1024 rows. Not below 48: every unit reads the panels again.
inline int64_t unit_rows(int64_t k) {
  return std::clamp<int64_t>(((5 << 16) / std::max<int64_t>(k, 1) - kPanelColumns), 48, kUnitRows);
}
inline constexpr size_t kTileBytes = kUnitRows * kPanelColumns * sizeof(float);

/// The units of one product: `parts` row blocks times the panels, row block after row block, so that a thread that
/// takes consecutive units streams consecutive panels over the rows it has in its L2.
struct ProductUnits {
  int64_t rows = 0, panels = 0, parts = 0;

  ProductUnits() = default;
  ProductUnits(int64_t rows, int64_t n, int64_t k, int threads) : rows(rows), panels(panel_count(n)) {
    parts = rows <= kUnitRows ? 1 : (rows + unit_rows(k) - 1) / unit_rows(k);
    // A narrow product (a router's, a small head's) has too few panels to go round: cut its rows further, down to 12.
    if (parts * panels < 4 * threads)
      parts = std::max(parts, std::min((rows + 11) / 12, (4 * threads + panels - 1) / panels));
  }
  int64_t count() const { return parts * panels; }
  int64_t row_begin(int64_t part) const { return rows * part / parts; }
  /// Time of a unit, in units of one row of one panel: below 16 rows the weights must still be read.
  int64_t cost() const { return std::max<int64_t>(16, (rows + parts - 1) / parts); }
};

}  // namespace stormcell::cpu
