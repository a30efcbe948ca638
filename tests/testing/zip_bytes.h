// A ZIP archive of stored entries, byte by byte (APPNOTE.TXT 4.3).
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace stormcell::testing {

/// Entries: name and content.
std::string zip_bytes(const std::vector<std::pair<std::string, std::string>>& entries);

}  // namespace stormcell::testing
