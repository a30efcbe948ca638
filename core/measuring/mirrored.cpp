#include "core/measuring/mirrored.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/base/clock.h"
#include "core/base/lcg.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

// The batches in orders drawn one after another. The first way through them goes in parts, whose first few run twice:
// if there is no time for a second way, those show whether batches gain alike. A part's second order is drawn too: a
// fixed distance could lock onto something periodic.
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
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_.next() % i]);
  }

  std::vector<int64_t> way_, later_;
  size_t at_ = 0;
  Lcg random_;
};

std::vector<size_t> order_of_plans(size_t plans, size_t chain) {
  std::vector<size_t> order(plans);
  for (size_t i = 0; i < plans; ++i) order[i] = (i + chain / 2) % plans;
  if (chain % 2) std::reverse(order.begin(), order.end());
  return order;
}

double add_baseline(Chain& chain, const TimedExecution& ran) {
  chain.baseline_reads.push_back(ran.read);
  return chain.baseline.emplace_back(ran.milliseconds);
}
/// Adds an execution of a plan behind one of the baseline.
void add_plan(Chain& chain, size_t plan, const TimedExecution& ran) {
  chain.plan_reads.push_back(ran.read);
  chain.plans[plan].plan = ran.milliseconds, chain.plans[plan].before = chain.baseline.back();
}

Chain run_chain(const MirroredJob& job, int64_t batch, size_t number) {
  Chain chain;
  chain.batch = batch;
  chain.order = order_of_plans(job.plans, number);
  chain.plans.resize(job.plans);
  job.execute(chain.order.empty() ? 0 : chain.order.back() + 1, batch);  // warms up what the batch touches
  add_baseline(chain, job.execute(0, batch));
  for (const size_t p : chain.order) {
    add_plan(chain, p, job.execute(p + 1, batch));
    chain.plans[p].after = add_baseline(chain, job.execute(0, batch));
  }
  return chain;
}

/// Stretches of the data, one after another, each of them by one plan after the other.
class DataOrder {
 public:
  explicit DataOrder(const MirroredJob& job)
      : job_(job), stretch_(std::clamp<size_t>(static_cast<size_t>(job.stretch), 1, job.batches.size())) {}
  size_t stretch() const { return stretch_; }
  /// See MirroredTimes.
  const std::vector<int64_t>& baseline_filled() const { return filled_; }

  /// Adds a chain for each batch of the next stretch.
  void run(size_t number, std::vector<Chain>& chains) {
    std::vector<Chain> of(stretch_);
    for (size_t i = 0; i < stretch_; ++i) {
      of[i].batch = batch_at(i);
      of[i].order = order_of_plans(job_.plans, number);
      of[i].plans.resize(job_.plans);
    }
    filled_.resize(job_.plans + 1);
    filled_[0] += go_through(0, [&](size_t i, const TimedExecution& ran) { add_baseline(of[i], ran); });
    size_t place = 0;
    for (const size_t p : of[0].order) {
      go_through(p + 1, [&](size_t i, const TimedExecution& ran) { add_plan(of[i], p, ran); });
      filled_[++place] +=
          go_through(0, [&](size_t i, const TimedExecution& ran) { of[i].plans[p].after = add_baseline(of[i], ran); });
    }
    first_ = (first_ + stretch_) % job_.batches.size();
    chains.insert(chains.end(), of.begin(), of.end());
  }

 private:
  int64_t batch_at(size_t i) const { return job_.batches[(first_ + i) % job_.batches.size()]; }

  /// Bytes of slots that were filled, if they are counted.
  template <class Take>
  int64_t go_through(size_t plan, Take take) {
    const size_t all = job_.batches.size();
    if (last_ != std::pair(plan, batch_at(all - 1)))
      for (size_t back = std::clamp<size_t>(static_cast<size_t>(job_.lead), 1, all); back > 0; --back)
        run_untimed(plan, batch_at(all - back));
    const int64_t before = filled();
    for (size_t i = 0; i < stretch_; ++i) {
      TimedExecution ran = job_.execute(plan, batch_at(i));
      if (i + 1 == stretch_ && job_.finish) ran.milliseconds += job_.finish(plan);
      take(i, ran);
    }
    last_ = {plan, batch_at(stretch_ - 1)};
    return filled() - before;
  }
  void run_untimed(size_t plan, int64_t batch) {
    if (job_.run_untimed) {
      job_.run_untimed(plan, batch);
    } else {
      job_.execute(plan, batch);
    }
  }
  int64_t filled() const { return job_.filled ? job_.filled() : 0; }

