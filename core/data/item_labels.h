// The tensor `labels` of a .safetensors file: a number an item, or one a cell.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/data/integer_matrix.h"
#include "core/data/sequence_source.h"

namespace stormcell {

class TensorFile;

/// Labels [items] name the items, for loads by label, whatever the model takes; a model that asks for labels takes them
/// as numbers, and takes labels [items, cells of an item], too.
class ItemLabels {
 public:
  ItemLabels() = default;
  /// Reads nothing if the file has no labels, or labels with two extents that the model does not ask for.
  /// Error(bad_input) if they do not fit `items`.
  ItemLabels(const TensorFile& file, const DataOptions& options, int64_t items);
  /// Each item has a name.
  bool name_items() const { return names_; }
  /// Each item has the numbers that the model asks for.
  bool are_taken() const { return taken_; }
  void put(int64_t index, Sequence& item) const;

 private:
  std::optional<IntegerMatrix> values_;
  std::vector<std::string> classes_;
  bool names_ = false, taken_ = false;
};

}  // namespace stormcell
