// Weights by recipe: a source over stored tensors that makes weights from recipes' texts.
#pragma once
#include <memory>

#include "core/weights/weight_source.h"

namespace stormcell {

/// Finds weights by the text that names them (weight_text() in recipe.h). Stored tensors are passed through. A recipe's
/// result is made anew each time it is asked for; at each step only the result and its operands are in memory
/// (recipe_memory.h counts it). A result that is one piece of a stored tensor is a view, which reads only that range.
/// find() throws Error(bad_input) for a text that is no recipe or does not fit its tensors. Thread-safe if `stored` is.
std::shared_ptr<const WeightSource> make_recipe_weights(std::shared_ptr<const WeightSource> stored);

}  // namespace stormcell
