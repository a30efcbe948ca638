#include "core/experiment/mirrored.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>

#include "core/summary/latency.h"

namespace stormcell {
namespace {

double machine_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

uint64_t next_random(uint64_t& state) {
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return state >> 33;
}

// The batches in orders drawn one after another. The first way through them goes in parts, the first few of which run twice: where there is
// no time for a second way, those tell whether batches gain alike. A part's second order is drawn too: a fixed distance could lock onto
// something periodic.
class BatchOrder {
 public:
  explicit BatchOrder(std::vector<int64_t> batches) : way_(std::move(batches)) {
    constexpr size_t kPart = 8, kTwice = 64;
    draw(way_);
    std::vector<int64_t> first;
    for (size_t begin = 0; begin < way_.size(); begin += kPart) {
      std::vector<int64_t> part;
      for (size_t i = begin; i < std::min(begin + kPart, way_.size()); ++i) part.push_back(way_[i]);
      first.insert(first.end(), part.begin(), part.end());
      if (begin >= kTwice) continue;
      draw(part);
      first.insert(first.end(), part.begin(), part.end());
    }
    std::swap(way_, first);
    later_ = std::move(first);
  }
  int64_t next() {
    if (at_ == way_.size()) {
      draw(later_);
      way_ = later_;
      at_ = 0;
    }
    return way_[at_++];
  }

 private:
  void draw(std::vector<int64_t>& order) {
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[next_random(random_) % i]);
  }

  std::vector<int64_t> way_, later_;
  size_t at_ = 0;
  uint64_t random_ = 1;
};

std::vector<size_t> order_of_plans(size_t plans, size_t chain) {
  std::vector<size_t> order(plans);
  for (size_t i = 0; i < plans; ++i) order[i] = (i + chain / 2) % plans;
  if (chain % 2) std::reverse(order.begin(), order.end());
  return order;
}

Chain run_chain(const MirroredJob& job, int64_t batch, size_t number) {
  Chain chain;
  chain.batch = batch;
  chain.order = order_of_plans(job.plans, number);
  chain.before.resize(job.plans);
  chain.plan = chain.after = chain.before;
  job.execute(chain.order.empty() ? 0 : chain.order.back() + 1, batch);  // warms up what the batch touches
  chain.baseline.push_back(job.execute(0, batch));
  for (const size_t p : chain.order) {
    chain.plan[p] = job.execute(p + 1, batch);
    chain.before[p] = chain.baseline.back();
    chain.after[p] = chain.baseline.emplace_back(job.execute(0, batch));
  }
  return chain;
}

void set_rounds(MirroredTimes& times, size_t batches) {
  constexpr size_t kMostParts = 20;
  const size_t chains = times.chains.size();
  const bool whole = chains >= static_cast<size_t>(kLeastRounds) * batches;
  const size_t rounds = whole ? chains / batches : std::min(chains, kMostParts);
  for (size_t i = 0; i < chains; ++i)
    times.chains[i].round = static_cast<int32_t>(whole ? std::min(i / batches, rounds - 1) : i * rounds / chains);
  times.rounds = static_cast<int64_t>(rounds);
}

std::map<int64_t, double> baseline_by_batch(const std::vector<Chain>& chains) {
  std::map<int64_t, std::vector<double>> all;
  for (const Chain& c : chains) all[c.batch].insert(all[c.batch].end(), c.baseline.begin(), c.baseline.end());
  std::map<int64_t, double> middle;
  for (auto& [batch, ms] : all) middle[batch] = median(std::move(ms));
  return middle;
}

}  // namespace

Ratio MirroredTimes::speedup(size_t plan) const {
  const std::map<int64_t, double> weight = baseline_by_batch(chains);
  std::vector<PairedVisit> visits;
  for (const Chain& c : chains) visits.push_back({c.batch, c.round, weight.at(c.batch), {c.before[plan], c.after[plan]}, c.plan[plan]});
  return paired_ratio(visits);
}

Ratio MirroredTimes::speedup_between(size_t first, size_t second) const {
  const std::map<int64_t, double> weight = baseline_by_batch(chains);
  std::vector<PairedVisit> visits;
  for (const Chain& c : chains)
    for (size_t i = 0; i + 1 < c.order.size(); ++i)
      if ((c.order[i] == first && c.order[i + 1] == second) || (c.order[i] == second && c.order[i + 1] == first))
        visits.push_back({c.batch, c.round, weight.at(c.batch), {c.plan[first]}, c.plan[second]});
  return paired_ratio(visits);
}

Latency MirroredTimes::plan_latency(size_t plan) const {
  std::vector<double> ms;
  for (const Chain& c : chains) ms.push_back(c.plan[plan]);
  return latency_of(ms);
}

Latency MirroredTimes::baseline_latency(size_t plan) const {
  std::vector<double> ms;
  for (const Chain& c : chains) ms.push_back(c.before[plan]), ms.push_back(c.after[plan]);
  return latency_of(ms);
}

Latency MirroredTimes::baseline_latency() const {
  std::vector<double> ms;
  for (const Chain& c : chains) ms.insert(ms.end(), c.baseline.begin(), c.baseline.end());
  return latency_of(ms);
}

MirroredTimes measure_mirrored(const MirroredJob& job, const Progress& progress) {
  const auto clock = job.clock ? job.clock : machine_seconds;
  MirroredTimes times;
  BatchOrder order(job.batches);
  const double begin = clock();
  constexpr size_t kMostChains = 4000;  // more would not narrow an interval that anybody reads
  for (size_t i = 0; i < static_cast<size_t>(kLeastRounds) || (i < kMostChains && clock() - begin < job.seconds); ++i) {
    progress.report("measuring", std::llround(10 * (clock() - begin)), std::llround(10 * job.seconds));
    times.chains.push_back(run_chain(job, order.next(), i));
  }
  set_rounds(times, job.batches.size());
  std::set<int64_t> seen;
  for (const Chain& c : times.chains) seen.insert(c.batch);
  times.batches = static_cast<int64_t>(seen.size());
  return times;
}

double repeat_spread(const MirroredTimes& times) {
  const std::map<int64_t, double> middle = baseline_by_batch(times.chains);
  std::vector<double> ratios;
  for (const Chain& c : times.chains)
    for (const double ms : c.baseline)
      if (middle.at(c.batch) > 0) ratios.push_back(ms / middle.at(c.batch));
  return ratios.empty() ? 1 : quantile(std::move(ratios), 0.95);
}

}  // namespace stormcell
