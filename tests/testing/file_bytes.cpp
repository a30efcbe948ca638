#include "tests/testing/file_bytes.h"

namespace stormcell::testing {

std::string safetensors_bytes(std::string_view header, size_t data_bytes, char fill) {
  const uint64_t size = header.size();
  std::string bytes(reinterpret_cast<const char*>(&size), sizeof size);
  bytes += header;
  bytes.append(data_bytes, fill);
  return bytes;
}

std::string npy_bytes(std::string_view header, std::string_view data, int version) {
  const size_t size = header.size() + 1;
  std::string bytes = "\x93NUMPY";
  bytes += static_cast<char>(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += static_cast<char>(size >> (8 * i) & 0xFF);
  bytes += header;
  bytes += '\n';
  return bytes.append(data);
}

std::string npy_header(const std::string& shape, const std::string& type) {
  constexpr size_t kBefore = 10;  // magic, version, length
  std::string header = "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }";
  header.resize((kBefore + header.size() + 1 + 63) / 64 * 64 - kBefore - 1, ' ');
  return header;
}

}  // namespace stormcell::testing
