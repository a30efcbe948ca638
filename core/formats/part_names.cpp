#include "core/formats/part_names.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"
#include "core/formats/open_file.h"
#include "core/formats/unfinished_download.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 3> kPartEndings = {".gguf", ".safetensors", ".bin"};
constexpr std::string_view kPartMark = "-of-";
constexpr size_t kPartDigits = 5, kMostParts = 1024, kMostNamedParts = 3;

/// The number that five digits before `end` are.
std::optional<size_t> digits_before(std::string_view name, size_t end) {
  if (end < kPartDigits) return std::nullopt;
  size_t number = 0;
  const char* from = name.data() + end - kPartDigits;
  const auto [after, error] = std::from_chars(from, from + kPartDigits, number);
  if (error != std::errc() || after != from + kPartDigits) return std::nullopt;
  return number;
}

std::string five_digits(size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kPartDigits - std::min(kPartDigits, digits.size()), '0') + digits;
}

std::string last_part(const std::string& path) { return std::filesystem::path(path).filename().string(); }

}  // namespace

std::optional<PartName> part_name(std::string_view path) {
  const auto ending =
      std::find_if(kPartEndings.begin(), kPartEndings.end(), [&](std::string_view e) { return path.ends_with(e); });
  if (ending == kPartEndings.end()) return std::nullopt;
  const size_t end = path.size() - ending->size();
  const auto of = digits_before(path, end);
  if (!of || end < 2 * kPartDigits + kPartMark.size() + 1) return std::nullopt;
  const size_t mark = end - kPartDigits - kPartMark.size();
  const auto number = digits_before(path, mark);
  if (path.substr(mark, kPartMark.size()) != kPartMark || !number || path[mark - kPartDigits - 1] != '-')
    return std::nullopt;
  if (*number < 1 || *number > *of || *of > kMostParts) return std::nullopt;
  return PartName{std::string(path.substr(0, mark - kPartDigits - 1)), std::string(*ending), *number, *of};
}

std::vector<std::string> all_parts(const std::string& path) {
  const std::optional<PartName> name = part_name(path);
  if (!name) return {path};
  std::vector<std::string> parts;
  for (size_t i = 1; i <= name->of; ++i)
    parts.push_back(name->base + "-" + five_digits(i) + std::string(kPartMark) + five_digits(name->of) + name->ending);
  return parts;
}

std::string download_beside(const std::string& path) {
  for (const std::string_view ending : kUnfinishedEndings)
    if (const std::string other = path + std::string(ending); has_entry(other)) return last_part(other);
  return {};
}

void check_parts_are_there(const std::string& path, const std::vector<std::string>& parts) {
  std::vector<std::string> missing;
  std::string download;
  for (const std::string& part : parts) {
    if (has_entry(part)) continue;
    missing.push_back(in_quotes(last_part(part)));
    if (download.empty()) download = download_beside(part);
  }
  if (missing.empty()) return;
  bad_input(path,
            "is one of " + counted(std::ssize(parts), "part") + " of a model, of which " +
                with_commas(std::ssize(missing)) + (missing.size() == 1 ? " is" : " are") +
                " not beside it: " + listed(missing, kMostNamedParts),
            download.empty() ? "download them again"
                             : "wait until the download is finished: " + in_quotes(download) + " is a part of it");
}

}  // namespace stormcell
