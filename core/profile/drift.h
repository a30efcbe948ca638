// Drift: whether later cells are routed differently from earlier ones. Compares the halves of a recording, or two
// recordings, with chance.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/progress.h"
#include "core/profile/token_routes.h"

namespace stormcell {

/// Counts of one block of consecutive steps: [layers, branches].
using BlockLoads = std::vector<int64_t>;

/// Steps of a block. Neighbouring steps are alike, so random parts consist of blocks, never of single steps. A block
/// has 8 steps, or more if there would be over 256 blocks.
inline int64_t steps_of_block(int64_t steps) {
  constexpr int64_t kFewest = 8, kMostBlocks = 256;
  return std::max(kFewest, (steps + kMostBlocks - 1) / kMostBlocks);
}

struct Drift {
  double distance = 0;  ///< half the sum of the differences between the shares of the branches in the halves, mean over
                        ///< layers: 0 to 1
  double expected = 0;  ///< the same, mean over random halves of the same blocks: what chance alone gives
  double p_value = 1;   ///< share of the random halves that are at least as far apart, the real ones counted among them
  int64_t blocks = 0;
  double middle = 0, low = 0, high = 0;  ///< of the random halves: median, and the limits of the middle 95 %
};

/// `branches`: of each layer, in the order of the blocks' counts. Empty: fewer than four blocks are too few.
std::optional<Drift> drift_of(const std::vector<BlockLoads>& blocks, std::span<const int32_t> branches,
                              const Progress& progress = {});

/// The same between two recordings, whose blocks weigh alike, however much each served: whether those of `second` go
/// elsewhere than those of `first`, beside random parts of all of them. Empty: fewer than four blocks.
std::optional<Drift> drift_between(const std::vector<BlockLoads>& first, const std::vector<BlockLoads>& second,
                                   std::span<const int32_t> branches, const Progress& progress = {});

/// Blocks of the steps that decode, or of all steps if none decodes. The last one may be shorter.
std::vector<BlockLoads> blocks_of(const TokenRoutes& routes);

/// Number of blocks that each of two recordings is cut into. It is the same for both, so that random parts are as noisy
/// as the recordings, even if one has more cells. 0: one has too few steps to be judged.
inline int64_t blocks_of_each(int64_t steps, int64_t steps_of_other) {
  constexpr int64_t kFewestSteps = 8, kFewestBlocks = 2, kMostBlocks = 128;
  const int64_t blocks = std::min({steps / kFewestSteps, steps_of_other / kFewestSteps, kMostBlocks});
  return blocks < kFewestBlocks ? 0 : blocks;
}
bool decodes_any(const TokenRoutes& routes);
/// Number of steps, all or only those that decode.
int64_t judged_steps(const TokenRoutes& routes, bool decoding);
/// Cuts these steps into so many blocks, whose lengths differ by at most one step.
std::vector<BlockLoads> blocks_of(const TokenRoutes& routes, bool decoding, int64_t blocks);

}  // namespace stormcell
