// One batch of a dataset: the inputs of a model by name, and the origin of their cells.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/cell/cell_space.h"
#include "core/cell/input_spec.h"

namespace stormcell {

/// The values of one input, in C order, padded to the longest item of the batch.
struct BatchInput {
  std::string name;
  InputRole role = InputRole::none;
  std::vector<int64_t> shape;     ///< [cells, content...]
  std::vector<int32_t> integers;  ///< of an i32 input
  std::vector<float> reals;       ///< of an f32 input
};

/// The cells of one space, item after item; their parents are the items.
struct BatchCells {
  std::string name;
  std::string parent;         ///< of the cells: the space of the items; empty: they are the items
  bool holds_tokens = false;  ///< its cells hold token ids, in sequence
  int32_t per_item = 1;       ///< padding included
  std::vector<int32_t> real;  ///< [cells] 1: a real cell, 0: padding; empty: all are real
};

struct Batch {
  int64_t index = 0;
  std::vector<int64_t> items;  ///< number of each in the data set, in the order of the rows; not always consecutive
  PictureSize picture;         ///< of every item; 0x0: they have none
  std::vector<BatchCells> spaces;
  std::vector<BatchInput> inputs;
  std::vector<std::string> texts, targets, labels;  ///< one an item, or empty when the data has none
  std::vector<std::vector<int32_t>> target_ids;     ///< with the end token; one an item, or empty
  int64_t truncated = 0;                            ///< items that were cut

  int64_t size() const { return std::ssize(items); }
  /// Null if there is no such input.
  const BatchInput* find_input(std::string_view name) const;
  const BatchCells* find_space(std::string_view name) const;
  /// Values of an i32 input; empty if the batch has none.
  const std::vector<int32_t>& integers(std::string_view input) const;
  /// Real cells of the spaces that hold tokens; if none does, items.
  int64_t real_cells() const;
  /// True if the items' numbers follow each other.
  bool is_consecutive() const;
  /// The table of a space with `per_item` cells for each item.
  CellTable cell_table(int64_t per_item) const;
};

}  // namespace stormcell
