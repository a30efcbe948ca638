// Numbers in fields of tables: as programs write them, and as spreadsheets do.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stormcell {

/// A finite number with a point for decimals. Nothing where the whole text is none.
std::optional<double> real_in(std::string_view text);
/// A whole number, 12.0 and 1e3 too, up to 2^53 where it is written so.
std::optional<int64_t> whole_in(std::string_view text);

/// What is wrong with a text of which the functions above make nothing, behind "us is ".
struct NumberFault {
  std::string what, advice;  ///< advice may be empty
};
NumberFault fault_of_number(std::string_view text, bool whole);

}  // namespace stormcell
