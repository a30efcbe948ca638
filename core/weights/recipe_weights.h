// Weights by recipe: a source over stored tensors that makes what a recipe's text asks for.
#pragma once
#include <memory>

#include "core/weights/weight_source.h"

namespace stormcell {

/// Finds weights by the text that names them (weight_text() in recipe.h): stored tensors are handed through; what a
/// recipe makes is made anew each time it is asked for, with at most the result of each step and what it is made from
/// in memory (recipe_memory.h counts it). What lies in a stored tensor in one piece is a view, which reads that range
/// alone. find() throws Error(bad_input) for a text that is no recipe or does not fit its tensors. Thread-safe where
/// `stored` is.
std::shared_ptr<const WeightSource> make_recipe_weights(std::shared_ptr<const WeightSource> stored);

}  // namespace stormcell
