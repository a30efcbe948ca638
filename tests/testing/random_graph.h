// Random valid graphs over the whole range of operators and protocols. A router's nodes stand together and in this
// order: its scatters, the chain of each branch, one after the other, the gather (of an exit chain: the gather of all
// its routers at the very end).
#pragma once
#include <cstdint>

#include "tests/testing/graph_case.h"

namespace stormcell::testing {

/// Says what a random graph may hold beyond the operators that every model has.
struct RandomOptions {
  bool guards = true;   ///< a guard around a mixture, with a fallback for the branch it leaves out
  bool grouped = true;  ///< experts as one grouped product over slots
  bool bf16 = true;     ///< some graphs store their matrices as bf16
  /// every graph is one over maps: image routers, patches, sizes that change, several routers summed
  bool maps = false;
  bool ragged = false;  ///< every graph has ragged cells: of masks with holes, of routed sequences, of both
  /// every graph decodes: caches of sequences that stand at places of their own, a prompt, then turns
  bool states = false;
};

/// The same seed makes the same graph, weights and inputs everywhere.
RandomCase make_random_case(uint64_t seed, const RandomOptions& options = {});

/// Ranks of the device that runs the case of a seed: one and two by turns, of toys, whose seeds are negative, two. A
/// second thread waits at each step for a core that another test has.
constexpr int threads_for(int64_t seed) { return seed < 0 ? 2 : 1 + static_cast<int>((seed >> 1) & 1); }
/// Ranks of another device that is compared with it: as many or not, by turns of their own.
constexpr int other_threads_for(int64_t seed) { return 1 + static_cast<int>(seed & 1); }

}  // namespace stormcell::testing
