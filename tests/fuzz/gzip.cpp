#include <string>

#include "core/formats/gzip_file.h"
#include "tests/fuzz/fuzz.h"
#include "tests/testing/gzip_bytes.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(gzip) {
  static const fuzz::MemoryFile file, packed;
  static constexpr GzipLimits kLimits = {size_t{1} << 20, 1000};
  fuzz::refused_or_done([&] {
    const std::string& path = file.holding(data, size);
    const OpenFile open = open_unpacked(path, {}, kLimits);
    fuzz::require(open.path() == path, "the name stays");
    fuzz::require(!is_gzip(std::string_view(reinterpret_cast<const char*>(data), size)) || open.size() <= kLimits.bytes,
                  "the limit holds");
  });
  // Packed bytes are unpacked unchanged.
  const std::string text(reinterpret_cast<const char*>(data), size), member = testing::gzip_of(text);
  if (text.size() < kLimits.bytes)
    fuzz::require(read_unpacked_text(packed.holding(reinterpret_cast<const uint8_t*>(member.data()), member.size()),
                                     kLimits.bytes) == text,
                  "what was packed is unpacked");
  return 0;
}
