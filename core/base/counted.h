// Counts as sentences have them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell {

/// "1,234,567".
std::string with_commas(int64_t count);
/// The noun for a number: "batch" for 1, else "batches"; `many` for an irregular plural ("1 child", "2 children").
std::string noun_for(int64_t count, std::string_view one, std::string_view many = {});
/// The number with its noun: "1 batch", "1,234 batches", "2 branches", "3 entries", "0 cells".
std::string counted(int64_t count, std::string_view one, std::string_view many = {});

}  // namespace stormcell
