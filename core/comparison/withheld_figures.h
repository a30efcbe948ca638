// Figures that were not measured well enough, in summaries of any version as compare reads them.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stormcell {

/// Removes speed-ups and qualities that this version does not state; an earlier version may have written them.
/// with_stated_speedups() does the same to figures.
void withhold_speedups(nlohmann::ordered_json& summary);

/// A sentence for each figure that the summary withholds, by the path of its key.
using WithheldFigures = std::map<std::string, std::string, std::less<>>;
/// True for keys that say that a figure was withheld, or why.
bool is_withheld_key(const std::string& key);
/// The reason why a figure, or an end of its interval, is withheld: that of its run or of its pass. Empty: it is not
/// withheld.
std::string why_withheld(const std::string& figure, const WithheldFigures& withheld);

}  // namespace stormcell
