#include "core/summary/exit_target.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/bounded_number.h"
#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/summary/exits_text.h"
#include "core/summary/percent_text.h"
#include "core/summary/quality_text.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 4> kBounded = {"quality", "operations", "latency", "unknown"};  // row by Bounded

constexpr std::string_view kLatency = "--target-latency", kQuality = "--target-quality";

int64_t items_of(const ExitPoint& point) { return std::accumulate(point.items.begin(), point.items.end(), int64_t{0}); }

}  // namespace

std::string_view to_text(Bounded what) { return row_of(kBounded, what); }

Bounded bounded(std::string_view word) { return value_of_word<Bounded>(kBounded, word).value_or(Bounded::unknown); }

LatencyTarget parse_latency_target(std::string_view word) {
  constexpr double kLeast = 1e-6;
  try {
    if (word.ends_with('%'))
      return {bounded_number<double>(kLatency, word.substr(0, word.size() - 1), {kLeast, 100}) / 100, true};
    return {bounded_number<double>(kLatency, word.substr(0, word.size() - (word.ends_with("ms") ? 2 : 0)), {kLeast}),
            false};
  } catch (const Error&) {
    does_not_fit(kLatency, word, "milliseconds above 0, or a share above 0 and up to 100 %: 0.8 or 60%");
  }
}

double parse_quality_target(std::string_view word) {
  try {
    if (word.ends_with('%')) return bounded_number<double>(kQuality, word.substr(0, word.size() - 1), {0, 100}) / 100;
    return bounded_number<double>(kQuality, word, {0, 1});
  } catch (const Error&) {
    does_not_fit(kQuality, word, "a share from 0 to 1, or up to 100 %: 0.98 or 98%");
  }
}

std::string exit_target_text(const ExitTarget& t) {
  if (t.of == Bounded::quality) return t.measure + " of at least " + quality_value_text(t.unit, t.target);
  if (t.of == Bounded::operations)
    return "at most " + percent_text(t.target) + " of the operations of the whole network";
  if (t.of == Bounded::latency) return fmt::format("at most {:.3g} ms a batch", t.target);
  return fmt::format("{:.3g} of what this version does not know", t.target);
}

std::string thresholds_text(const ExitTarget& t) {
  std::string text, own;
  for (size_t e = 0; e < t.thresholds.size(); ++e)
    text += (text.empty() ? "" : ", ") + exit_threshold_text(t.thresholds[e]) + " at exit " + std::to_string(e + 1);
  for (const double threshold : t.own_thresholds) own += (own.empty() ? "" : ", ") + exit_threshold_text(threshold);
  return text + "; the model's own: " + own;
}

std::string exit_point_text(const ExitTarget& t, const ExitPoint& point, const std::optional<double>& milliseconds) {
  return quality_text(t.unit, point.value.value_or(0), point.value_ci95) + " at " + percent_text(point.mean_cost) +
         " of the operations" + (milliseconds ? fmt::format(", {:.3g} ms a batch", *milliseconds) : "");
}

std::string held_out_text(const ExitTarget& t) {
  return std::string(t.met ? "met" : "missed") + " on " + counted(items_of(t.held_out), t.item) +
         " that it was not found on: " + t.measure + " " + exit_point_text(t, t.held_out, t.held_out_ms) +
         "; the model's own thresholds: " + exit_point_text(t, t.own, {});
}

std::string found_thresholds_text(const ExitTarget& t) {
  if (!t.own.value) return "with the thresholds that were found";
  return "with the thresholds that were found; with the model's own: " +
         quality_text(t.unit, *t.own.value, t.own.value_ci95) + " over " + counted(items_of(t.own), t.item) +
         " that they were not found on";
}

