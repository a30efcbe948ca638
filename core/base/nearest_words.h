// The known words that a word which is none of them may mean: for every refusal that has a list of known words.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stormcell {

/// At most three, the nearest first; empty: none is near. Near is a word with few letters changed, left out, added or swapped, a begin or a
/// part of the other, the same parts in another order, and the same letters with other case or other hyphens.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known);

/// "did you mean a, b or c?"; of at least one word.
std::string did_you_mean(const std::vector<std::string>& near);

/// What to do about a word that is none of `known`: "did you mean a, b or c?" where some are near, else "one of a, b, ..., z".
/// `otherwise` replaces "one of "; where it is empty the list is "a, b or c".
std::string advice_on_word(std::string_view word, const std::vector<std::string>& known, std::string_view otherwise = "one of ");

/// The same of any range whose elements have a text: advice_on_word(word, kPasses, [](const Pass& p) { return p.id; }).
template <class Rows, class Text>
requires(!std::is_convertible_v<Text, std::string_view>) std::string
    advice_on_word(std::string_view word, const Rows& rows, Text text, std::string_view otherwise = "one of ") {
  std::vector<std::string> known;
  for (const auto& row : rows) known.emplace_back(text(row));
  return advice_on_word(word, known, otherwise);
}

}  // namespace stormcell
