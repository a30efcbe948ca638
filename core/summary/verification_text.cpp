#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/summary/results.h"

#include "core/base/counted.h"

namespace stormcell {

std::string flips_text(const Verification& v) {
  std::string text;
  if (v.flips == 0) {
    text = "no routing choice differs";
  } else {
    text = counted(v.flips, "routing choice differs", "routing choices differ") + ", ";
    const int64_t bad = v.flips - v.explained_flips;
    text += bad == 0         ? (v.flips == 1 ? "a near tie" : "all of them near ties")
            : bad == v.flips ? (v.flips == 1 ? "which is not a near tie" : "none of them a near tie")
                             : with_commas(bad) + " of them without a near tie";
  }
  if (v.consequences > 0) text += "; " + counted(v.consequences, "more follows", "more follow") + " from that";
  return text;
}

std::string equality_text(const Verification& v, int64_t batches) {
  if (!v.exact) return {};
  const ExactProof& e = *v.exact;
  const int64_t in_both = std::min(std::ssize(v.parts), v.baseline_batches);
  const int64_t compared = std::min(v.batches + v.baseline_batches - in_both, batches);
  const std::string numerically =
      fmt::format("numerically ({} of {})", with_commas(compared), counted(batches, "batch"));
  if (e.equal == false) return "Not equal exactly: " + e.first_difference;
  if (!e.equal) return (v.passed ? "Equal " : "Not equal ") + numerically + ", not proved exactly: " + e.reason;
  std::string text = "Equal exactly (" + counted(e.draws, "draw");
  if (e.branches_without_cells > 0) text += ", " + counted(e.branches_without_cells, "branch") + " without cells";
  return text + (v.passed ? ") and " : "), not ") + numerically;
}

std::string parts_text(const std::vector<JudgedPart>& parts) {
  constexpr size_t kNamed = 3;
  std::string text;
  for (size_t i = 0; i < std::min(kNamed, parts.size()); ++i)
    text += fmt::format("{}{} of {} of batch {}",
                        i == 0                  ? ""
                        : i + 1 == parts.size() ? " and "
                                                : ", ",
                        with_commas(parts[i].pictures), counted(parts[i].of, "picture"), parts[i].batch);
  if (parts.size() > kNamed)
    text += fmt::format(" and of {} more", counted(static_cast<int64_t>(parts.size() - kNamed), "batch"));
  return text;
}

std::string free_cost_text(const FormatCost& cost) {
  if (cost.choices == 0) return {};
  const double percent = 100 * static_cast<double>(cost.differing_choices) / cost.choices;
  std::string text = fmt::format(
      "{:.2g} running freely, where {} of {} routing choices ({} %) differ from those of the stored weights",
      cost.free_max_rel_diff, fmt::group_digits(cost.differing_choices), fmt::group_digits(cost.choices),
      percent < 10 ? fmt::format("{:.2g}", percent) : fmt::format("{:.0f}", percent));
  if (cost.sequences > 0)
    text += fmt::format("; {} of {} the tokens of the stored weights{}", fmt::group_digits(cost.equal_sequences),
                        counted(cost.sequences, "sequence decodes", "sequences decode"),
                        cost.equal_sequences < cost.sequences ? ", the others count up to the first that differs" : "");
  return text;
}

}  // namespace stormcell
