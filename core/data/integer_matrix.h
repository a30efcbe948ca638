// A matrix of integers of any width in a file, read row by row.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "core/formats/file_range.h"

namespace stormcell {

class IntegerMatrix {
 public:
  /// Throws Error(bad_input) if it is no matrix of integers, or empty.
  IntegerMatrix(const std::string& where, const std::string& name, DType type, std::span<const int64_t> shape,
                FileRange bytes);
  /// True for formats of integers.
  static bool may_hold(DType type);
  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  /// Throws Error(bad_input) if a value does not fit into 32 bits; mask_row() if one is neither 0 nor 1; and as
  /// FileRange::read().
  std::vector<int32_t> row(int64_t index) const;
  std::vector<int32_t> mask_row(int64_t index) const;

 private:
  std::string where_, name_;
  FileRange bytes_;
  int64_t (*load_)(const std::byte*);
  size_t element_;
  int64_t rows_ = 0, columns_ = 0;
};

}  // namespace stormcell
