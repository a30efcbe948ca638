// The JSON header of a safetensors file: parsed and fully checked, without the file.
#pragma once
#include <cstdint>
#include <map>
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

/// Checks that the ranges of the tensors fit their shapes and cover `data_bytes` exactly, without hole or overlap.
SafetensorsHeader parse_safetensors_header(std::string_view json, int64_t data_bytes, const std::string& where);

/// "F32", "BF16", ...: the names of the format.
std::string_view safetensors_dtype_name(DType type);

}  // namespace stormcell
