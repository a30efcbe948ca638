// The words of enumerations. Each enumeration has one table, in the order of its values, for writing and for reading.
#pragma once
#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stormcell {

/// The row of a value in a table that has one for each value, in their order.
template <class Table, class Enum>
constexpr auto& row_of(Table& rows, Enum value) {
  return rows[static_cast<size_t>(value)];
}

/// The value of a word; null: the table lacks the word.
template <class Enum>
constexpr std::optional<Enum> value_of_word(std::span<const std::string_view> words, std::string_view word) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) return std::nullopt;
  return static_cast<Enum>(found - words.begin());
}

/// A word of a file.
template <class Enum>
struct FileWord {
  bool told = false;          ///< the file has a word
  std::optional<Enum> value;  ///< null: the file has none, or one that this version does not know
  /// The value, and `usual` if the file has no word; null: this version does not know the word.
  constexpr std::optional<Enum> or_usual(Enum usual) const { return told ? value : usual; }
};
template <class Enum>
constexpr FileWord<Enum> file_word(std::span<const std::string_view> words, std::string_view word) {
  return {!word.empty(), value_of_word<Enum>(words, word)};
}

/// The word of a value, by its to_text(); empty: there is no value.
template <class Enum>
std::string text_or_empty(const std::optional<Enum>& value) {
  return value ? std::string(to_text(*value)) : std::string();
}

}  // namespace stormcell
