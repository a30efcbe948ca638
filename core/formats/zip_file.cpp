// APPNOTE.TXT of PKWARE, 4.3: local headers with the entries' bytes, a central directory, its end record; Zip64
// (4.3.14) for large ones.
#include "core/formats/zip_file.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50,
                   kLocator64 = 0x07064b50;
constexpr uint64_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20,
                   kMostComment = 65535;
constexpr uint16_t kIn64 = 0xffff;
constexpr uint32_t kIn64Wide = 0xffffffff;
constexpr uint64_t kMostEntries = 1 << 20;

struct Directory {
  uint64_t begin = 0, size = 0, entries = 0;
};

struct Entry {
  std::string name;
  uint64_t header = 0, size = 0;  ///< where its local header begins
};

class Reader {
 public:
  Reader(std::span<const std::byte> bytes, const std::string& path) : bytes_(bytes), path_(path) {}

  std::map<std::string, std::span<const std::byte>, std::less<>> read() {
    const Directory directory = find_directory();
    if (directory.entries > kMostEntries)
      wrong("has " + with_commas(static_cast<int64_t>(directory.entries)) + " entries");
    std::vector<std::pair<uint64_t, uint64_t>> taken;  // [begin, end) of headers and bytes
    std::map<std::string, std::span<const std::byte>, std::less<>> entries;
    uint64_t at = directory.begin;
    for (uint64_t i = 0; i < directory.entries; ++i) {
      const Entry entry = read_central(at);
      const uint64_t begin = data_of(entry);
      if (entry.size > bytes_.size() - begin)
        wrong(in_quotes(entry.name) + " is longer than the file", "it may be truncated; copy it again");
      taken.push_back({entry.header, begin + entry.size});
      if (!entries.emplace(entry.name, bytes_.subspan(begin, entry.size)).second)
        wrong(in_quotes(entry.name) + " occurs twice");
    }
    if (at != directory.begin + directory.size) wrong("its directory has another size than it says");
    std::sort(taken.begin(), taken.end());
    for (size_t i = 1; i < taken.size(); ++i)
      if (taken[i].first < taken[i - 1].second) wrong("two of its entries lie in the same bytes");
    return entries;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = "write it again") const {
    bad_input(path_, "as a ZIP archive it is damaged: " + what, advice);
  }

  template <class T>
  T number(uint64_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T))
      wrong("it ends in the middle", "it may be truncated; copy it again");
    T value;
    std::memcpy(&value, bytes_.data() + at, sizeof value);
    return value;
  }
  void expect(uint64_t at, uint32_t signature, const char* what) const {
    if (number<uint32_t>(at) != signature) wrong(std::string("no ") + what + " where one should be");
  }

  Directory find_directory() const {
    if (bytes_.size() < kEndSize) wrong("it ends in the middle", "it may be truncated; copy it again");
    const uint64_t last = bytes_.size() - kEndSize, first = last > kMostComment ? last - kMostComment : 0;
    for (uint64_t at = last + 1; at-- > first;) {
      if (number<uint32_t>(at) != kEnd || number<uint16_t>(at + 20) != bytes_.size() - at - kEndSize) continue;
      if (number<uint16_t>(at + 4) != 0 && number<uint16_t>(at + 4) != kIn64) wrong("it is one of several disks");
      Directory d{number<uint32_t>(at + 16), number<uint32_t>(at + 12), number<uint16_t>(at + 10)};
      const bool wide = d.begin == kIn64Wide || d.size == kIn64Wide || d.entries == kIn64;
      if (wide && at >= kLocatorSize && number<uint32_t>(at - kLocatorSize) == kLocator64) {
        const auto end = number<uint64_t>(at - kLocatorSize + 8);
        if (end > bytes_.size() || bytes_.size() - end < kEnd64Size) wrong("its end record lies beyond the file");
        expect(end, kEnd64, "end record");
        d = {number<uint64_t>(end + 48), number<uint64_t>(end + 40), number<uint64_t>(end + 32)};
      }
      if (d.begin > at || d.size > at - d.begin || d.entries > d.size / kCentralSize)
        wrong("its directory lies beyond its end");
      return d;
    }
    wrong("its directory is missing", "it may be truncated; copy it again");
  }

  /// Moves `at` behind the record.
  Entry read_central(uint64_t& at) const {
    expect(at, kCentral, "entry of the directory");
    const auto flags = number<uint16_t>(at + 8), method = number<uint16_t>(at + 10);
    const auto name_size = number<uint16_t>(at + 28), extra_size = number<uint16_t>(at + 30),
               comment_size = number<uint16_t>(at + 32);
    Entry entry{text(at + kCentralSize, name_size), number<uint32_t>(at + 42), number<uint32_t>(at + 24)};
    uint64_t packed = number<uint32_t>(at + 20);
    if (flags & 1) wrong(in_quotes(entry.name) + " is encrypted");
    if (method != 0) wrong(in_quotes(entry.name) + " is compressed, torch.save() stores", "write it with torch.save()");
    widen(at + kCentralSize + name_size, extra_size, entry, packed);
    if (packed != entry.size) wrong(in_quotes(entry.name) + " is stored and has two sizes");
    at += kCentralSize + name_size + extra_size + comment_size;
    return entry;
  }

  /// The Zip64 field of an entry holds those of its sizes that do not fit, in this order.
  void widen(uint64_t at, uint64_t size, Entry& entry, uint64_t& packed) const {
    for (const uint64_t end = at + size; at + 4 <= end;) {
      const auto id = number<uint16_t>(at), length = number<uint16_t>(at + 2);
      at += 4;
      if (length > end - at) wrong("a field of " + in_quotes(entry.name) + " is too long");
      if (id == 1) {
        uint64_t from = at;
        for (uint64_t* value : {&entry.size, &packed, &entry.header}) {
          if (*value != kIn64Wide) continue;
          if (at + length - from < 8) wrong("a field of " + in_quotes(entry.name) + " is too short");
          *value = number<uint64_t>(from);
          from += 8;
        }
      }
      at += length;
    }
  }

  /// Where the bytes of an entry begin.
  uint64_t data_of(const Entry& entry) const {
    if (entry.header > bytes_.size() || bytes_.size() - entry.header < kLocalSize)
      wrong(in_quotes(entry.name) + " lies beyond the file");
    expect(entry.header, kLocal, "header of an entry");
    const uint64_t begin =
        entry.header + kLocalSize + number<uint16_t>(entry.header + 26) + number<uint16_t>(entry.header + 28);
    if (begin > bytes_.size()) wrong(in_quotes(entry.name) + " lies beyond the file");
    return begin;
  }

  std::string text(uint64_t at, uint64_t size) const {
    if (at > bytes_.size() || bytes_.size() - at < size)
      wrong("it ends in the middle", "it may be truncated; copy it again");
    return {reinterpret_cast<const char*>(bytes_.data()) + at, size};
  }

  std::span<const std::byte> bytes_;
  const std::string& path_;
};

}  // namespace

ZipFile::ZipFile(std::span<const std::byte> bytes, const std::string& path) : entries_(Reader(bytes, path).read()) {}

}  // namespace stormcell
