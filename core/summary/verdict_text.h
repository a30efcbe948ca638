// Verdicts on a run: why a verification did not pass (something is wrong, or too little was compared to say that
// nothing is), and what a speed-up shows.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// Begins a reason of the second kind, behind the name of its comparison ("beside the baseline: ").
inline constexpr std::string_view kInconclusive = "inconclusive: ";
bool is_inconclusive(const std::string& reason);
/// Whether nothing was found wrong: each reason is of the second kind. False if there is none.
bool is_inconclusive(const std::vector<std::string>& reasons);
/// A reason among others, "failed: output y differs by 0.3"; one of the second kind stays as it is.
std::string reason_text(const std::string& reason);

/// The verdict of an optimize run on speed. The first three state its speed-up.
enum class SpeedVerdict : uint8_t {
  faster,
  slower,
  not_measurable,   ///< its interval contains 1, or it has none
  none_stated,      ///< warnings say why
  withheld,         ///< RunSummaryFigures::withheld says why
  nothing_applied,  ///< no pass applied: there is no other plan
  all_left_out,     ///< passes that applied, each because it brought nothing
  not_verified
};
SpeedVerdict speed_verdict(const RunSummaryFigures& figures);
/// A sentence; that of `faster` begins with how many times it is: "1.94 times " and then "as fast, with the same
/// result."
std::string_view speed_sentence(SpeedVerdict verdict);

}  // namespace stormcell
