// Finds missing parts of a recording: ranks that the traces name, numbers of files, unfinished downloads.
#pragma once
#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace stormcell {

/// A sentence that names the missing ranks below the largest one; empty: none is missing, or fewer than two ranks are
/// there.
std::string missing_ranks(const std::set<int64_t>& ranks);
/// A sentence for each set of files with missing numbers: "router_trace_rank1.jsonl is missing ...". The names of a set
/// differ in one number only. Numbers after "rank" begin with 0; "-00001-of-00004" gives the count. Numbers that are
/// far apart are not a set.
std::vector<std::string> missing_files(const std::vector<std::string>& paths);
/// True for a link whose target is missing.
bool is_dead_link(const std::string& path);
/// The reason, from its name and size, why a file holds nothing yet: "is empty", "is a download that is not finished",
/// "is a link that leads nowhere". Empty: it may hold something.
std::string why_unfinished(const std::string& path);

}  // namespace stormcell
