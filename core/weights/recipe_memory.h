// Memory that making a weight takes.
#pragma once
#include <cstdint>

#include "core/weights/recipe.h"

namespace stormcell {

/// Bytes that RecipeWeights holds at most while it makes `recipe` from stored tensors: at each step the result and its
/// operands.
int64_t bytes_while_made(const Recipe& recipe, const WeightSource& stored);

/// Bytes of stored tensors that are read for it: its own if it is one piece of a tensor, else those of all tensors that
/// it names.
int64_t bytes_stored_of(const Recipe& recipe, const WeightSource& stored);

}  // namespace stormcell
