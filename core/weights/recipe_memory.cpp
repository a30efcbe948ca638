#include "core/weights/recipe_memory.h"

#include <algorithm>

#include "core/weights/recipe_place.h"

namespace stormcell {
namespace {

/// Memory that making a tensor takes: `most` bytes at one time; `left` of them stay held with it.
struct Taken {
  int64_t most = 0, left = 0;
};

/// Step by step as recipe_weights.cpp makes them.
class Taking {
 public:
  explicit Taking(const WeightSource& stored) : stored_(stored) {}

  Taken of(const Recipe& r) const {
    const WeightInfo to = info_of(r, stored_);
    const int64_t own = to.bytes();
    if (r.kind == RecipeKind::tensor) return {stored_.bytes_while_read(r.name), own};
    if (place_in_tensor(r, stored_)) return {own, own};
    switch (r.kind) {
      case RecipeKind::tensor:
        break;
      case RecipeKind::index:
        return of(r.of[0]);
      case RecipeKind::slice:
        return elements_of(to.shape, 0, static_cast<size_t>(r.axis)) == 1 ? of(r.of[0]) : beside(r.of[0], own, own);
      case RecipeKind::transpose:
        return beside(r.of[0], own, own);
      case RecipeKind::stack:
      case RecipeKind::concat: {
        int64_t most = 0;
        for (const Recipe& operand : r.of) most = std::max(most, of(operand).most);
        return {own + most, own};
      }
      case RecipeKind::convert:
        if (info_of(r.of[0], stored_).dtype == r.dtype) return of(r.of[0]);
        return beside(r.of[0], own + row_of_floats(to, to.shape.empty() ? 1 : to.shape[0]), own);
      case RecipeKind::quantise:
        return beside(r.of[0], own + row_of_floats(to, to.elements() / std::max<int64_t>(to.shape.back(), 1)), own);
      case RecipeKind::mxfp4: {
        const Taken codes = of(r.of[0]), scales = beside(r.of[1], own, own);
        return {std::max(codes.most, codes.left + scales.most), own};
      }
      case RecipeKind::block_scale:
      case RecipeKind::scale: {
        const Taken factors = as_reals(r.of[1]), rest = beside(r.of[0], own + row_of_floats(to, to.shape[0]), own);
        return {std::max(factors.most, factors.left + rest.most), own};
      }
      case RecipeKind::position_bias:
      case RecipeKind::batch_norm_scale:
      case RecipeKind::batch_norm_shift: {
        Taken all;
        for (const Recipe& operand : r.of) {
          const Taken one = as_reals(operand);
          all = {std::max(all.most, all.left + one.most), all.left + one.left};
        }
        const int64_t hidden =
            r.kind == RecipeKind::position_bias ? info_of(r.of[1], stored_).shape[1] * int64_t{sizeof(double)} : 0;
        return {std::max(all.most, all.left + own + hidden), own};
      }
    }
    return {own, own};
  }

 private:
  /// The step takes `more` bytes while its operand is held; `left` of them stay.
  Taken beside(const Recipe& operand, int64_t more, int64_t left) const {
    const Taken from = of(operand);
    return {std::max(from.most, from.left + more), left};
  }
  Taken as_reals(const Recipe& operand) const {
    const int64_t n = info_of(operand, stored_).elements(), narrow = n * int64_t{sizeof(float)},
                  wide = n * int64_t{sizeof(double)};
    return beside(operand, narrow + wide, wide);
  }
  static int64_t row_of_floats(const WeightInfo& to, int64_t rows) {
    return rows > 0 ? to.elements() / rows * static_cast<int64_t>(sizeof(float)) : 0;
  }

  const WeightSource& stored_;
};

}  // namespace

int64_t bytes_while_made(const Recipe& recipe, const WeightSource& stored) { return Taking(stored).of(recipe).most; }

int64_t bytes_stored_of(const Recipe& recipe, const WeightSource& stored) {
  if (recipe.kind == RecipeKind::tensor) return stored.stored_bytes(recipe.name);
  if (const std::optional<PlaceInTensor> at = place_in_tensor(recipe, stored))
    return stored.stored_bytes(*at->tensor) > 0 ? info_of(recipe, stored).bytes() : 0;
  int64_t bytes = 0;
  for (const Recipe& operand : recipe.of) bytes += bytes_stored_of(operand, stored);
  return bytes;
}

}  // namespace stormcell
