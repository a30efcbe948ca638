// Reads elements of arrays of whole numbers of any width.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/base/dtype.h"

namespace stormcell {

inline bool is_whole_type(DType type) {
  return type == DType::i8 || type == DType::u8 || type == DType::i16 || type == DType::u16 || type == DType::i32 ||
         type == DType::u32 || type == DType::i64 || type == DType::u64;
}

/// Reads element `index` of an array of is_whole_type(). Numbers from 2^63 on become negative. The data may be
/// unaligned.
inline int64_t whole_number_at(const std::byte* data, DType type, size_t index) {
  const auto value = [&]<class T>(T v) {
    std::memcpy(&v, data + index * sizeof v, sizeof v);
    return static_cast<int64_t>(v);
  };
  switch (type) {
    case DType::i32:
      return value(int32_t{});
    case DType::i64:
      return value(int64_t{});
    case DType::u32:
      return value(uint32_t{});
    case DType::u64:
      return value(uint64_t{});
    case DType::i16:
      return value(int16_t{});
    case DType::u16:
      return value(uint16_t{});
    case DType::i8:
      return value(int8_t{});
    default:
      return value(uint8_t{});
  }
}

}  // namespace stormcell
