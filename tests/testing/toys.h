// Small models that keep the base honest: what they need, a graph must be able to say.
#pragma once
#include <span>

#include "tests/testing/graph_case.h"

namespace stormcell::testing {

/// Images through convolutions at two scales with early exits: each exit's decision moves several flows, the blocks
/// behind it hold a mixture of experts whose one expert is a mixture again, and one gather at the end joins the exits
/// of all routers.
RandomCase exit_chain_toy(uint64_t seed = 1);

/// Tokens go round until they are done: a repeat region, its states, a router that lets cells leave or sends them to
/// one of two experts, and the stop: nobody goes on.
RandomCase iterated_router_toy(uint64_t seed = 1);

/// Images through a grid of nodes over maps of three sizes (as DynamicRouting's): at each node a soft three-way router,
/// whose gates open none, some or all of the ways up, on and down; one way holds a router of its own; each next node
/// sums the maps that arrive from up to three routers, each times the weights of the choices by which it came.
RandomCase path_network_toy(uint64_t seed = 1);

/// Pictures to a larger picture by overlapping patches, which are cells (as ClassSR's and LiveSR's): a router sends
/// each patch to one of three unlike networks of convolutions, by a label that is given with it or by a small network
/// that scores it.
RandomCase labelled_patches_toy(uint64_t seed = 1);
RandomCase scored_patches_toy(uint64_t seed = 1);

/// Pictures are routed as a whole, and those of one branch cut into patches there, which a second router tells apart.
RandomCase patches_of_routed_pictures_toy(uint64_t seed = 1);

/// Sequences of unequal length are routed with all their tokens; in the branches tokens attend to those of their
/// sequence, and one holds a mixture of experts of tokens.
RandomCase sequence_router_toy(uint64_t seed = 1);

struct Toy {
  const char* name;
  RandomCase (*make)(uint64_t seed);
};
/// All of them.
std::span<const Toy> toys();

}  // namespace stormcell::testing
