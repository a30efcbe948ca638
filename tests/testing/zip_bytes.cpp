#include "tests/testing/zip_bytes.h"

#include <cstdint>

namespace stormcell::testing {
namespace {

std::string little_endian(uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> 8 * i);
  return text;
}

}  // namespace

std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& entries) {
  std::string file, directory;
  for (const auto& [name, bytes] : entries) {
    // Version, flags, method, time and date, a checksum that nobody reads, both sizes, lengths of name and extra field.
    const std::string common = little_endian(20, 2) + little_endian(0, 2) + little_endian(0, 2) + little_endian(0, 4) +
                               little_endian(0, 4) + little_endian(bytes.size(), 4) + little_endian(bytes.size(), 4) +
                               little_endian(name.size(), 2) + little_endian(0, 2);
    directory += "PK\x01\x02" + little_endian(20, 2) + common + little_endian(0, 2) + little_endian(0, 2) +
                 little_endian(0, 2) + little_endian(0, 4) + little_endian(file.size(), 4) + name;
    file += "PK\x03\x04" + common + name + bytes;
  }
  return file + directory + "PK\x05\x06" + little_endian(0, 4) + little_endian(entries.size(), 2) +
         little_endian(entries.size(), 2) + little_endian(directory.size(), 4) + little_endian(file.size(), 4) +
         little_endian(0, 2);
}

}  // namespace stormcell::testing
