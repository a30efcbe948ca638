// The reason why a speed-up was not measured well enough to be stated, and the limits that it must keep.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell {

/// The ending of the key that has the reason of a withheld speed-up in numbers.
inline constexpr const char* kWithheldBy = "_by";

enum class WithheldReason : uint8_t {
  ceilings_moved,  ///< the machine's ceilings differ before and after measuring
  others_at_work,  ///< other processes took too large a part of the processors
  few_pairs,       ///< the interval has too few pairs
  few_batches,     ///< the gain differs from batch to batch, and few of them were measured
  earlier          ///< an earlier version did not state it, for a reason that this version does not know
};

/// The limit for the difference of the ceilings before and after measuring, as a share of the lower one.
inline constexpr double kMostCeilingsMove = 0.15;
/// The limit for the part of the processors that other processes use; this value itself is too much.
inline constexpr double kMostOtherLoad = 0.25;
/// The least number of pairs: fewer executions of a plan beside the baseline say too little about an interval.
inline constexpr int64_t kFewestPairs = 8;
/// The fewest different batches, a third of those held out, where the gain differs from batch to batch.
constexpr int64_t fewest_batches(int64_t held_out) { return (held_out + 2) / 3; }

struct SpeedupWithheld {
  WithheldReason reason = WithheldReason::earlier;
  double measured = 0;  ///< the change of the ceilings, the part of the processors, the number of pairs or of batches
  double of = 0;        ///< for few_batches: the number of held-out batches
  bool operator==(const SpeedupWithheld&) const = default;
};

/// The words that replace the figure.
inline constexpr const char* kNotMeasured = "not measured well enough";

/// The name in JSON: "ceilings_moved". `withheld_reason` is the inverse; a word that this version does not know gives
/// `earlier`.
std::string_view to_word(WithheldReason reason);
WithheldReason withheld_reason(std::string_view word);
/// "the machine's ceilings moved by 32 % while it measured, and 15 % are allowed".
std::string to_text(const SpeedupWithheld& withheld);
/// "not measured well enough: the machine's ceilings moved by 32 % ...".
std::string not_measured_text(const SpeedupWithheld& withheld);
/// The cause that ended the measuring of a run.
enum class MeasuringEnd : uint8_t {
  seconds,    ///< its own time, --measure-seconds
  time_limit  ///< the limit of the whole command, before its own time
};
/// "measure again on a quiet machine", "measure longer (--measure-seconds)", "allow more time (--time-limit)".
std::string_view what_to_do(const SpeedupWithheld& withheld, MeasuringEnd end);

}  // namespace stormcell
