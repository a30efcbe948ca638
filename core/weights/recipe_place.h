// Finds the place of a recipe that is one piece of a stored tensor.
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
/// The place of `recipe` in a stored tensor; empty if it is not in one piece there.
std::optional<PlaceInTensor> place_in_tensor(const Recipe& recipe, const WeightSource& stored);

/// Bytes of `n` neighbours along an extent of a tensor, with all that lies behind it; in a format of blocks along the
/// last extent whole ones.
int64_t bytes_along(const WeightInfo& info, size_t axis, int64_t n);

/// Elements of the extents [begin, end) of a shape.
int64_t elements_of(const std::vector<int64_t>& shape, size_t begin, size_t end);

}  // namespace stormcell
