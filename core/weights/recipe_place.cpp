#include "core/weights/recipe_place.h"

namespace stormcell {

int64_t elements_of(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t i = begin; i < end; ++i) n *= shape[i];
  return n;
}

int64_t bytes_along(const WeightInfo& info, size_t axis, int64_t n) {
  const NumberFormat& format = format_of(info.dtype);
  return elements_of(info.shape, axis + 1, info.shape.size()) * n / format.block_elements * format.block_bytes;
}

std::optional<PlaceInTensor> place_in_tensor(const Recipe& r, const WeightSource& stored) {
  if (r.kind == RecipeKind::tensor) return PlaceInTensor{&r.name, 0};
  if (r.kind != RecipeKind::index && r.kind != RecipeKind::slice) return {};
  const WeightInfo made = info_of(r, stored);
  const size_t axis = r.axis;
  if (elements_of(made.shape, 0, r.kind == RecipeKind::slice ? axis : 0) != 1) return {};
  std::optional<PlaceInTensor> in = place_in_tensor(r.of[0], stored);
  if (in) in->first += r.kind == RecipeKind::index ? r.begin * made.bytes() : bytes_along(made, axis, r.begin);
  return in;
}

}  // namespace stormcell
