// How the batches of an optimisation are split into profiled and measured ones.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

enum class SplitRule : uint8_t {
  strided,  ///< batches i with i mod 4 = 0 are profiled
  first,    ///< the first quarter is profiled
  unknown   ///< the word of a later version
};
/// "strided", "first": words of --profile-split and of summaries.
std::string_view to_text(SplitRule rule);
/// Reads a word back.
SplitRule split_rule(std::string_view word);

}  // namespace stormcell
