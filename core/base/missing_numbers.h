// Numbers that are missing from a series of parts: ranks, shards, files of a set.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// The numbers missing between `first` and the largest one, at most kMostMissing of them.
inline constexpr size_t kMostMissing = 1000;
std::vector<int64_t> missing_numbers(const std::set<int64_t>& there, int64_t first);
/// "rank 1", "ranks 1 and 3", "ranks 1, 2, 3 and 40 more".
std::string numbered(std::string_view one, const std::vector<int64_t>& numbers);
/// "rank 1 is missing", "4,000 ranks from rank 2 on are missing"; empty if no number between `first` and the largest one
/// is missing.
std::string missing_text(std::string_view one, const std::set<int64_t>& there, int64_t first);
/// "no step between 0 and 5 and 2 more gaps"; empty if no number is missing. Three numbers or more may have equal
/// distances: then only some are recorded, and none is missing.
std::string gaps_text(std::string_view one, const std::set<int64_t>& there);

}  // namespace stormcell
