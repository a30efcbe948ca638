#include "gpu/plan/missing.h"

#include <array>
#include <string>

namespace stormcell::gpu {
namespace {

constexpr std::string_view kRagged = "the rows table has no offsets of ragged cells",
                           kMaps = "there is no kernel for maps (gpu/maps)",
                           kControl = "there is no kernel that decides from values", kRanks = "no rows leave a card";

constexpr std::array kMissing = {
    Missing{"all_set", {}, kControl},
    Missing{"branches_empty", {}, kControl},
    Missing{"branches_full", {}, kControl},
    Missing{"compact", {}, kRagged},
    Missing{"conv2d", {}, kMaps},
    Missing{"exchange_back", {}, kRanks},
    Missing{"exchange_decision", {}, kRanks},
    Missing{"exchange_rows", {}, kRanks},
    Missing{"expand", {}, kRagged},
    Missing{"extent", {}, kControl},
    Missing{"fold", {}, kMaps},
    Missing{"grouped_conv2d", {}, kMaps},
    Missing{"grouped_layer_norm", {}, "a norm has one weight"},
    Missing{"grouped_residual_blocks", {}, kMaps},
    Missing{"members", {}, kRagged},
    Missing{"merge_cells", {}, kMaps},
    Missing{"pack", {}, kRagged},
    Missing{"pixel_shuffle", {}, kMaps},
    Missing{"pool", {}, kMaps},
    Missing{"positions", {}, "there is no kernel that counts along a parent's cells"},
    Missing{"residual_blocks", {}, kMaps},
    Missing{"resize", {}, kMaps},
    Missing{"rotary", {}, "pairs of columns are turned together, which no kernel does"},
    Missing{"separable_conv2d", {}, kMaps},
    Missing{"squared_distance", {}, "a sum over two rows, which no kernel does"},
    Missing{"state_put", {}, "no kernel puts rows at a place that the data tell"},
    Missing{"unfold", {}, kMaps},
    Missing{"window_attention", {}, kMaps},
    Missing{"attention", "a cache, or heads of more than 128 columns", "its kernel reads whole parents"},
    Missing{"choice_weight", "of one branch", "a join looks it up, and no other kernel"},
    Missing{"concat", "maps", kMaps},
    Missing{"gather", "rows that a residual or a placing takes from several routers", "a join knows rows by slots"},
    Missing{"grouped_linear", "members, or more than 256 branches", kRagged},
    Missing{"linear", "weights in blocks", "tiles are read in f32 and bf16 alone"},
    Missing{"route", "exits, hashes, priorities, grids of capacities, more than 1,024 branches",
            "its kernels choose by the largest scores, by a threshold, in groups or by label"},
    Missing{"scatter", "outputs in several formats", "a move has one format"},
    Missing{"standardize", "maps", kMaps},
    Missing{"guards", {}, "no node takes the other way"},
    Missing{"ragged cells", {}, kRagged},
    Missing{"repeats", {}, "no node runs again"},
    Missing{"states in pages", {}, "no kernel reads the table of pages"},
    Missing{"weights under a budget", {}, "a plan is one leaf"},
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
