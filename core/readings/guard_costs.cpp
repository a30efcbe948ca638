#include "core/readings/guard_costs.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "core/base/blocking.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

constexpr int64_t kMostBatches = 64;  // of each kind: a mean of so many is steady

/// A node that finds out whether a guard holds (dead_path.cpp, straight_region.cpp). Decoding also ends by all_set.
bool is_test(const RunLayout& layout, uint32_t step) {
  if (step >= layout.steps.size()) return false;
  const std::string& op = layout.steps[step].op;
  if (op == "branches_empty" || op == "branches_full") return true;
  return op == "all_set" && step + 1 < layout.steps.size() && layout.steps[step + 1].op == "guard";
}

/// Milliseconds of one batch by step. Threads may share a step: it lasts from its first event to its last.
std::map<uint32_t, double> times_of(const std::vector<StepEvent>& events) {
  std::map<uint32_t, std::pair<uint64_t, uint64_t>> spans;
  for (const StepEvent& e : events) {
    const auto [at, is_new] = spans.try_emplace(e.step, e.begin_ns, e.end_ns);
    if (is_new) continue;
    at->second.first = std::min(at->second.first, e.begin_ns);
    at->second.second = std::max(at->second.second, e.end_ns);
  }
  std::map<uint32_t, double> times;
  for (const auto& [step, span] : spans) times[step] = static_cast<double>(span.second - span.first) * 1e-6;
  return times;
}

/// A fallback begins behind the step that asks for its weights. It ends before the first step that a batch without a
/// miss executes: there, nothing of it runs.
struct FallbackSteps {
  uint32_t begin = 0, end = 0;
};
std::vector<FallbackSteps> fallbacks_of(const RunLayout& layout, const std::set<uint32_t>& without_miss) {
  std::vector<FallbackSteps> list;
  for (uint32_t s = 0; s < layout.steps.size(); ++s) {
    if (layout.steps[s].op != "need_weights") continue;
    if (!list.empty() && s < list.back().end) continue;  // a guard within a fallback
    const auto end = without_miss.upper_bound(s);
    list.push_back({s, end == without_miss.end() ? static_cast<uint32_t>(layout.steps.size()) : *end});
  }
  return list;
}

struct TimedBatch {
  bool missed = false;
  std::map<uint32_t, double> times;
};

std::vector<TimedBatch> timed_batches(const OpenedRun& opened, const Progress& progress) {
  std::vector<TimedBatch> timed;
  int64_t missed = 0, held = 0;
  constexpr int64_t kAtOnce = 1024;
  for (int64_t first = 0; first < opened.summary.batches; first += kAtOnce) {
    progress.report("reading guards", first, opened.summary.batches);
    for (const BatchSummary& batch : opened.reader.batches(opened.summary.id, {first, first + kAtOnce})) {
      if (batch.guard_hits + batch.guard_misses == 0) continue;
      int64_t& read = batch.guard_misses > 0 ? missed : held;
      if (read == kMostBatches) continue;
      auto times = times_of(opened.reader.events(opened.summary.id, batch.number));
      if (times.empty()) continue;
      ++read;
      timed.push_back({batch.guard_misses > 0, std::move(times)});
    }
    if (missed == kMostBatches && held == kMostBatches) break;
  }
  return timed;
}

}  // namespace

std::optional<GuardCosts> read_guard_costs(const std::string& file, int64_t run, const Progress& progress) {
  may_block("read_guard_costs");
  const OpenedRun opened(file, run);
  GuardCosts costs;
  for (const GuardTotal& guard : opened.reader.guards(opened.summary.id))
    costs.hits += guard.hits, costs.misses += guard.misses;
  if (costs.hits + costs.misses == 0) return {};
  const std::vector<TimedBatch> timed = timed_batches(opened, progress);
  if (timed.empty()) return {};
  costs.batches = std::ssize(timed);
  std::set<uint32_t> without_miss;
  double tests = 0, fallbacks = 0;
  bool has_tests = false;
  for (const TimedBatch& batch : timed)
    for (const auto& [step, ms] : batch.times) {
      if (!batch.missed) without_miss.insert(step);
      if (is_test(opened.layout, step)) tests += ms, has_tests = true;
    }
  if (has_tests) costs.tests_ms = tests / static_cast<double>(timed.size());
  // Without a batch in which all guards held, nothing says where a fallback ends.
  if (without_miss.empty()) return costs;
  for (const FallbackSteps& steps : fallbacks_of(opened.layout, without_miss))
    for (const TimedBatch& batch : timed) {
      const auto begin = batch.times.upper_bound(steps.begin), end = batch.times.lower_bound(steps.end);
      if (!batch.missed || begin == end) continue;
      ++costs.fallbacks;
      for (auto step = begin; step != end; ++step) fallbacks += step->second;
    }
  if (costs.fallbacks > 0) costs.fallback_ms = fallbacks / static_cast<double>(costs.fallbacks);
  return costs;
}

}  // namespace stormcell
