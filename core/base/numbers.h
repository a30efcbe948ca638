// Types for numbers that must not be swapped.
#pragma once
#include <compare>
#include <cstdint>
#include <string>

namespace stormcell {

template <class Tag, class Rep>
struct Strong {
  Rep value{};
  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(v) {}
  constexpr auto operator<=>(const Strong&) const = default;
};

using Bytes = Strong<struct BytesTag, int64_t>;

/// "1.5 MiB" and the like, for people.
std::string to_text(Bytes bytes);

}  // namespace stormcell
