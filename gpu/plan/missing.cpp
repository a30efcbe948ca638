#include "gpu/plan/missing.h"

#include <array>
#include <string>

namespace stormcell::gpu {
namespace {

constexpr std::string_view kRanks = "no rows leave a card", kBranches = "more than 1,024 branches",
                           kMapOfTiles = "the tile map has room for 1,024",
                           kPixels = "weights in blocks, more than 2^31 pixels of a batch",
                           kTiles = "tiles are read in f32, and count their rows";

constexpr std::array kMissing = {
    Missing{"exchange_back", {}, kRanks},
    Missing{"exchange_decision", {}, kRanks},
    Missing{"exchange_rows", {}, kRanks},
    Missing{"sample", {}, "a card's logarithm differs from the host's in its last bits, and would draw other tokens"},
    Missing{"attention", "heads of more than 128 columns, keys and values of unlike formats, sinks",
            "a lane holds four columns, and a warp begins without a score"},
    Missing{"choice_weight", "of one branch", "a join looks it up, and no other kernel"},
    Missing{"extent", "one that no space and no repeat has", "the call block holds the extents of the program"},
    Missing{"conv2d", kPixels, kTiles},
    Missing{"expand", "rows of one format to another", "a move of places has one format"},
    Missing{"gather", "rows that a residual or a placing takes from several routers, compacted cells",
            "a join knows rows by slots, and members by the cells of their parents"},
    Missing{"grouped_conv2d", "more than 1,024 branches, weights in blocks, more than 2^31 pixels of a batch",
            "the tile map has room for 1,024, tiles are read in f32, and count their rows"},
    Missing{"grouped_layer_norm", kBranches, kMapOfTiles},
    Missing{"grouped_linear", kBranches, kMapOfTiles},
    Missing{"grouped_residual_blocks", kBranches, kMapOfTiles},
    Missing{"linear", "weights in blocks", "tiles are read in f32 and bf16 alone"},
    Missing{"residual_blocks", "more than 2^31 pixels of a batch", "tiles count their rows"},
    Missing{"route", "branches that are off, more than 1,024 branches",
            "kernels choose among all branches, and an index counts 1,024"},
    Missing{"members", "of a base whose extent no space of the program has",
            "the call block holds the extents of the program"},
    Missing{"pack", "outputs in several formats", "a move has one format"},
    Missing{"scatter", "outputs in several formats", "a move has one format"},
    Missing{"separable_conv2d", kPixels, kTiles},
    Missing{"window_attention", "heads of more than 128 columns", "a lane holds four columns"},
    Missing{"copies of whole states in pages", {}, "no kernel copies pages"},
    Missing{"weights that come within repeats", {}, "a turn would have to be left and entered again"},
    Missing{"programs of several ranks", {}, kRanks},
};

}  // namespace

std::span<const Missing> missing_in_plans() { return kMissing; }

const Missing* missing_of(std::string_view refusal) {
  for (const Missing& row : kMissing)
    if (refusal.starts_with(std::string(row.what) + " ") ||
        refusal.find("does not run " + std::string(row.what) + " yet") != std::string_view::npos)
      return &row;
  return nullptr;
}

}  // namespace stormcell::gpu
