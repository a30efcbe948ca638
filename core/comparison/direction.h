// In which direction a figure is better.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

enum class Better : uint8_t { less, more, neither };
/// The figure is named by its dotted path, as compare names it.
Better better_of(std::string_view figure);

}  // namespace stormcell
