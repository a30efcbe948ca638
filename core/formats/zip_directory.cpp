// APPNOTE.TXT of PKWARE, 4.3: local headers with the entries' bytes, a central directory, its end record; Zip64
// (4.3.14) for large ones.
#include "core/formats/zip_directory.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"

namespace stormcell {
namespace {

constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr uint64_t kLocalSize = 30, kCentralSize = 46, kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20,
                   kMostComment = 65535;
constexpr uint16_t kIn64 = 0xffff;
constexpr uint32_t kIn64Wide = 0xffffffff;
constexpr uint64_t kMostEntries = 1 << 20;

struct ZipEnd {
  uint64_t begin = 0, size = 0, entries = 0;
};

class ZipReader {
 public:
  explicit ZipReader(HeaderBytes& bytes) : bytes_(bytes) {}

  std::vector<ZipEntry> read() {
    const ZipEnd end = find_end();
    if (end.entries > kMostEntries) wrong("has " + with_commas(static_cast<int64_t>(end.entries)) + " entries");
    std::vector<ZipEntry> entries;
    uint64_t at = end.begin;
    for (uint64_t i = 0; i < end.entries; ++i) entries.push_back(read_central(at));
    if (at != end.begin + end.size) wrong("its directory has another size than it says");
    return entries;
  }

  /// The offset at which the bytes of an entry begin.
  uint64_t data_of(const ZipEntry& entry) {
    if (entry.header > bytes_.size() || bytes_.size() - entry.header < kLocalSize)
      wrong(in_quotes(entry.name) + " is beyond the end of the file");
    expect(entry.header, kLocal, "header of an entry");
    const uint64_t begin =
        entry.header + kLocalSize + number<uint16_t>(entry.header + 26) + number<uint16_t>(entry.header + 28);
    if (begin > bytes_.size()) wrong(in_quotes(entry.name) + " is beyond the end of the file");
    if (entry.packed > bytes_.size() - begin)
      wrong(in_quotes(entry.name) + " is longer than the file", "it may be truncated; copy it again");
    return begin;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = "write it again") const {
    bad_input(bytes_.where(), "as a ZIP archive it is damaged: " + what, advice);
  }

  template <class T>
  T number(uint64_t at) {
    if (at > bytes_.size() || bytes_.size() - at < sizeof(T))
      wrong("it ends in the middle", "it may be truncated; copy it again");
    bytes_.go_to(at);
    return bytes_.take<T>();
  }
  void expect(uint64_t at, uint32_t signature, const char* what) {
    if (number<uint32_t>(at) != signature) wrong(std::string("no ") + what + " where one should be");
  }

  ZipEnd find_end() {
    if (bytes_.size() < kEndSize) wrong("it ends in the middle", "it may be truncated; copy it again");
    const uint64_t last = bytes_.size() - kEndSize, first = last > kMostComment ? last - kMostComment : 0;
    bytes_.go_to(first);
    const std::string tail = bytes_.take_text(bytes_.rest(), kMostComment + kEndSize);
    constexpr std::string_view kEndMark = "PK\5\6";
    for (uint64_t at = last + 1; at-- > first;) {
      if (!std::string_view(tail).substr(at - first).starts_with(kEndMark) ||
          number<uint16_t>(at + 20) != bytes_.size() - at - kEndSize)
        continue;
      if (number<uint16_t>(at + 4) != 0 && number<uint16_t>(at + 4) != kIn64) wrong("it is one of several disks");
      ZipEnd d{number<uint32_t>(at + 16), number<uint32_t>(at + 12), number<uint16_t>(at + 10)};
      const bool wide = d.begin == kIn64Wide || d.size == kIn64Wide || d.entries == kIn64;
      if (wide && at >= kLocatorSize && number<uint32_t>(at - kLocatorSize) == kLocator64) {
        const auto end = number<uint64_t>(at - kLocatorSize + 8);
        if (end > bytes_.size() || bytes_.size() - end < kEnd64Size)
          wrong("its end record is beyond the end of the file");
        expect(end, kEnd64, "end record");
        d = {number<uint64_t>(end + 48), number<uint64_t>(end + 40), number<uint64_t>(end + 32)};
      }
      if (d.begin > at || d.size > at - d.begin || d.entries > d.size / kCentralSize)
        wrong("its directory is beyond its end");
      return d;
    }
    wrong("its directory is missing", "it may be truncated; copy it again");
  }

  /// Moves `at` behind the record.
  ZipEntry read_central(uint64_t& at) {
    expect(at, kCentral, "entry of the directory");
    const auto flags = number<uint16_t>(at + 8);
    const auto name_size = number<uint16_t>(at + 28), extra_size = number<uint16_t>(at + 30),
               comment_size = number<uint16_t>(at + 32);
    ZipEntry entry{text(at + kCentralSize, name_size), number<uint32_t>(at + 42), number<uint32_t>(at + 24),
                   number<uint32_t>(at + 20), number<uint16_t>(at + 10)};
    if (flags & 1) wrong(in_quotes(entry.name) + " is encrypted");
    widen(at + kCentralSize + name_size, extra_size, entry);
    if (entry.method == 0 && entry.packed != entry.size) wrong(in_quotes(entry.name) + " is stored and has two sizes");
    at += kCentralSize + name_size + extra_size + comment_size;
    return entry;
  }

  /// The Zip64 field of an entry holds those of its sizes that do not fit, in this order.
  void widen(uint64_t at, uint64_t size, ZipEntry& entry) {
    for (const uint64_t end = at + size; at + 4 <= end;) {
      const auto id = number<uint16_t>(at), length = number<uint16_t>(at + 2);
      at += 4;
      if (length > end - at) wrong("a field of " + in_quotes(entry.name) + " is too long");
      if (id == 1) {
        uint64_t from = at;
        for (uint64_t* value : {&entry.size, &entry.packed, &entry.header}) {
          if (*value != kIn64Wide) continue;
          if (at + length - from < 8) wrong("a field of " + in_quotes(entry.name) + " is too short");
          *value = number<uint64_t>(from);
          from += 8;
        }
      }
      at += length;
    }
  }

  std::string text(uint64_t at, uint64_t size) {
    if (at > bytes_.size() || bytes_.size() - at < size)
      wrong("it ends in the middle", "it may be truncated; copy it again");
    bytes_.go_to(at);
    return bytes_.take_text(size, size);
  }

  HeaderBytes& bytes_;
};

}  // namespace

ZipDirectory::ZipDirectory(HeaderBytes& bytes) : entries_(ZipReader(bytes).read()) {}

const ZipEntry* ZipDirectory::find_ending(std::string_view name) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const ZipEntry& entry) {
    const std::string_view whole = entry.name;
    return whole.ends_with(name) && (whole.size() == name.size() || whole[whole.size() - name.size() - 1] == '/');
  });
  return found == entries_.end() ? nullptr : &*found;
}

uint64_t ZipDirectory::go_to_data(HeaderBytes& bytes, const ZipEntry& entry) const {
  const uint64_t begin = ZipReader(bytes).data_of(entry);
  bytes.go_to(begin);
  return begin;
}

}  // namespace stormcell
