// What of a stored tensor a recipe asks for, where it asks for one piece of it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "core/weights/recipe.h"

namespace stormcell {

struct PlaceInTensor {
  const std::string* tensor;  ///< its name, of the recipe
  int64_t first;              ///< byte
};
/// Where what `recipe` makes lies within a stored tensor; nothing where it does not lie there in one piece.
std::optional<PlaceInTensor> place_in_tensor(const Recipe& recipe, const WeightSource& stored);

/// Elements of the extents [begin, end) of a shape.
int64_t elements_of(const std::vector<int64_t>& shape, size_t begin, size_t end);

}  // namespace stormcell
