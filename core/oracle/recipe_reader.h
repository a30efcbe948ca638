// Reads a recipe element by element. This is the oracle's own reading: only the text's parser is shared with the code
// that makes weights for devices.
#pragma once
#include <memory>
#include <vector>

#include "core/weights/recipe.h"
#include "core/weights/weight_source.h"

namespace stormcell::reference {

/// The elements that a recipe makes from stored tensors, read when they are asked for and never held.
class RecipeReader {
 public:
  virtual ~RecipeReader() = default;
  const std::vector<int64_t>& shape() const { return shape_; }
  /// The element at `place` and the n - 1 behind it along the last extent. Thread-safe.
  virtual void read(const std::vector<int64_t>& place, int64_t n, double* to) const = 0;
  double element(const std::vector<int64_t>& place) const;
  /// Elements [first, first + n) in row-major order.
  void read_flat(int64_t first, int64_t n, double* to) const;
  int64_t elements() const;

 protected:
  explicit RecipeReader(std::vector<int64_t> shape) : shape_(std::move(shape)) {}
  std::vector<int64_t> shape_;
};

/// `stored` is asked for the recipe's tensors only, and must outlive the reader.
std::unique_ptr<RecipeReader> make_recipe_reader(const Recipe& recipe, const WeightSource& stored);

/// A weight as products use it. If the recipe's last step is `scale`, its factors are separate: a batch norm stays
/// unfolded beside its convolution, with one factor for each index of the first extent.
struct UnfoldedWeight {
  std::unique_ptr<RecipeReader> elements, factor;  ///< factor: null if there is none
};
UnfoldedWeight unfolded_weight(const Recipe& recipe, const WeightSource& stored);

}  // namespace stormcell::reference
