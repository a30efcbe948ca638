// ZIP archives whose entries are stored, not compressed, as torch.save() writes them: names and bytes, nothing
// unpacked.
#pragma once
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace stormcell {

class ZipFile {
 public:
  /// Checks the whole directory: entries are within the file and do not overlap, so that together they are no larger
  /// than the file. Error(bad_input) that names `path`: no archive, damaged, compressed, encrypted, or on several
  /// disks. `bytes` must outlive it.
  ZipFile(std::span<const std::byte> bytes, const std::string& path);

  /// Entries by name. Their bytes are not read.
  const std::map<std::string, std::span<const std::byte>, std::less<>>& entries() const { return entries_; }
  /// Empty: there is none.
  std::span<const std::byte> find(std::string_view name) const {
    const auto found = entries_.find(name);
    return found == entries_.end() ? std::span<const std::byte>() : found->second;
  }
  static bool is_one(std::string_view content) { return content.starts_with("PK\x03\x04"); }

 private:
  std::map<std::string, std::span<const std::byte>, std::less<>> entries_;
};

}  // namespace stormcell
