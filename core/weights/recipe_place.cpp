#include "core/weights/recipe_place.h"

namespace stormcell {

int64_t elements_of(const std::vector<int64_t>& shape, size_t begin, size_t end) {
  int64_t n = 1;
  for (size_t i = begin; i < end; ++i) n *= shape[i];
  return n;
}

std::optional<PlaceInTensor> place_in_tensor(const Recipe& r, const WeightSource& stored) {
  if (r.kind == RecipeKind::tensor) return PlaceInTensor{&r.name, 0};
  if (r.kind != RecipeKind::index && r.kind != RecipeKind::slice) return {};
  const WeightInfo made = info_of(r, stored);
  const size_t axis = r.axis;
  if (elements_of(made.shape, 0, r.kind == RecipeKind::slice ? axis : 0) != 1) return {};
  std::optional<PlaceInTensor> in = place_in_tensor(r.of[0], stored);
  const int64_t step = r.kind == RecipeKind::index ? made.bytes()
                                                   : elements_of(made.shape, axis + 1, made.shape.size()) *
                                                         static_cast<int64_t>(element_size(made.dtype));
  if (in) in->first += r.begin * step;
  return in;
}

}  // namespace stormcell
