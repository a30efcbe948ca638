// What making a weight takes.
#pragma once
#include <cstdint>

#include "core/weights/recipe.h"

namespace stormcell {

/// Bytes that RecipeWeights holds at most while it makes what `recipe` says of stored tensors: of each step its result
/// and what it is made from.
int64_t bytes_while_made(const Recipe& recipe, const WeightSource& stored);

/// Bytes of stored tensors that are read for it: of one that lies in a tensor in one piece its own, else those of all
/// that it names.
int64_t bytes_stored_of(const Recipe& recipe, const WeightSource& stored);

}  // namespace stormcell
