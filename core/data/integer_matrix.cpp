#include "core/data/integer_matrix.h"

#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "core/base/error.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {
template <class T>
int64_t load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);  // need not be aligned
  if constexpr (std::is_same_v<T, uint64_t>)
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) return std::numeric_limits<int64_t>::max();
  return static_cast<int64_t>(value);
}

using Loader = int64_t (*)(const std::byte*);
Loader loader_for(DType type) {
  switch (type) {
    case DType::i8:
      return load<int8_t>;
    case DType::u8:
    case DType::boolean:
      return load<uint8_t>;
    case DType::i16:
      return load<int16_t>;
    case DType::u16:
      return load<uint16_t>;
    case DType::i32:
      return load<int32_t>;
    case DType::u32:
      return load<uint32_t>;
    case DType::i64:
      return load<int64_t>;
    case DType::u64:
      return load<uint64_t>;
    default:
      return nullptr;
  }
}
}  // namespace

bool IntegerMatrix::may_hold(DType type) { return loader_for(type) != nullptr; }

IntegerMatrix::IntegerMatrix(const std::string& where, const std::string& name, DType type,
                             std::span<const int64_t> shape, FileRange bytes)
    : where_(where), name_(name), bytes_(std::move(bytes)), load_(loader_for(type)), element_(element_size(type)) {
  if (!load_)
    bad_input(where, name + " holds " + std::string(to_text(type)) + ", expected integers",
              "save token ids as int32 or int64");
  if (shape.size() != 2)
    bad_input(where, name + " has the shape " + shape_text(shape) + ", expected [sequences, length]",
              "one row for each sequence, padded to the same length");
  rows_ = shape[0];
  columns_ = shape[1];
  if (rows_ == 0 || columns_ == 0)
    bad_input(where, name + " is empty: " + shape_text(shape), "there must be at least one sequence with one token");
}

std::vector<int32_t> IntegerMatrix::row(int64_t index) const {
  std::vector<int32_t> values(columns_);
  static thread_local std::vector<std::byte> row;  // used again for each row
  row.resize(values.size() * element_);
  bytes_.read(static_cast<size_t>(index) * row.size(), row);
  for (size_t i = 0; i < values.size(); ++i) {
    const int64_t value = load_(row.data() + i * element_);
    if (value != static_cast<int32_t>(value))
      bad_input(where_,
                name_ + ": sequence " + std::to_string(index) + ", position " + std::to_string(i) + ": " +
                    std::to_string(value) + " is out of range",
                "expected 32-bit token ids");
    values[i] = static_cast<int32_t>(value);
  }
  return values;
}

std::vector<int32_t> IntegerMatrix::mask_row(int64_t index) const {
  std::vector<int32_t> values = row(index);
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i] != 0 && values[i] != 1)
      bad_input(where_,
                name_ + ": sequence " + std::to_string(index) + ", position " + std::to_string(i) +
                    ": expected 0 or 1, got " + std::to_string(values[i]),
                "a mask is 1 where there is data and 0 in the padding");
  return values;
}

}  // namespace stormcell
