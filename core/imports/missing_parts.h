// Parts of a recording that are not there: ranks by what the traces say, files by their numbers, downloads that are not finished.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace stormcell {

/// A sentence that names ranks that are missing below the largest one; empty: none is, or fewer than two ranks are there.
std::string missing_ranks(const std::set<int64_t>& ranks);
/// A sentence for each set of files whose names differ by one number alone, where numbers between are missing: "router_trace_rank1.jsonl is
/// missing ...". Numbers behind "rank" begin with 0; "-00001-of-00004" says how many there are. Numbers far apart are no set.
std::vector<std::string> missing_files(const std::vector<std::string>& paths);
/// A link whose file is not there.
bool is_dead_link(const std::string& path);
/// Why a file holds nothing yet, by its name and size: "is empty", "is a download that is not finished", "is a link that leads nowhere";
/// empty: it may hold something.
std::string why_unfinished(const std::string& path);

}  // namespace stormcell
