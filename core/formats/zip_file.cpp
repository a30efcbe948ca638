#include "core/formats/zip_file.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/zip_directory.h"

namespace stormcell {

ZipFile::ZipFile(std::span<const std::byte> bytes, const std::string& path) {
  const auto wrong = [&](const std::string& what, const char* advice = "write it again") {
    bad_input(path, "as a ZIP archive it is damaged: " + what, advice);
  };
  HeaderBytes header_bytes(bytes, path);
  const ZipDirectory directory(header_bytes);
  std::vector<std::pair<uint64_t, uint64_t>> taken;  // [begin, end) of headers and bytes
  for (const ZipEntry& entry : directory.entries()) {
    if (entry.method != 0)
      wrong(in_quotes(entry.name) + " is compressed, torch.save() stores", "write it with torch.save()");
    const uint64_t begin = directory.go_to_data(header_bytes, entry);
    taken.push_back({entry.header, begin + entry.size});
    if (!entries_.emplace(entry.name, bytes.subspan(begin, entry.size)).second)
      wrong(in_quotes(entry.name) + " occurs twice");
  }
  std::sort(taken.begin(), taken.end());
  for (size_t i = 1; i < taken.size(); ++i)
    if (taken[i].first < taken[i - 1].second) wrong("two of its entries share the same bytes");
}

}  // namespace stormcell
