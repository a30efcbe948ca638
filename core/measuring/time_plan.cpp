#include "core/measuring/time_plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/base/enum_words.h"
#include "core/measuring/fresh_measuring.h"
#include "core/measuring/mirrored.h"

namespace stormcell {
namespace {

/// Weights by Stage. Measuring gets most: too few pairs state no speed-up. Verification has a floor that no limit
/// lowers.
constexpr std::array<double, kStages> kWeights = {2, 2, 1, 4, 2, 2, 0.5, 2, 2};

constexpr int64_t kFurtherRuns = 22;  // executions of a plan for times by operator and for its physical limit
/// A batch of the oracle takes about as long as this many executions.
constexpr double kOracleBatch = 10;
/// The extra share of the time for measuring if passes are left out and the others are measured again.
constexpr double kAgain = 1.5;

/// Chooses `count` elements of `list`, evenly spread, the first among them.
std::vector<int64_t> spread(const std::vector<int64_t>& list, int64_t count) {
  std::vector<int64_t> some;
  const auto size = std::ssize(list);
  for (int64_t i = 0; i < count; ++i) some.push_back(list[i * size / count]);
  return some;
}

}  // namespace

TimePlan::TimePlan(double limit, double begun, Clock clock)
    : limit_(limit), begun_(begun), clock_(std::move(clock)), weight_(kWeights) {}

double TimePlan::remaining() const {
  if (!limited()) return std::numeric_limits<double>::infinity();
  return std::max(0.0, limit_ - spent());
}

double TimePlan::allowed(Stage stage) const {
  if (!limited()) return remaining();
  const auto at = weight_.begin() + static_cast<std::ptrdiff_t>(stage);
  const auto least = least_.begin() + static_cast<std::ptrdiff_t>(stage);
  const double rest = std::accumulate(at, weight_.end(), 0.0);
  const double spare = std::max(0.0, remaining() - std::accumulate(least, least_.end(), 0.0));
  return rest > 0 ? std::min(remaining(), *least) + spare * *at / rest : 0;
}

void TimePlan::reserve_least(double batch, double compile, double sizes, bool ordered) {
  const auto reserve = [&](Stage stage, double seconds) { row_of(least_, stage) = seconds; };
  reserve(Stage::profile, 2 * batch);
  reserve(Stage::passes, 2 * compile);
  // Two plans are checked and warmed up before their round.
  reserve(Stage::measure, (executions_of_round(1, ordered) + 2 * (1 + sizes)) * batch);
  reserve(Stage::verify, kOracleBatch * sizes * batch);
  reserve(Stage::figures, 2 * batch);
  reserve(Stage::record, batch);
}

double TimePlan::least() const { return std::accumulate(least_.begin(), least_.end(), 0.0); }

TimePlan TimePlan::part(size_t phases) const {
  TimePlan out = *this;
  if (limited() && phases > 1) out.limit_ = spent() + remaining() / static_cast<double>(phases);
  return out;
}

double executions_of_round(size_t plans, bool ordered) {
  const double turns = 2 * static_cast<double>(plans) + 1;
  constexpr double kOfStretch = 3;  // two batches, after one that is not timed
  return ordered ? turns * kOfStretch : turns + 1;
}

ExpectedSeconds expected_seconds(const ExpectedWork& w) {
  const double batches = w.batches;
  const auto rounds = [&](size_t plans) {
    return std::max(w.measure, static_cast<double>(kLeastRounds) * executions_of_round(plans, w.ordered) * w.batch);
  };
  double data = 1;  // the profile runs every batch
  if (w.exits) ++data;
  if (w.target) data += 2;
  ExpectedSeconds s;
  s.low = w.opened + w.compile + batches * data * w.batch + (w.measure > 0 ? rounds(0) : 0) +
          std::min(w.verify, batches * w.batch) + kOracleBatch * w.batch;
  const size_t plans = w.passes * (w.alone ? 2 : 1);
  // Fresh processes measure again if the measuring is long enough for it.
  const auto repeated = [&](size_t of) {
    return w.measure >= kWorthRepeating ? std::max(kMostShare * w.measure, rounds(of) / 2) : 0;
  };
  const double again = repeated(plans);
  s.high = again + w.opened + static_cast<double>(1 + 2 * plans) * w.compile + batches * (data + 1) * w.batch +
           kAgain * rounds(plans) + 1.5 * w.verify + kOracleBatch * w.batch +
           2 * static_cast<double>(kFurtherRuns) * w.batch;
  if (!w.session && w.passes == 0) s.high -= batches * w.batch;
  s.high = std::max(s.high, s.low);
  const size_t half = (plans + 1) / 2;
  const double likely = w.opened + static_cast<double>(1 + half) * w.compile + batches * (data + 1) * w.batch +
                        (w.measure > 0 ? rounds(half) : 0) + repeated(half) / 2 +
                        std::min(w.verify, batches * w.batch) + kOracleBatch * w.batch +
                        static_cast<double>(kFurtherRuns) * w.batch;
  s.likely = std::clamp(likely, s.low, s.high);
  return s;
}

Trying way_of_trying(const TryChoice& c) {
  const auto seconds = [&](int64_t rounds, size_t plans) {
    return static_cast<double>(rounds) * executions_of_round(plans, c.ordered) * c.execution +
           static_cast<double>(plans) * c.prepare;
  };
  // A single pass is the same as all passes together.
  if (c.plans <= 1 && c.alone == 0) return seconds(c.rounds, c.plans) <= c.allowed ? Trying::all : Trying::together;
  if (!c.is_long && seconds(c.rounds, c.plans + c.alone) <= c.allowed) return Trying::all;
  return seconds(kBriefRounds, c.plans) + seconds(c.rounds, 1) <= c.allowed ? Trying::briefly : Trying::together;
}

std::vector<int64_t> FittingBatches::all() const {
  std::vector<int64_t> both = profiled;
  both.insert(both.end(), measured.begin(), measured.end());
  std::sort(both.begin(), both.end());
  both.erase(std::unique(both.begin(), both.end()), both.end());
  return both;
}

FittingBatches batches_that_fit(const std::vector<int64_t>& profiled, const std::vector<int64_t>& measured,
                                int64_t most) {
  const auto of_profiled = std::ssize(profiled), of_measured = std::ssize(measured);
  if (profiled == measured || most >= of_profiled + of_measured) return {profiled, measured};
  const int64_t first = std::clamp<int64_t>(most * of_profiled / (of_profiled + of_measured), 1, of_profiled);
  return {spread(profiled, first), spread(measured, std::clamp<int64_t>(most - first, 1, of_measured))};
}

}  // namespace stormcell
