// Marks in text.
#include <algorithm>
#include <array>
#include <vector>

#include "core/base/listed_words.h"
#include "core/formats/delimited_text.h"
#include "core/formats/file_marks.h"
#include "core/formats/file_text.h"
#include "core/formats/text_encoding.h"

namespace stormcell {
namespace {

using namespace std::string_view_literals;

/// The text from its first character that is not a blank.
std::string_view from_first_word(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text = without_mark(text);
  return text.substr(std::min(text.find_first_not_of(kBlanks), text.size()));
}

bool begins_like(std::string_view text, std::string_view small_letters) {
  if (text.size() < small_letters.size()) return false;
  for (size_t i = 0; i < small_letters.size(); ++i)
    if ((text[i] >= 'A' && text[i] <= 'Z' ? static_cast<char>(text[i] - 'A' + 'a') : text[i]) != small_letters[i])
      return false;
  return true;
}

/// A text in quotes, without control characters, at most 60 bytes.
std::string shown(std::string_view text) {
  std::string plain;
  for (const char c : text.substr(0, 60)) plain += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
  if (find_invalid_utf8(plain) != std::string_view::npos)
    for (char& c : plain) c = c < 0 ? '?' : c;
  return in_quotes(plain);
}

std::string_view first_line(std::string_view text) {
  text = behind_separator_line(from_first_word(text));
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find_first_of("\r\n"));
    if (!line.empty() && line[0] != '#') return line;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

/// The fields of the first line that is not a comment, without blanks and quotes around them.
std::vector<std::string_view> columns_of(const FileLook& look) {
  // Only the first line is available and no names are known, so characters are counted.
  std::string_view line = first_line(look.head);
  constexpr std::string_view kSeparators = ",;\t";
  const auto count = [&](char c) { return std::count(line.begin(), line.end(), c); };
  const char separator =
      *std::max_element(kSeparators.begin(), kSeparators.end(), [&](char a, char b) { return count(a) < count(b); });
  std::vector<std::string_view> columns;
  for (bool more = true; more && columns.size() < 200;) {
    const size_t end = line.find(separator);
    std::string_view field = line.substr(0, end);
    const size_t first = field.find_first_not_of(" \""), last = field.find_last_not_of(" \"");
    columns.push_back(first == std::string_view::npos ? std::string_view() : field.substr(first, last + 1 - first));
    more = end != std::string_view::npos;
    line.remove_prefix(more ? end + 1 : line.size());
  }
  return columns;
}

std::string shown_names(const auto& words) {
  constexpr size_t kMostShown = 6;
  std::string list;
  for (size_t i = 0; i < std::min(words.size(), kMostShown); ++i) add_to_list(list, shown(words[i]));
  return words.size() > kMostShown ? list + ", ..." : list;
}

}  // namespace

bool is_blank(const FileLook& look) {
  return look.size == look.head.size() && !look.head.empty() && from_first_word(look.head).empty();
}

bool is_python_text(const FileLook& look) {
  const std::string_view text = from_first_word(look.head);
  return text.starts_with("{'") || text.starts_with("[{'");
}

bool is_html(const FileLook& look) {
  std::string_view text = from_first_word(look.head);
  while (text.starts_with("<!--") || text.starts_with("<?xml")) {
    const std::string_view end = text.starts_with("<?") ? "?>" : "-->";
    const size_t at = text.find(end);
    if (at == std::string_view::npos) return false;
    text = from_first_word(text.substr(at + end.size()));
  }
  for (const std::string_view begin : {"<!doctype html", "<html", "<head", "<body", "<title", "<h1>"})
    if (begins_like(text, begin)) return true;
  return false;
}

bool is_answer_with_head(const FileLook& look) {
  const std::string_view text = from_first_word(look.head), line = text.substr(0, text.find_first_of("\r\n"));
  const size_t status = line.find(' ');
  return begins_like(text, "http/") && status != std::string_view::npos && line.substr(status + 1).starts_with('2');
}

bool is_error_text(const FileLook& look) {
  constexpr std::array kBegins = {"entry not found"sv,
                                  "repository not found"sv,
                                  "invalid credentials"sv,
                                  "invalid username or password"sv,
                                  "access to model"sv,
                                  "access to dataset"sv,
                                  "404: not found"sv,
                                  "404 not found"sv,
                                  "404 page not found"sv,
                                  "403 forbidden"sv,
                                  "401 unauthorized"sv,
                                  "not found"sv,
                                  "unauthorized"sv,
                                  "forbidden"sv,
                                  "access denied"sv,
                                  "too many requests"sv,
                                  "internal server error"sv,
                                  "502 bad gateway"sv,
                                  "503 service unavailable"sv,
                                  "error code: "sv,
                                  "bad gateway"sv,
                                  "http/1."sv,
                                  "http/2 "sv};
  constexpr uint64_t kMostBytes = 4096;
  const std::string_view text = from_first_word(look.head);
  // An error is one line or a whole HTTP answer. Another text of several lines may begin with the same words.
  const bool is_line = from_first_word(text.substr(std::min(text.find_first_of("\r\n"), text.size()))).empty();
  return look.size <= kMostBytes && (is_line || begins_like(text, "http/")) &&
         std::any_of(kBegins.begin(), kBegins.end(), [&](std::string_view b) { return begins_like(text, b); });
}

bool is_error_json(const FileLook& look) {
  constexpr size_t kMostKeys = 6;
  const JsonOutline& json = look.json;
  return json.shape == JsonOutline::Shape::object && json.keys.size() <= kMostKeys &&
         (json.has("error") || json.has("errors") || json.has("detail") ||
          (json.has("message") &&
           (json.has("status") || json.has("code") || json.has("type") || json.keys.size() == 1)));
}

std::string error_detail(const FileLook& look) {
  for (const char* key : {"error", "message", "detail"})
    if (const std::string_view text = look.json.text(key); !text.empty()) return ": " + shown(text);
  return {};
}

bool is_text(const FileLook& look) {
  if (look.head.empty()) return false;
  for (const char c : look.head)
    if (static_cast<unsigned char>(c) < 0x20 && std::string_view("\t\n\r\f\x1b").find(c) == std::string_view::npos)
      return false;
  // A character may be cut at the end of the head.
  const size_t invalid = find_invalid_utf8(look.head);
  return invalid == std::string_view::npos || (look.head.size() < look.size && look.head.size() - invalid < 4);
}

bool is_not_text(const FileLook& look) { return !is_text(look); }

bool is_utf16(const FileLook& look) { return wide_encoding(look.head) == "UTF-16"; }
bool is_utf32(const FileLook& look) { return wide_encoding(look.head) == "UTF-32"; }

bool has_only_carriage_returns(const FileLook& look) {
  return is_text(look) && look.head.find('\r') != std::string_view::npos &&
         look.head.find('\n') == std::string_view::npos && look.head.find('\r') + 1 < look.head.size();
}

bool is_nccl_table(const FileLook& look) {
  std::string_view text = look.head;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    size_t at = line.find('#');
    for (const std::string_view word : {"size"sv, "count"sv, "type"sv, "redop"sv})
      if (at != std::string_view::npos) at = line.find(word, at);
    if (at != std::string_view::npos) return true;
  }
  return false;
}

bool has_columns(const FileLook& look, std::initializer_list<std::string_view> columns) {
  const std::vector<std::string_view> there = columns_of(look);
  return std::all_of(columns.begin(), columns.end(),
                     [&](std::string_view c) { return std::find(there.begin(), there.end(), c) != there.end(); });
}

bool is_table(const FileLook& look) { return is_text(look) && columns_of(look).size() > 1; }

std::string columns_detail(const FileLook& look) { return " with the columns " + shown_names(columns_of(look)); }

std::string keys_detail(const FileLook& look) {
  return look.json.keys.empty() ? std::string() : " with the keys " + shown_names(look.json.keys);
}

std::string text_detail(const FileLook& look, std::string_view key) {
  const std::string_view text = look.json.text(key);
  return text.empty() ? std::string() : ", " + std::string(key) + " " + shown(text);
}

}  // namespace stormcell
