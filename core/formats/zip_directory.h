// The directory of a ZIP archive: names, sizes and places of its entries. Only the directory is read.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class HeaderBytes;

struct ZipEntry {
  std::string name;
  uint64_t header = 0;  ///< offset of its local header
  uint64_t size = 0;    ///< bytes, unpacked
  uint64_t packed = 0;  ///< bytes in the file
  uint16_t method = 0;  ///< 0: stored
};

class ZipDirectory {
 public:
  /// Error(bad_input) that names the file: no archive, damaged, encrypted, on several disks, or more than 2^20 entries.
  explicit ZipDirectory(HeaderBytes& bytes);

  /// Entries in the order of the directory.
  const std::vector<ZipEntry>& entries() const { return entries_; }
  /// The first entry whose name is `name`, or ends with "/" + `name`; null: there is none.
  const ZipEntry* find_ending(std::string_view name) const;
  /// The offset of an entry's bytes; reads its local header, and leaves `bytes` there. Error(bad_input) if the entry is
  /// not within the file.
  uint64_t go_to_data(HeaderBytes& bytes, const ZipEntry& entry) const;

 private:
  std::vector<ZipEntry> entries_;
};

}  // namespace stormcell
