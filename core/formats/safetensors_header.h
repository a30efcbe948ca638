// The JSON header of a safetensors file: parsed and fully checked, without the file.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"

namespace stormcell {

inline constexpr uint64_t kMaxSafetensorsHeader = 100'000'000;  // the limit of the reference implementation

struct SafetensorsEntry {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;
  int64_t begin = 0, end = 0;  ///< bytes, from the end of the header
};

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;  ///< in the order of their names
  std::map<std::string, std::string> metadata;
};

/// Bytes of the JSON header, which follows the number that states them: `first` holds the first 8 bytes of the file, or
/// all if there are fewer. Throws Error(bad_input) if the file of `file_bytes` is too short for them. The caller can
/// then use the bytes to check for another kind of file.
size_t safetensors_header_size(std::span<const std::byte> first, size_t file_bytes, const std::string& where);
/// Checks that the ranges of the tensors fit their shapes and cover `data_bytes` exactly, without hole or overlap.
SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t data_bytes, const std::string& where);

/// "F32", "BF16", ...: the names of the format.
std::string_view safetensors_dtype_name(DType type);

}  // namespace stormcell
