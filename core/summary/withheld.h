// A speed-up that was measured, and not well enough to be stated: why.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell {

enum class WithheldReason : uint8_t {
  ceilings_moved,  ///< the machine's ceilings differ before and after measuring
  others_at_work,  ///< other processes took a part of the processors
  few_pairs,       ///< the interval has too few pairs
  few_batches,     ///< the gain differs from batch to batch, and few of them were measured
  earlier          ///< the version that measured it did not state it; why is not known to this one
};

struct SpeedupWithheld {
  WithheldReason reason = WithheldReason::earlier;
  double measured = 0;  ///< by how much ceilings moved, the part of the processors, pairs, batches
  double of = 0;        ///< few_batches: batches that were held out
  bool operator==(const SpeedupWithheld&) const = default;
};

/// What is shown in the place of the figure.
inline constexpr const char* kNotMeasured = "not measured well enough";

/// "ceilings_moved": as JSON names it. `withheld_reason`: back; `earlier` of a word that this version does not know.
std::string_view to_word(WithheldReason reason);
WithheldReason withheld_reason(std::string_view word);
/// "the machine's ceilings moved by 32 % while it measured, and 15 % are allowed".
std::string to_text(const SpeedupWithheld& withheld);
/// "not measured well enough: the machine's ceilings moved by 32 % ...".
std::string not_measured_text(const SpeedupWithheld& withheld);
/// "measure again on a quiet machine", "measure longer (--measure-seconds)".
std::string_view what_to_do(const SpeedupWithheld& withheld);

}  // namespace stormcell
