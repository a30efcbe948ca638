// Types for numbers that must not be swapped: branches, bytes, milliseconds.
#pragma once
#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell {

template <class Tag, class Rep>
struct Strong {
  Rep value{};
  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(v) {}
  constexpr auto operator<=>(const Strong&) const = default;
};

using Bytes = Strong<struct BytesTag, int64_t>;
using Milliseconds = Strong<struct MillisecondsTag, double>;

/// "1.5 MiB" and the like, for people.
std::string to_text(Bytes bytes);
/// Parses "4000MiB", "16 GB", "123"; `where` names the option in the error.
Bytes parse_bytes(std::string_view text, std::string_view where);

}  // namespace stormcell
