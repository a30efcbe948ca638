// Reads numbers in fields of tables, as programs and spreadsheets write them.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stormcell {

/// A finite number with a decimal point. Nothing if the whole text is not one.
std::optional<double> real_in(std::string_view text);
/// A whole number. 12.0 and 1e3 are accepted too, up to 2^53.
std::optional<int64_t> whole_in(std::string_view text);

/// The fault of a text that the functions above refuse. `what` follows the words "COLUMN is".
struct NumberFault {
  std::string what, advice;  ///< advice may be empty
};
NumberFault fault_of_number(std::string_view text, bool whole);

}  // namespace stormcell
