// Two small models that keep the base honest: what they need, a graph must be able to say.
#pragma once
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

/// Images through convolutions at two scales with early exits: each exit's decision moves several flows, the blocks behind it hold a
/// mixture of experts whose one expert is a mixture again, and one gather at the end joins the exits of all routers.
RandomCase exit_chain_toy(uint64_t seed = 1);

/// Tokens go round until they are done: a repeat region, its states, a router that lets cells leave or sends them to one of two
/// experts, and the stop: nobody goes on.
RandomCase iterated_router_toy(uint64_t seed = 1);

}  // namespace stormcell::testing
