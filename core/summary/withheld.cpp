#include "core/summary/withheld.h"

#include <fmt/format.h>

#include <array>

#include "core/base/counted.h"
#include "core/base/enum_words.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 5> kWords = {"ceilings_moved", "others_at_work", "few_pairs", "few_batches",
                                                    "earlier"};

/// A share just above a limit must not be rounded to the limit.
std::string moved_text(double share) { return fmt::format("{:.{}f} %", 100 * share, 100 * share < 30 ? 1 : 0); }

}  // namespace

std::string_view to_word(WithheldReason reason) { return row_of(kWords, reason); }

WithheldReason withheld_reason(std::string_view word) {
  return value_of_word<WithheldReason>(kWords, word).value_or(WithheldReason::earlier);
}

std::string to_text(const SpeedupWithheld& w) {
  switch (w.reason) {
    case WithheldReason::ceilings_moved:
      return fmt::format("the machine's ceilings moved by {} while it measured, and {:.0f} % are allowed",
                         moved_text(w.measured), 100 * kMostCeilingsMove);
    case WithheldReason::others_at_work:
      return fmt::format(
          "other processes took {} of the processors while it measured, and less than {:.0f} % are allowed",
          moved_text(w.measured), 100 * kMostOtherLoad);
    case WithheldReason::few_pairs:
      return counted(static_cast<int64_t>(w.measured), "pair was", "pairs were") + " measured, and " +
             std::to_string(kFewestPairs) + " are needed";
    case WithheldReason::few_batches:
      return fmt::format("{} of {} were measured, the gain differs from batch to batch, and a third is needed",
                         w.measured, counted(static_cast<int64_t>(w.of), "held-out batch"));
    case WithheldReason::earlier:
      return "the version that measured it did not state it";
  }
  return {};
}

std::string not_measured_text(const SpeedupWithheld& withheld) {
  return std::string(kNotMeasured) + ": " + to_text(withheld);
}

std::string_view what_to_do(const SpeedupWithheld& withheld, MeasuringEnd end) {
  const bool few = withheld.reason == WithheldReason::few_pairs || withheld.reason == WithheldReason::few_batches;
  if (!few) return "measure again on a quiet machine";
  return end == MeasuringEnd::time_limit ? "allow more time (--time-limit)" : "measure longer (--measure-seconds)";
}

}  // namespace stormcell
