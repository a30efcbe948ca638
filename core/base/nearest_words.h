// Suggests known words for a word that is not known. Every refusal that has a list of known words uses it.
#pragma once
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stormcell {

/// At most three similar words, the nearest first; empty: none is near. A word is near if few letters are changed, left
/// out, added or swapped, if it is a beginning or a part of the other, if it has the same parts in another order, or if
/// only case or hyphens differ.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known);

/// "did you mean a, b or c?"; needs at least one word.
std::string did_you_mean(const std::vector<std::string>& near);

/// The advice on a word that is not in `known`: "did you mean a, b or c?" if some are near, else "one of a, b, ..., z".
/// `otherwise` replaces "one of "; if it is empty, the list reads "a, b or c".
std::string advice_on_word(std::string_view word, const std::vector<std::string>& known,
                           std::string_view otherwise = "one of ");

/// The same for any range whose elements have a text: advice_on_word(word, kPasses, [](const Pass& p) { return p.id;
/// }).
template <class Rows, class Text>
requires(!std::is_convertible_v<Text, std::string_view>) std::string
    advice_on_word(std::string_view word, const Rows& rows, Text text, std::string_view otherwise = "one of ") {
  std::vector<std::string> known;
  for (const auto& row : rows) known.emplace_back(text(row));
  return advice_on_word(word, known, otherwise);
}

}  // namespace stormcell
