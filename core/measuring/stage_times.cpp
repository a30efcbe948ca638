#include "core/measuring/stage_times.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace stormcell {
namespace {

struct StageWords {
  const char* work;
  const char* least;  ///< the part of it that is never left out; empty: all of it may be
};
/// Rows in the order of Stage.
constexpr std::array<StageWords, kStages> kWords = {{
    {"searching thresholds", ""},
    {"profiling", "one batch of each part is always profiled"},
    {"making plans", "one plan is always made"},
    {"measuring", "one round is always measured"},
    {"verifying", "one batch of each size is always verified"},
    {"measuring in fresh processes", ""},
    {"timing operators", "one batch is always timed"},
    {"measuring the dense plan and exits", ""},
    {"recording", "one batch is always recorded"},
}};

}  // namespace

StageTimes::StageTimes(const TimePlan& plan, std::string before)
    : plan_(plan), before_(std::move(before)), begun_(plan.spent()), since_(begun_) {}

void StageTimes::turn_to(std::optional<Stage> next) {
  const double spent = plan_.spent();
  (now_ ? stages_.at(static_cast<unsigned>(*now_)).seconds : between_) += spent - since_;
  since_ = spent, now_ = next;
  if (!next) return;
  Took& stage = stages_.at(static_cast<unsigned>(*next));
  if (!stage.allowed) stage.allowed = plan_.allowed(*next);
}

void StageTimes::run(Stage stage, const std::function<void()>& work) {
  const std::optional<Stage> outer = now_;
  turn_to(stage);
  work();
  turn_to(outer);
}

std::string StageTimes::overrun_text() const {
  constexpr double kWorthNaming = 0.1;  // of the largest excess
  if (!plan_.limited() || plan_.remaining() > 0) return {};
  std::vector<std::pair<double, std::string>> over;  // seconds too many, and the words
  over.emplace_back(begun_ - plan_.share_of_opening(), fmt::format("{} took {:.1f} s", before_, begun_));
  for (unsigned i = 0; i < kStages; ++i) {
    const Took& took = stages_.at(i);
    if (!took.allowed || took.seconds <= *took.allowed) continue;
    const StageWords& words = kWords.at(i);
    std::string text =
        fmt::format("{} took {:.1f} s where {:.1f} s were left", words.work, took.seconds, *took.allowed);
    if (*words.least) text += fmt::format(" ({})", words.least);
    over.emplace_back(took.seconds - *took.allowed, std::move(text));
  }
  over.emplace_back(between_, fmt::format("work between the stages took {:.1f} s", between_));
  std::stable_sort(over.begin(), over.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  std::string all;
  for (const auto& [seconds, text] : over)
    if (all.empty() || seconds >= kWorthNaming * over.front().first) all += (all.empty() ? "" : "; ") + text;
  return all;
}

}  // namespace stormcell
