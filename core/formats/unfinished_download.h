// Names of files that a program has not finished fetching or writing.
#pragma once
#include <algorithm>
#include <array>
#include <string_view>

namespace stormcell {

/// The endings that browsers, download managers and libraries give such files.
inline constexpr std::array<std::string_view, 8> kUnfinishedEndings = {
    ".part", ".partial", ".incomplete", ".crdownload", ".download", ".opdownload", ".aria2", ".tmp"};

inline bool has_unfinished_ending(std::string_view name) {
  return std::any_of(kUnfinishedEndings.begin(), kUnfinishedEndings.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace stormcell
