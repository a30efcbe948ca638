#include "core/formats/json_lines.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/formats/json_file.h"
#include "core/formats/text_encoding.h"

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

namespace {

struct Read {
  std::vector<std::string> values;  // values such as NaN remember their file, texts do not
  std::vector<int64_t> lines;
  int64_t empty = 0;
};

template <class... Source>
std::optional<Read> read_lines(Source&&... source) {
  std::optional<Read> all;
  fuzz::refused_or_done([&] {
    JsonLines lines(source...);
    Read read;
    for (nlohmann::json value; lines.next(value);) {
      fuzz::require(read.lines.empty() || lines.line() >= read.lines.back(), "lines ascend");
      read.values.push_back(shown_json(value)), read.lines.push_back(lines.line());
    }
    read.empty = lines.lines().empty_lines().count;
    all = std::move(read);
  });
  return all;
}

/// True if the text has no mark of an encoding and no carriage return, so that line feeds separate its lines.
bool is_plain(std::string_view text) {
  return text.find('\r') == std::string_view::npos && text.find('\0') == std::string_view::npos &&
         !text.starts_with("\xEF\xBB\xBF") && wide_encoding(text).empty();
}

/// An object on each filled line, split and parsed without the reader. Nothing: the text is not of that form.
std::optional<Read> read_line_by_line(std::string_view text) {
  Read read;
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + (line.size() < text.size()));
    const size_t first = line.find_first_not_of(" \t\v\f");
    if (first == std::string_view::npos) {
      ++read.empty;
      continue;
    }
    // One comma may be at the end of a line.
    const size_t last = line.find_last_not_of(" \t\v\f");
    const std::string_view object = line.substr(0, line[last] == ',' ? last : line.size());
    const nlohmann::json value = line[first] == '{' ? nlohmann::json::parse(object, nullptr, false) : nlohmann::json();
    if (!value.is_object()) return {};
    read.values.push_back(shown_json(value)), read.lines.push_back(number);
  }
  return read;
}

void require_alike(const Read& a, const Read& b, int64_t lines_before, const char* what) {
  fuzz::require(a.values == b.values && a.empty + lines_before == b.empty && a.lines.size() == b.lines.size(), what);
  for (size_t i = 0; i < a.lines.size(); ++i) fuzz::require(a.lines[i] + lines_before == b.lines[i], what);
}

}  // namespace

STORMCELL_FUZZ_TARGET(json_lines) {
  static const fuzz::MemoryFile file;
  if (size >= 2 && data[0] == 0x1f && data[1] == 0x8b) return 0;  // a file would be unpacked
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto of_text = read_lines(text, std::string("input"));
  const auto of_file = read_lines(file.holding(data, size), size_t{1} << 20, Progress{});
  fuzz::require(of_text.has_value() == of_file.has_value(), "a file and its text are both read or neither");
  if (of_text) require_alike(*of_text, *of_file, 0, "a file and its text hold the same");
  if (size == 0 || !is_plain(text)) return 0;
  // Only the reader refuses keys that occur twice and similar defects, so its refusals are not compared.
  if (const auto expected = read_line_by_line(text); expected && of_text)
    require_alike(*expected, *of_text, 0, "the reader gives the values, lines and empty lines of a plain split");
  // A blank line before the text lets the first block of the file end anywhere in it. This is done for one input in
  // four, because it takes a mebibyte.
  constexpr size_t kBlock = size_t{1} << 20;
  if (size >= kBlock || (data[0] ^ data[size - 1]) % 4 != 0) return 0;
  const size_t in_first = (size_t{data[size / 2]} << 8 | data[size - 1]) % size;
  const std::string padded = std::string(kBlock - in_first - 1, ' ') + "\n" + std::string(text);
  const auto of_blocks =
      read_lines(file.holding(reinterpret_cast<const uint8_t*>(padded.data()), padded.size()), kBlock, Progress{});
  fuzz::require(of_text.has_value() == of_blocks.has_value(), "a text is read in one block and in two, or in neither");
  if (of_text) require_alike(*of_text, *of_blocks, 1, "a text holds the same in one block and in two");
  return 0;
}
