#include "core/summary/split_rule.h"

#include <array>
#include <cstddef>

#include "core/base/enum_words.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 3> kRules = {"strided", "first", "unknown"};  // row by SplitRule

}  // namespace

std::string_view to_text(SplitRule rule) { return row_of(kRules, rule); }

SplitRule split_rule(std::string_view word) {
  return value_of_word<SplitRule>(kRules, word).value_or(SplitRule::unknown);
}

}  // namespace stormcell
