#include "core/base/nearest_words.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "core/base/listed_words.h"

namespace stormcell {
namespace {

constexpr size_t kMostGiven = 3, kMostLetters = 100;

/// The word in small letters, with a hyphen for everything that separates its parts.
std::string plain(std::string_view word) {
  std::string text(word.substr(0, kMostLetters));
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    if (c == '_' || c == ' ' || c == '.' || c == ':') c = '-';
  }
  return text;
}

/// The number of edits: a letter changed, left out or added, or two neighbours swapped.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = last;
    std::swap(last, row);
  }
  return last[b.size()];
}

std::vector<std::string_view> parts_of(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find('-'), text.size());
    if (end > 0) parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  std::sort(parts.begin(), parts.end());
  return parts;
}

/// The distance between two words, smaller is nearer; nothing: they are not near.
std::optional<size_t> farness(std::string_view word, std::string_view known) {
  // The hyphens of options are no part of their words: --seconds is a part of --measure-seconds.
  constexpr std::string_view kOption = "--";
  constexpr size_t kLeastBegin = 2, kLeastPart = 3;
  const size_t shorter = std::min(word.size(), known.size()), longer = std::max(word.size(), known.size());
  if (shorter == 0) return {};
  const size_t letters = distance(word, known);
  if (letters * 3 <= longer || (letters == 1 && shorter > 1)) return 10 * letters;
  if (parts_of(word) == parts_of(known)) return 15;
  if (shorter >= kLeastBegin && (known.starts_with(word) || word.starts_with(known))) return 20 + longer - shorter;
  if (word.starts_with(kOption) && known.starts_with(kOption))
    return farness(word.substr(kOption.size()), known.substr(kOption.size()));
  if (shorter >= kLeastPart &&
      (known.find(word) != std::string_view::npos || word.find(known) != std::string_view::npos))
    return 40 + longer - shorter;
  return {};
}

}  // namespace

std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known) {
  std::vector<std::pair<size_t, std::string>> near;
  const std::string asked = plain(word);
  for (const std::string& k : known)
    if (const auto far = farness(asked, plain(k))) near.emplace_back(*far, k);
  std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> words;
  for (auto& [far, k] : near)
    if (words.size() < kMostGiven && std::find(words.begin(), words.end(), k) == words.end())
      words.push_back(std::move(k));
  return words;
}

std::string did_you_mean(const std::vector<std::string>& near) { return "did you mean " + either(near) + "?"; }

std::string advice_on_word(std::string_view word, const std::vector<std::string>& known, std::string_view otherwise) {
  const std::vector<std::string> near = nearest_words(word, known);
  if (!near.empty()) return did_you_mean(near);
  return otherwise.empty() ? either(known) : std::string(otherwise) + joined(known);
}

}  // namespace stormcell
