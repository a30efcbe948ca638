// What a verification that did not pass found: that something is wrong, or that too little was compared to say that nothing is.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// Stands in a reason of the second kind, behind the comparison that it is of ("beside the baseline: ").
inline constexpr std::string_view kInconclusive = "inconclusive: ";
bool is_inconclusive(const std::string& reason);
/// Nothing was found wrong: each reason is of the second kind. False of none.
bool is_inconclusive(const std::vector<std::string>& reasons);
/// A reason among others, "failed: output y differs by 0.3"; that of the second kind as it is.
std::string reason_text(const std::string& reason);

}  // namespace stormcell