std::string replay_text(const ExitTarget& t) {
  // An older summary has the counts alone: they tell when items left elsewhere, never that none did.
  const int64_t elsewhere = t.left_elsewhere.value_or(0);
  const bool alike = elsewhere == 0 && t.held_out.items == t.predicted.items && t.held_out.value == t.predicted.value;
  std::string text =
      !alike ? "the replay said " + exit_point_text(t, t.predicted, {}) + ", which the real run does not repeat"
      : t.left_elsewhere ? "really run, every one of them left where the replay said"
                         : "really run, as many left at each exit as the replay said";
  if (elsewhere > 0) text += ": " + counted(elsewhere, t.item) + " left elsewhere";
  if (t.predicted_ms && t.held_out_ms)
    text += fmt::format("; {:.3g} ms a batch were predicted, {:.1f} % {} than measured", *t.predicted_ms,
                        100 * std::abs(*t.predicted_ms / *t.held_out_ms - 1),
                        *t.predicted_ms < *t.held_out_ms ? "less" : "more");
  return text;
}

std::vector<std::pair<std::string, std::string>> exit_target_lines(const ExitTarget& t) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"target", exit_target_text(t)},
      {"thresholds", thresholds_text(t)},
      {"found on", counted(items_of(t.fitted), t.item) + ": " + t.measure + " " +
                       exit_point_text(t, t.fitted, t.fitted_ms) +
                       (t.is_optimum ? "; no other thresholds are better there"
                                     : "; the best that were tried there, not all were")},
      {"held out", held_out_text(t)},
      {"replayed", replay_text(t)}};
  if (t.speedup)
    lines.emplace_back(
        "beside its own",
        fmt::format("the baseline with these thresholds is {:.3g} times as fast as with the model's own{}", *t.speedup,
                    t.speedup_ci95 ? fmt::format(" [{:.3g}, {:.3g}]", (*t.speedup_ci95)[0], (*t.speedup_ci95)[1])
                                   : std::string()));
  if (!t.speedup && t.withheld) lines.emplace_back("beside its own", not_measured_text(*t.withheld));
  std::string taken;
  for (const std::string& sentence : exits_taken_text(t)) taken += (taken.empty() ? "" : "; ") + sentence;
  if (!taken.empty()) lines.emplace_back("exits", taken);
  if (const std::string gain = over_model_text(t); !gain.empty()) lines.emplace_back("in all", gain);
  if (!t.speedup_over_model && t.over_model_withheld)
    lines.emplace_back("in all", "the gain over the model as it came was " + not_measured_text(*t.over_model_withheld));
  lines.emplace_back("judged", judged_by_quality_text());
  return lines;
}

std::vector<std::string> exits_taken_text(const ExitTarget& t) {
  const std::vector<int64_t>& taken = items_of(t.held_out) > 0 ? t.held_out.items : t.fitted.items;
  const int64_t all = std::accumulate(taken.begin(), taken.end(), int64_t{0});
  if (all == 0) return {};
  const auto name = [&](size_t exit) {
    return exit + 1 < taken.size() ? "exit " + std::to_string(exit + 1) : "the end of the network";
  };
  const std::string items = counted(all, t.item);
  std::vector<std::string> none;
  for (size_t e = 0; e < taken.size(); ++e) {
    if (taken[e] == all) return {name(e) + " takes all " + items};
    if (taken[e] == 0) none.push_back(name(e) + " takes none of " + items);
  }
  return none;
}

std::string over_model_text(const ExitTarget& t) {
  if (!t.speedup_over_model) return {};
  const std::string interval =
      t.speedup_over_model_ci95
          ? fmt::format(" [{:.3g}, {:.3g}]", (*t.speedup_over_model_ci95)[0], (*t.speedup_over_model_ci95)[1])
          : std::string();
  return fmt::format("{:.3g}{} times as fast as the model as it came, with its own thresholds", *t.speedup_over_model,
                     interval);
}

std::string over_model_sentence(const ExitTarget& t) {
  const std::string gain = over_model_text(t);
  std::string text =
      !gain.empty() ? gain : "the gain over the model as it came, with its own thresholds, is not stated";
  if (gain.empty() && t.over_model_withheld)
    text = "the gain over the model as it came was " + not_measured_text(*t.over_model_withheld);
  for (const std::string& taken : exits_taken_text(t)) text += "; " + taken;
  return text;
}

std::string judged_by_quality_text() {
  return "other thresholds give other answers by intent: they are judged by quality; the verification compares the "
         "plan with the oracle at "
         "these thresholds";
}

}  // namespace stormcell
