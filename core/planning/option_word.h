// An option that takes one of some words, each a value of an enumeration in its order.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"

namespace stormcell {

/// Empty: the usual one. Error(bad_input) that names the option.
template <class Enum>
Enum parse_word(const char* option, std::string_view word, std::span<const std::string_view> words, Enum usual) {
  if (word.empty()) return usual;
  const std::optional<Enum> value = value_of_word<Enum>(words, word);
  if (!value) bad_input(option, in_quotes(word) + " is not known", advice_on_word(word, {words.begin(), words.end()}));
  return *value;
}

}  // namespace stormcell