  const MirroredJob& job_;
  size_t stretch_, first_ = 0;
  std::vector<int64_t> filled_;
  std::pair<size_t, int64_t> last_{0, -1};  // plan and batch that ran last
};

/// Chains of a stretch share what disturbed it: they are of one round.
void set_rounds(MirroredTimes& times, size_t batches, size_t stretch) {
  constexpr size_t kMostParts = 20;
  const size_t chains = times.chains.size(), stretches = chains / stretch;
  const bool whole = chains >= static_cast<size_t>(kLeastRounds) * batches;
  const size_t rounds = whole ? chains / batches : std::min(stretches, kMostParts);
  for (size_t i = 0; i < chains; ++i) {
    const size_t at = i / stretch;
    times.chains[i].round =
        static_cast<int32_t>(whole ? std::min(at * stretch / batches, rounds - 1) : at * rounds / stretches);
  }
  times.rounds = static_cast<int64_t>(rounds);
}

std::map<int64_t, double> baseline_by_batch(const std::vector<Chain>& chains) {
  std::map<int64_t, std::vector<double>> all;
  for (const Chain& c : chains) all[c.batch].insert(all[c.batch].end(), c.baseline.begin(), c.baseline.end());
  std::map<int64_t, double> middle;
  for (auto& [batch, ms] : all) middle[batch] = median(std::move(ms));
  return middle;
}

/// The batches by the median of their values, the smallest first.
std::vector<int64_t> by_median(std::map<int64_t, std::vector<double>> values) {
  std::vector<std::pair<double, int64_t>> order;
  for (auto& [batch, list] : values) order.emplace_back(median(std::move(list)), batch);
  std::sort(order.begin(), order.end());
  std::vector<int64_t> batches;
  for (const auto& [value, batch] : order) batches.push_back(batch);
  return batches;
}

}  // namespace

std::vector<int64_t> MirroredTimes::by_gain(size_t plan) const {
  std::map<int64_t, std::vector<double>> gains;
  for (const Chain& c : chains) {
    const Mirrored& m = c.plans[plan];
    gains[c.batch].push_back((m.before + m.after) / m.plan);
  }
  return by_median(std::move(gains));
}

std::vector<int64_t> MirroredTimes::by_time() const {
  std::map<int64_t, std::vector<double>> times;
  for (const Chain& c : chains) times[c.batch].insert(times[c.batch].end(), c.baseline.begin(), c.baseline.end());
  return by_median(std::move(times));
}

Ratio MirroredTimes::speedup(size_t plan) const {
  const std::map<int64_t, double> weight = baseline_by_batch(chains);
  std::vector<PairedVisit> visits;
  for (const Chain& c : chains)
    visits.push_back(
        {c.batch, c.round, weight.at(c.batch), {c.plans[plan].before, c.plans[plan].after}, c.plans[plan].plan});
  return paired_ratio(visits);
}

Ratio MirroredTimes::speedup_between(size_t first, size_t second) const {
  const std::map<int64_t, double> weight = baseline_by_batch(chains);
  std::vector<PairedVisit> visits;
  for (const Chain& c : chains)
    for (size_t i = 0; i + 1 < c.order.size(); ++i)
      if ((c.order[i] == first && c.order[i + 1] == second) || (c.order[i] == second && c.order[i + 1] == first))
        visits.push_back({c.batch, c.round, weight.at(c.batch), {c.plans[first].plan}, c.plans[second].plan});
  return paired_ratio(visits);
}

Latency MirroredTimes::plan_latency(size_t plan) const {
  std::vector<double> ms;
  for (const Chain& c : chains) ms.push_back(c.plans[plan].plan);
  return latency_of(ms);
}

