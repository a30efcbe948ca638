// Graphs that several tests of plans run, without Qt.
#pragma once
#include "tests/testing/mixture_case.h"

namespace stormcell::testing {

/// More choices than one block takes, and more than one tile.
RandomCase many_cells(uint64_t seed, bool drops);
/// A router below a router, joined in one step over both, and the weights of choices as values.
RandomCase chains(uint64_t seed);
/// Few cells of many branches: two tiles of choices, though one block would take the cells.
RandomCase many_branches(uint64_t seed);
/// A router by label over cells of several tiles.
RandomCase many_labels(uint64_t seed);

/// A layer of an encoder: norms, attention with T5's bias and a mask with padding, a mixture of experts, the head.
RandomCase encoder_layer(uint64_t seed, bool causal);
/// Small operators: over parents, joined columns, the largest number, integers.
RandomCase small_operators(uint64_t seed);

}  // namespace stormcell::testing
