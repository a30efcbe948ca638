// An option that takes one of some words, each a value of an enumeration in its order.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string_view>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"

namespace stormcell {

/// Empty: the usual one. Error(bad_input) that names the option.
template <class Enum, size_t count>
Enum parse_word(const char* option, std::string_view word, const std::string_view (&words)[count], Enum usual) {
  if (word.empty()) return usual;
  const auto found = std::find(std::begin(words), std::end(words), word);
  if (found == std::end(words))
    bad_input(option, in_quotes(word) + " is not known", advice_on_word(word, {std::begin(words), std::end(words)}));
  return static_cast<Enum>(found - std::begin(words));
}

}  // namespace stormcell
