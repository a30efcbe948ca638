// Safetensors files for tests, written by hand so that they can be wrong.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell::testing {

inline std::string safetensors_bytes(std::string_view header, size_t data_bytes, char fill = 0) {
  const uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += header;
  bytes.append(data_bytes, fill);
  return bytes;
}

}  // namespace stormcell::testing