Latency MirroredTimes::baseline_latency(size_t plan) const {
  std::vector<double> ms;
  for (const Chain& c : chains) ms.push_back(c.plans[plan].before), ms.push_back(c.plans[plan].after);
  return latency_of(ms);
}

Latency MirroredTimes::baseline_latency() const {
  std::vector<double> ms;
  for (const Chain& c : chains) ms.insert(ms.end(), c.baseline.begin(), c.baseline.end());
  return latency_of(ms);
}

namespace {
/// The place of a plan in the chain: between this execution of the baseline and the next.
size_t place_of(const Chain& chain, size_t plan) {
  return static_cast<size_t>(std::find(chain.order.begin(), chain.order.end(), plan) - chain.order.begin());
}
}  // namespace

TimedReads MirroredTimes::plan_reads(size_t plan) const {
  TimedReads sum;
  for (const Chain& c : chains) sum += c.plan_reads[place_of(c, plan)];
  return sum;
}

TimedReads MirroredTimes::baseline_reads(size_t plan) const {
  TimedReads sum;
  for (const Chain& c : chains)
    for (const size_t place : {place_of(c, plan), place_of(c, plan) + 1}) sum += c.baseline_reads[place];
  return sum;
}

TimedReads MirroredTimes::baseline_reads() const {
  TimedReads sum;
  for (const Chain& c : chains)
    for (const TimedReads& read : c.baseline_reads) sum += read;
  return sum;
}

double MirroredTimes::unlike_fills() const {
  if (baseline_filled.empty()) return 0;
  const auto [least, most] = std::minmax_element(baseline_filled.begin(), baseline_filled.end());
  return *most > 0 ? 1 - static_cast<double>(*least) / (*most) : 0;
}

void set_order(MirroredJob& job, double milliseconds, int64_t settling) {
  const auto count = std::ssize(job.batches);
  const double executions = 2 * job.plans + 1;
  const double room = std::min(
      job.seconds * 1e3 / (static_cast<double>(job.least_chains) * executions * std::max(milliseconds, 1e-6)), 1e9);
  job.lead = std::clamp<int64_t>(std::min<int64_t>(settling, std::llround(2 * room)), 1, count);
  job.stretch =
      std::clamp<int64_t>(std::llround(room) - (job.plans > 0 ? job.lead : 0), std::min<int64_t>(count, 2), count);
}

MirroredTimes measure_mirrored(const MirroredJob& job, const Progress& progress) {
  const auto clock = job.clock ? job.clock : seconds_now;
  MirroredTimes times;
  BatchOrder drawn(job.batches);
  DataOrder in_order(job);
  const double begin = clock();
  constexpr size_t kMostChains = 4000;  // more would not narrow an interval that anybody reads
  std::set<int64_t> seen;
  const auto goes_on = [&](size_t rounds) {
    const double spent = clock() - begin;
    if (rounds > 0 && spent >= job.most_seconds) return false;
    if (rounds < static_cast<size_t>(job.least_chains)) return true;
    const double seconds = std::ssize(seen) < job.least_batches ? job.most_times * job.seconds : job.seconds;
    return times.chains.size() < kMostChains && spent < seconds;
  };
  for (size_t i = 0; goes_on(i); ++i) {
    const double spent = clock() - begin;
    progress.report("measuring", std::llround(10 * spent), std::llround(10 * std::max(job.seconds, spent)));
    if (job.between) job.between();
    if (job.stretch > 0) {
      in_order.run(i, times.chains);
      for (size_t c = times.chains.size() - in_order.stretch(); c < times.chains.size(); ++c)
        seen.insert(times.chains[c].batch);
    } else {
      times.chains.push_back(run_chain(job, drawn.next(), i));
      seen.insert(times.chains.back().batch);
    }
  }
  times.baseline_filled = in_order.baseline_filled();
  set_rounds(times, job.batches.size(), job.stretch > 0 ? in_order.stretch() : 1);
  times.batches = std::ssize(seen);
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
