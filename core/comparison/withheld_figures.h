// Speed-ups that were not measured well enough, in summaries as compare reads them: JSON of any version.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace stormcell {

/// Takes out what this version does not state, as with_stated_speedups() does of figures: an earlier one may have written it.
void withhold_speedups(nlohmann::ordered_json& summary);

/// By path of its key: a sentence for each speed-up that the summary withholds.
using WithheldFigures = std::map<std::string, std::string, std::less<>>;
/// The key names a speed-up that was withheld, or why.
bool is_withheld_key(const std::string& key);
/// Why a figure, or an end of its interval, is withheld: that of its run or of its pass; empty: it is not.
std::string why_withheld(const std::string& figure, const WithheldFigures& withheld);

}  // namespace stormcell
