#include "core/formats/json_lines.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

namespace {

struct Read {
  std::vector<nlohmann::json> values;
  std::vector<int64_t> lines;
  int64_t empty = 0;
};

template <class... Source>
std::optional<Read> read_all(Source&&... source) {
  std::optional<Read> all;
  fuzz::refused_or_done([&] {
    JsonLines lines(source...);
    Read read;
    for (nlohmann::json value; lines.next(value);) {
      fuzz::require(read.lines.empty() || lines.line() >= read.lines.back(), "lines ascend");
      read.values.push_back(value), read.lines.push_back(lines.line());
    }
    read.empty = lines.lines().empty_lines().count;
    all = std::move(read);
  });
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFile file;
  if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) return 0;  // a file would be unpacked
  const auto of_text = read_all(std::string_view(reinterpret_cast<const char*>(data), size), std::string("input"));
  const auto of_file = read_all(file.holding(data, size), size_t{1} << 20, Progress{});
  fuzz::require(of_text.has_value() == of_file.has_value(), "a file and its text are both read or neither");
  if (of_text)
    fuzz::require(of_text->lines == of_file->lines && of_text->empty == of_file->empty && of_text->values.size() == of_file->values.size(),
                  "a file and its text hold the same");
  return 0;
}
