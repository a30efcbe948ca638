// Types for numbers that must not be swapped.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
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

/// "4096", "1.5GB", "512 MiB": a number from 0 on and B, kB, MB, GB, TB, KiB, MiB, GiB or TiB; without a unit it is
/// bytes. Empty for other texts, or numbers too large.
std::optional<Bytes> parse_bytes(std::string_view text);

/// "1.5 MiB" and the like, for people.
std::string to_text(Bytes bytes);

}  // namespace stormcell
