// Limits that no kernel of this design can beat on a Hopper card: a lower bound of a grouped product's time, not a
// prediction.
// Arithmetic alone. The rates were written down, with their sources, before the kernels were mended by counting, and
// are not fitted to any measurement of ours.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "gpu/grouped/tensor_shape.h"

namespace stormcell::device_check {

/// The highest rate or the shortest time that is published, so that the bound stays one. Clocks are of the
/// multiprocessors.
struct CardRates {
  double multiprocessors = 132;  ///< SXM cards; NVIDIA H100 architecture whitepaper
  double clock = 1.98e9;         ///< highest clock of SXM cards; 1.83e9 gives the whitepaper's 989 TFLOP/s
  double tensor_flop = 4096;     ///< bf16, dense, a clock and multiprocessor: 4 x 512 multiply-adds (whitepaper)
  /// instructions of a warp, a clock and multiprocessor (CUDA programming guide, compute capability 9.0)
  double issues = 4;
  double shared_bytes = 128;  ///< a clock and multiprocessor: 32 banks of 4 bytes (the same guide)
  /// a clock, whole card: 8,986 GB/s at 1,755 MHz (PMC10448217, table 3), and A100's by its whitepaper
  double l2_bytes = 5120;
  double dram_bytes = 3.35e12;  ///< a second; H100 SXM5 80 GB datasheet
  double l2_clocks = 200;       ///< of a load that L2 has (PMC10448217, table 3)
  double dram_clocks = 400;     ///< of a load from DRAM (the same)
  double launch = 1.3e-6;  ///< seconds from one kernel of a graph to the next (hazyresearch.stanford.edu, 27 May 2025:
                           ///< "no bubbles")
};
/// H200: the same chip, 4.8 TB/s (its datasheet).
inline CardRates h200_rates() {
  CardRates rates;
  rates.dram_bytes = 4.8e12;
  return rates;
}

/// Counted in the machine code of the kernels (docs/benchmarks/gpu.md): instructions of a warp.
struct KernelCounts {
  double produce = 0;  ///< all producer warps together, a stage
  double consume = 0;  ///< a consumer warp, a stage
  double store = 0;    ///< a consumer warp, a pair of stored numbers a thread
};

/// The times, in seconds, of which the largest is the bound; not L2's, whose bytes are those that tiles ask for: how
/// many of them that ask for the same the card merges before L2 is not published.
struct Bounds {
  double tensor = 0, issue = 0, shared = 0, l2 = 0, dram = 0, start = 0;
  double seconds() const { return std::max({tensor, issue, shared, dram, start}); }
  const char* what() const {
    const double all = seconds();
    return all == dram     ? "DRAM"
           : all == tensor ? "tensor pipe"
           : all == shared ? "shared memory"
           : all == issue  ? "issue"
                           : "start";
  }
};

/// One regime's tiles of a product: rows of each expert that takes this way.
struct TiledProduct {
  std::vector<int32_t> rows;
  int32_t n = 0, k = 0, panels = 1;
  int32_t rows_a_tile = 0, columns = 0;  ///< of y, a tile
  int32_t consumers = 1;                 ///< warpgroups
  bool swapped = false;                  ///< rows are the narrow side
  int32_t row_reads = 1;                 ///< times that a consumer's rows are read a step: products side by side
  int32_t depth = gpu::kTileDepth;       ///< of a stage
  int32_t slots_a_row = 1;               ///< most slots that one row of x is gathered for
};

/// Holds what tiles ask of a card, in numbers and bytes; of several lists in one launch, their sum.
struct Demand {
  double tiles = 0, flop = 0, instructions = 0, shared = 0, l2 = 0, dram = 0;
  double most_flop = 0, most_instructions = 0, most_shared = 0;  ///< of a tile: one is one block's
  int dependent_loads = 0;
  Demand& operator+=(const Demand& d) {
    tiles += d.tiles, flop += d.flop, instructions += d.instructions, shared += d.shared, l2 += d.l2, dram += d.dram;
    most_flop = std::max(most_flop, d.most_flop), most_instructions = std::max(most_instructions, d.most_instructions);
    most_shared = std::max(most_shared, d.most_shared), dependent_loads = std::max(dependent_loads, d.dependent_loads);
    return *this;
  }
};

/// Loads one after another before the first byte of weights is asked for, by reading tile_map.h: count, begin[count]
/// (tiles_of), the steps of find_expert, expert, offsets (find_tile). Of these only what L2 must bring: a line of 128
/// bytes once, so of the steps those among more than 32 experts with rows; the first experts lie beside the count.
constexpr int dependent_loads(int experts) {
  int loads = 3;
  for (; experts > 32; experts = (experts + 1) / 2) ++loads;
  return loads;
}

inline Demand demand_of(const TiledProduct& p, const KernelCounts& counts) {
  Demand d;
  int experts = 0;
  const double column_blocks = gpu::parts(p.n, p.columns), stages = gpu::parts(p.k, p.depth), depth = stages * p.depth;
  const double panel_bytes = 2.0 * p.columns * p.panels * depth;
  for (const int32_t rows : p.rows) {
    if (rows == 0) continue;
    ++experts;
    const int32_t blocks = gpu::parts(rows, p.rows_a_tile);
    for (int32_t b = 0; b < blocks; ++b) {
      const int32_t mine = std::clamp(rows - b * p.rows_a_tile, 0, p.rows_a_tile),
                    side = p.swapped ? gpu::narrow_side(mine) : p.rows_a_tile;
      const double tile_flop = 2.0 * side * p.columns * p.panels * depth, row_bytes = 2.0 * side * depth;
      d.flop += column_blocks * tile_flop;
      // Written once by the copies, read by each wgmma: both operands, the rows' side by each consumer its own half.
      const double tile_shared =
          panel_bytes + row_bytes + (p.swapped ? 1 : p.consumers) * panel_bytes + row_bytes * p.row_reads;
      const double pairs = static_cast<double>(side) * p.columns / 2 / (128.0 * p.consumers);
      const double tile_instructions =
          stages * (counts.produce + counts.consume * 4 * p.consumers) + pairs * counts.store * 4 * p.consumers;
      d.shared += column_blocks * tile_shared;
      d.instructions += column_blocks * tile_instructions;
      d.most_flop = std::max(d.most_flop, tile_flop), d.most_shared = std::max(d.most_shared, tile_shared);
      d.most_instructions = std::max(d.most_instructions, tile_instructions);
      d.l2 += column_blocks * (panel_bytes + 2.0 * mine * p.k);
    }
    d.tiles += blocks * column_blocks;
    d.dram +=
        2.0 * p.n * p.panels * static_cast<double>(p.k) + 2.0 * rows * (static_cast<double>(p.k) / p.slots_a_row + p.n);
  }
  d.dependent_loads = dependent_loads(experts);
  return d;
}

inline Bounds bounds_of(const Demand& d, const CardRates& rates) {
  Bounds b;
  const double busy = std::max(1.0, std::min(rates.multiprocessors, d.tiles)), second = rates.clock;
  b.tensor = std::max(d.flop / busy, d.most_flop) / rates.tensor_flop / second;
  b.issue = std::max(d.instructions / busy, d.most_instructions) / rates.issues / second;
  b.shared = std::max(d.shared / busy, d.most_shared) / rates.shared_bytes / second;
  b.l2 = d.l2 / rates.l2_bytes / second;
  b.dram = d.dram / rates.dram_bytes;
  b.start = rates.launch + (d.dependent_loads * rates.l2_clocks + rates.dram_clocks) / second;
  return b;
}
inline Bounds bounds_of(const TiledProduct& p, const KernelCounts& counts, const CardRates& rates) {
  return bounds_of(demand_of(p, counts), rates);
}

}  // namespace stormcell::device_check
