// Speed-ups measured on a simulated machine: how often the interval holds the truth, how wide it is, beside a neighbour
// and without.
#include "core/measuring/mirrored.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <numeric>
#include <set>

#include "core/experiment/measure_again.h"
#include "core/summary/latency.h"
#include "tests/core/measuring/simulated_machine.h"
#include "tests/testing/counts.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

enum class Kind : uint8_t { slows, pauses };
constexpr std::pair<Kind, double> kNeighbours[] = {{Kind::slows, 0.1}, {Kind::slows, 0.25}, {Kind::slows, 0.7},
                                                   {Kind::slows, 2.0}, {Kind::pauses, 0.1}, {Kind::pauses, 0.7}};

struct Tally {
  int intervals = 0, hold = 0;  ///< of speed-ups over the baseline
  int between = 0, between_hold = 0;
  std::vector<double> widths;  ///< of log intervals
  double furthest_mean = 0;    ///< |log(ratio of the means / speed-up)|

  /// `speed`: the truth, by plan.
  void add(const std::vector<double>& speed, const MirroredTimes& times) {
    for (size_t p = 0; p < speed.size(); ++p) {
      const Ratio r = times.speedup(p);
      ++intervals;
      hold += r.ci95[0] <= speed[p] && speed[p] <= r.ci95[1];
      widths.push_back(std::log(r.ci95[1] / r.ci95[0]));
      furthest_mean = std::max(
          furthest_mean, std::fabs(std::log(times.baseline_latency(p).mean / times.plan_latency(p).mean / r.value)));
      if (p == 0) continue;
      const Ratio own = times.speedup_between(p - 1, p);
      const double truth = speed[p] / speed[p - 1];
      ++between;
      between_hold += own.ci95[0] <= truth && truth <= own.ci95[1];
    }
  }
  double coverage() const { return static_cast<double>(hold) / intervals; }
  double width() const { return median(widths); }
};

Neighbour neighbour_of(Kind kind, double period, uint64_t seed) {
  testing::Drawn<std::mt19937_64> engine(seed + 77);
  std::uniform_real_distribution<double> uniform;
  return {period, 1.6 + 0.4 * uniform(engine), 2 * uniform(engine), kind == Kind::pauses ? 0.2 : 0};
}

/// `first` seed: no two cases share their accidents.
Tally tally(const SimulatedCase& c, Kind kind, double period, uint64_t first, uint64_t seeds) {
  Tally t;
  for (uint64_t seed = first; seed < first + seeds; ++seed)
    t.add(true_speeds(c, seed), measure(c, neighbour_of(kind, period, seed), seed));
  return t;
}

/// A share of the batches gains `gain` times more, and with each further plan so much again.
std::function<double(size_t, size_t)> two_kinds(double share, double gain) {
  return [=](size_t plan, size_t batch) {
    const auto b = static_cast<double>(batch);
    return std::floor((b + 1) * share + 1e-9) > std::floor(b * share + 1e-9)
               ? std::pow(gain, static_cast<double>(plan + 1))
               : 1.0;
  };
}
double all_unlike(size_t plan, size_t batch) {
  return std::exp(0.4 * static_cast<double>(plan + 1) * std::pow(static_cast<double>(batch * 37 % 157) / 157, 3));
}

std::vector<size_t> places_of(const MirroredTimes& times, size_t plan) {
  std::vector<size_t> places;
  for (const Chain& c : times.chains)
    places.push_back(static_cast<size_t>(std::find(c.order.begin(), c.order.end(), plan) - c.order.begin()));
  return places;
}

}  // namespace

class MirroredTest : public QObject {
  Q_OBJECT
 private slots:
  void what_executions_read_is_told_of_those_that_the_latency_is_of() {
    // Every execution reads another number of weights, and takes as many milliseconds.
    for (const int64_t stretch : {0, 2}) {
      int64_t ran = 0;
      MirroredJob job{.plans = 3, .batches = {0, 1, 2}, .seconds = 0, .stretch = stretch};
      job.execute = [&](size_t, int64_t) {
        ++ran;
        return TimedExecution(static_cast<double>(ran), {.executions = 1, .reads = ran});
      };
      const MirroredTimes times = measure_mirrored(job, {});
      const auto same = [](const TimedReads& read, const Latency& latency) {
        return read.executions == latency.runs &&
               std::llround(latency.mean * static_cast<double>(latency.runs)) == read.reads;
      };
      for (size_t p = 0; p < job.plans; ++p)
        QVERIFY(same(times.plan_reads(p), times.plan_latency(p)) &&
                same(times.baseline_reads(p), times.baseline_latency(p)));
      QVERIFY(same(times.baseline_reads(), times.baseline_latency()));
    }
  }
  void batches_in_the_order_of_their_gain_and_of_their_time() {
    // Batch 7 gains most and takes longest; batch 5 gains least.
    MirroredTimes times;
    const auto add = [&](int64_t batch, double baseline, double plan) {
      Chain& c = times.chains.emplace_back();
      c.batch = batch, c.order = {0}, c.baseline = {baseline, baseline};
      c.plans = {{baseline, plan, baseline}};
    };
    add(5, 4, 4), add(7, 9, 3), add(6, 2, 1), add(5, 4, 3.9), add(7, 9, 30), add(7, 9, 3.1);
    QCOMPARE(times.by_gain(0), (std::vector<int64_t>{5, 6, 7}));
    QCOMPARE(times.by_time(), (std::vector<int64_t>{6, 5, 7}));
  }
  void each_fresh_process_has_batches_of_all_gains() {
    std::vector<int64_t> ordered(157);
    std::iota(ordered.begin(), ordered.end(), 1000);
    std::set<int64_t> all;
    for (int64_t process = 1; process <= 8; ++process) {
      const std::vector<int64_t> sample = even_sample(ordered, 10, process);
      QCOMPARE(sample.size(), size_t{10});
      QVERIFY(std::is_sorted(sample.begin(), sample.end()) && sample.front() >= 1000 && sample.back() <= 1156);
      for (size_t i = 0; i < sample.size(); ++i)
        QVERIFY(std::llabs(sample[i] - 1000 - static_cast<int64_t>(15.7 * (static_cast<double>(i) + 0.5))) <= 8);
      all.insert(sample.begin(), sample.end());
    }
    QVERIFY2(all.size() >= 76, qPrintable(QString::number(all.size())));  // hardly any batch twice
    QCOMPARE(even_sample(ordered, 157, 3), ordered);
    QCOMPARE(even_sample({4}, 3, 1), (std::vector<int64_t>{4}));
  }
  void the_interval_holds_the_truth_and_stays_narrow_beside_a_neighbour() {
    // One, three and five plans; batches of 2 and 5 ms, so that three executions mostly share what the neighbour does.
    int intervals = 0, hold = 0, between = 0, between_hold = 0;
    uint64_t first = 0;
    const auto count = [&](const Tally& t) {
      intervals += t.intervals, hold += t.hold;
      between += t.between, between_hold += t.between_hold;
      first += 1000;
    };
    for (const double batch : {0.002, 0.005}) {
      for (const std::vector<double>& speed :
           {std::vector<double>{1.067}, {0.973, 1.02, 1.25}, {1.0, 1.1, 1.15, 0.9, 1.3}}) {
        const SimulatedCase c{batch, 157, 8, speed};
        const Tally quiet = tally(c, Kind::slows, 0, first, drawn(20));
        count(quiet);
        for (const auto& [kind, period] : kNeighbours) {
          const Tally busy = tally(c, kind, period, first, drawn(20));
          count(busy);
          const std::string told = "batches of " + std::to_string(batch * 1e3) + " ms, " +
                                   std::to_string(speed.size()) + " plans, " +
                                   (kind == Kind::slows ? "slowed" : "paused") + ", period " + std::to_string(period) +
                                   ": width " + std::to_string(busy.width()) + ", quiet " +
                                   std::to_string(quiet.width()) + ", coverage " + std::to_string(busy.coverage());
          QVERIFY2(busy.width() <= 3 * quiet.width(), told.c_str());
          // Nothing beside the speed-up says something else than the speed-up.
          QVERIFY2(busy.furthest_mean < 0.1, (told + ", means " + std::to_string(busy.furthest_mean)).c_str());
        }
      }
    }
    qInfo("%d of %d intervals hold the truth; between two plans %d of %d", hold, intervals, between_hold, between);
    QVERIFY(hold >= 0.93 * intervals);
    QVERIFY(between_hold >= 0.93 * between);
  }

  void where_executions_are_long_the_interval_widens_and_still_holds_the_truth() {
    // A neighbour's half period is as long as an execution: no pair is alike. The interval has to say so.
    const SimulatedCase c{0.05, 40, 8, {1.067}};
    const Tally busy = tally(c, Kind::slows, 0.1, 50000, 60), quiet = tally(c, Kind::slows, 0, 51000, 60);
    QVERIFY2(busy.coverage() >= 0.9 && quiet.coverage() >= 0.9, std::to_string(busy.coverage()).c_str());
    QVERIFY(busy.width() > 3 * quiet.width());
  }

  void batches_that_gain_unlike_count_by_their_time() {
    // Three plain batches and two padded ones, or 157 of which some gain much more than others: the time of all of them
    // over their time on the plan. A median over all pairs is a percentile of one kind, and its interval held the truth
    // nowhere.
    struct Row {
      const char* name;
      SimulatedCase of;
      double widest;  ///< of intervals, in the middle of the seeds, whatever the neighbour does
    };
    const Row rows[] = {
        {"5 batches, 2 padded", {0.01, 5, 8, {1.03}, two_kinds(0.4, 2.6)}, 0.03},
        {"157 batches, 2 of 5 padded", {0.005, 157, 8, {1.03}, two_kinds(0.4, 2.6)}, 0.15},
        {"157 batches, 3 plans", {0.005, 157, 8, {1.03, 1.1, 1.0}, two_kinds(0.4, 1.3)}, 0.2},
        {"157 batches, one of 10 much slower", {0.002, 157, 8, {1.1}, two_kinds(0.1, 0.5)}, 0.15},
        {"157 batches, all unlike", {0.005, 157, 8, {1.03, 1.0}, all_unlike}, 0.15},
        {"12 batches, few chains", {0.05, 12, 4, {1.03}, two_kinds(0.4, 1.6)}, 1},
        {"400 batches, few of them measured", {0.005, 400, 4, {1.03}, two_kinds(0.3, 1.6)}, 0.2},
    };
    uint64_t first = 100000;
    int intervals = 0, hold = 0, between = 0, between_hold = 0;
    for (const Row& row : rows)
      for (const auto& [kind, period] :
           {std::pair{Kind::slows, 0.0}, {Kind::slows, 0.25}, {Kind::slows, 2.0}, {Kind::pauses, 0.1}}) {
        const Tally t = tally(row.of, kind, period, first += 1000, drawn(30));
        intervals += t.intervals, hold += t.hold;
        between += t.between, between_hold += t.between_hold;
        const std::string told = std::string(row.name) + (kind == Kind::slows ? ", slowed" : ", paused") + ", period " +
                                 std::to_string(period) + ": coverage " + std::to_string(t.coverage()) + ", width " +
                                 std::to_string(t.width());
        qInfo("%s", told.c_str());
        QVERIFY2(t.coverage() >= 0.7, told.c_str());
        QVERIFY2(t.width() <= row.widest, told.c_str());
      }
    qInfo("%d of %d intervals hold the truth; between two plans %d of %d", hold, intervals, between_hold, between);
    QVERIFY(hold >= 0.92 * intervals);
    QVERIFY(between_hold >= 0.9 * between);
  }

  void batches_that_gain_alike_are_rarely_taken_for_unlike() {
    // Then the interval is that of the median over all pairs, as narrow beside a neighbour as without.
    int all = 0, others = 0;
    for (const auto& [kind, period] : kNeighbours)
      for (uint64_t seed = 0; seed < 20; ++seed) {
        const SimulatedCase c{0.005, 157, 8, {1.067}};
        ++all;
        others += measure(c, neighbour_of(kind, period, seed), seed).speedup(0).basis != RatioBasis::all_pairs;
      }
    QVERIFY2(others <= all / 10, std::to_string(others).c_str());
  }

  void every_plan_stands_at_every_place_and_between_two_executions_of_the_baseline() {
    const MirroredTimes times = measure({0.002, 9, 0.5, {1, 1.1, 1.2}}, {}, 1);
    for (size_t p = 0; p < 3; ++p) {
      std::vector<size_t> places = places_of(times, p);
      QCOMPARE(std::set<size_t>(places.begin(), places.end()).size(), size_t{3});
      for (size_t i = 0; i < times.chains.size(); ++i) {
        const Chain& c = times.chains[i];
        QCOMPARE(c.plans[p].before, c.baseline[places[i]]);
        QCOMPARE(c.plans[p].after, c.baseline[places[i] + 1]);
      }
    }
  }

  void the_first_execution_on_a_batch_is_not_kept() {
    // The first one on each batch takes ten times as long, whoever it is.
    int64_t last = -1;
    double now = 0;
    MirroredJob job{2, {0, 1, 2}, 0.2, {}, [&] { return now; }};
    int executions = 0;
    job.execute = [&](size_t, int64_t batch) {
      const double ms = batch == last ? 1 : 10;
      last = batch;
      ++executions;
      now += ms * 1e-3;
      return ms;
    };
    const MirroredTimes times = measure_mirrored(job, {});
    // A way through the batches may end with the one that the next begins with: then nothing is slow.
    QCOMPARE(times.baseline_latency().p95, 1.0);
    QCOMPARE(times.plan_latency(0).mean, 1.0);
    QCOMPARE(executions, static_cast<int>(times.chains.size()) * 6);
  }

  void all_batches_are_measured_alike_often() {
    const MirroredTimes times = measure({0.002, 50, 2, {1.1}}, {}, 3);
    QCOMPARE(times.batches, 50);
    std::vector<int> often(50);
    for (const Chain& c : times.chains) ++often[static_cast<size_t>(c.batch)];
    QVERIFY(*std::max_element(often.begin(), often.end()) - *std::min_element(often.begin(), often.end()) <= 2);
    // If there is no time for two ways through them, some have run twice.
    std::vector<int> few(400);
    for (const Chain& c : measure({0.005, 400, 4, {1.1}}, {}, 3).chains) ++few[static_cast<size_t>(c.batch)];
    QCOMPARE(std::count(few.begin(), few.end(), 2), 64);
    QVERIFY(std::count(few.begin(), few.end(), 1) > 16);
    // Rounds are whole ways through the batches where there is time for seven, else parts of what was run.
    QCOMPARE(measure({0.002, 5, 2, {1.1}}, {}, 3).rounds,
             static_cast<int64_t>(measure({0.002, 5, 2, {1.1}}, {}, 3).chains.size() / 5));
    QCOMPARE(measure({0.002, 5000, 2, {1.1}}, {}, 3).rounds, 20);
    QCOMPARE(measure({0.1, 5, 0, {1.1}}, {}, 3).rounds, kLeastRounds);
  }

  void measuring_goes_on_until_a_third_of_the_batches_ran_but_not_beyond_twice_its_time() {
    const auto batches_seen = [](int64_t least, double seconds) {
      MirroredJob job;
      job.plans = 1, job.seconds = seconds, job.least_batches = least;
      for (int64_t b = 0; b < 157; ++b) job.batches.push_back(b);
      double now = 0;
      job.clock = [&] { return now; };
      job.execute = [&](size_t, int64_t) { return now += 0.01, 10.0; };
      const MirroredTimes times = measure_mirrored(job, {});
      return std::pair(times.batches, now);
    };
    const auto [without, one_second] = batches_seen(0, 2.6);
    QVERIFY(without < 53 && one_second < 2.65);
    const auto [with, longer] = batches_seen(53, 2.6);
    QCOMPARE(with, 53);
    QVERIFY(longer < 5.2);
    const auto [bounded, twice] = batches_seen(157, 2.6);
    QVERIFY(bounded > 53 && bounded < 157 && twice >= 5.2 && twice < 5.3);
  }

  void in_the_datas_order_each_plan_finds_what_the_batch_before_left_it() {
    // Slots that all plans share and that hold what the last batch needed: a batch that ran last is ready, any other is
    // read for 9 ms.
    for (const auto& [batches, plans] : {std::pair{40, size_t{0}}, {40, size_t{1}}, {40, size_t{3}}, {3, size_t{2}}}) {
      MirroredJob job;
      job.plans = plans;
      for (int64_t b = 0; b < batches; ++b) job.batches.push_back(b);
      double now = 0;
      int64_t held = -1;
      size_t held_by = 0;
      std::vector<int64_t> timed;
      const auto run = [&](size_t plan, int64_t batch) {
        const double ms = (batch == held ? 0 : 9) + (plan == 1 ? 0.5 : 1);
        held = batch, held_by = plan;
        now += ms * 1e-3;
        return ms;
      };
      bool in_order = true;
      job.clock = [&] { return now; };
      job.run_untimed = run;
      job.execute = [&, &batches = batches](size_t plan, int64_t batch) {
        in_order = in_order && (held < 0 || (held_by == plan && (held + 1) % batches == batch));
        if (plan == 0) timed.push_back(batch);
        return run(plan, batch);
      };
      job.seconds = 4;
      const MirroredTimes warm = measure_mirrored(job, {});
      QCOMPARE(warm.baseline_latency().median, 1.0);  // drawn and warmed up: nothing is read
      in_order = true, timed.clear(), held = -1;
      set_order(job, 10, 1);
      const MirroredTimes times = measure_mirrored(job, {});
      QVERIFY(in_order);
      QCOMPARE(times.baseline_latency().min, 10.0);
      for (size_t p = 0; p < plans; ++p) {
        const double expected = p == 0 ? 10 / 9.5 : 1;
        QVERIFY2(std::fabs(times.speedup(p).value - expected) < 1e-9, std::to_string(times.speedup(p).value).c_str());
      }
      // Chains of a stretch are of one round.
      for (size_t i = 0; i + 1 < times.chains.size(); ++i)
        if (i / static_cast<size_t>(job.stretch) == (i + 1) / static_cast<size_t>(job.stretch))
          QVERIFY(times.chains[i].round == times.chains[i + 1].round || times.chains[i + 1].batch == 0);
      QVERIFY(times.rounds >= kLeastRounds);
      QVERIFY(std::set(timed.begin(), timed.end()).size() >= static_cast<size_t>(std::min(batches, 7)));
    }
  }
  void slots_of_many_batches_are_each_plans_own_or_nothing_is_told() {
    // Slots that hold what the last eight different batches needed: of a cycle through forty none is ever found. A plan
    // beside itself, and one that computes for 0.5 ms less.
    constexpr int64_t kHeld = 8;
    for (const int64_t settling : {int64_t{1}, kHeld, int64_t{1000}}) {
      MirroredJob job;
      job.plans = 2, job.seconds = 4;
      for (int64_t b = 0; b < 40; ++b) job.batches.push_back(b);
      double now = 0;
      std::deque<int64_t> held;
      int64_t filled = 0;
      const auto run = [&](size_t plan, int64_t batch) {
        const auto at = std::find(held.begin(), held.end(), batch);
        const bool is_held = at != held.end();
        if (is_held) held.erase(at);
        held.push_back(batch);
        if (held.size() > kHeld) held.pop_front();
        filled += is_held ? 0 : 100;
        const double ms = (is_held ? 0 : 9) + (plan == 2 ? 0.5 : 1);
        now += ms * 1e-3;
        return ms;
      };
      job.clock = [&] { return now; };
      job.execute = run;
      job.filled = [&] { return filled; };
      set_order(job, 10, settling);
      if (settling == 1) job.stretch = 2;
      const MirroredTimes times = measure_mirrored(job, {});
      if (settling == 1) {
        QVERIFY(times.unlike_fills() > 0.5);
        continue;
      }
      QCOMPARE(times.unlike_fills(), 0.0);
      QVERIFY(std::fabs(times.speedup(0).value - 1) < 1e-9);
      QVERIFY(std::fabs(times.speedup(1).value - 10 / 9.5) < 1e-9);
    }
  }
  void the_lead_is_as_long_as_needed_and_no_longer_than_can_be_waited_for() {
    MirroredJob job;
    job.plans = 1, job.seconds = 10;
    for (int64_t b = 0; b < 100; ++b) job.batches.push_back(b);
    set_order(job, 10, 4);  // 3 executions of 8 rounds: 42 batches each
    QCOMPARE(job.lead, 4);
    QCOMPARE(job.stretch, 38);
    set_order(job, 100, 1000);
    QCOMPARE(job.lead, 8);
    QCOMPARE(job.stretch, 2);
    set_order(job, 1e6, 1000);
    QCOMPARE(job.lead, 1);
    QCOMPARE(job.stretch, 2);
    set_order(job, 0.001, 1000);
    QCOMPARE(job.lead, 100);
    QCOMPARE(job.stretch, 100);
  }
  void a_single_batch_in_order_is_found_as_it_was_left() {
    MirroredJob job{1, {0}, 0, {}, {}};
    set_order(job, 5, 1);
    QCOMPARE(job.stretch, int64_t{1});
    int executions = 0;
    job.execute = [&](size_t, int64_t) { return ++executions, 1.0; };
    const MirroredTimes times = measure_mirrored(job, {});
    QCOMPARE(times.chains.size(), static_cast<size_t>(kLeastRounds));
    // Baseline, plan, baseline, with one that is not timed where another plan ran before.
    QCOMPARE(executions, static_cast<int>(kLeastRounds) * 5 + 1);
  }
  void stretches_beside_a_neighbour_hold_the_truth() {
    // The stretches of a chain lie farther apart than executions do: wider, and right.
    int intervals = 0, hold = 0;
    for (const auto& [kind, period] :
         {std::pair{Kind::slows, 0.0}, {Kind::slows, 0.25}, {Kind::slows, 2.0}, {Kind::pauses, 0.1}})
      for (uint64_t seed = 300000; seed < 300040; ++seed) {
        SimulatedCase c{0.005, 40, 8, {1.067, 1.2}};
        c.stretch = 40;
        const MirroredTimes times = measure(c, neighbour_of(kind, period, seed), seed);
        const std::vector<double> truth = true_speeds(c, seed);
        for (size_t p = 0; p < truth.size(); ++p) {
          const Ratio r = times.speedup(p);
          ++intervals;
          hold += r.ci95[0] <= truth[p] && truth[p] <= r.ci95[1];
        }
      }
    qInfo("%d of %d intervals hold the truth", hold, intervals);
    QVERIFY2(hold >= 0.9 * intervals, qPrintable(QString::number(hold)));
  }

  void the_same_times_give_the_same_interval() {
    const SimulatedCase c{0.004, 60, 3, {1.05}};
    const Ratio a = measure(c, {0.3, 2, 0.1}, 5).speedup(0), b = measure(c, {0.3, 2, 0.1}, 5).speedup(0);
    QVERIFY(a.value == b.value && a.ci95 == b.ci95);
  }

  void batches_count_by_their_time() {
    // One long batch gains nothing, four short ones of together a tenth of its time take half of theirs: 44 ms
    // become 42.
    double now = 0;
    MirroredJob job{1, {0, 1, 2, 3, 4}, 3, {}, [&] { return now; }};
    job.execute = [&](size_t plan, int64_t batch) {
      const double ms = batch == 0 ? 40 : plan == 0 ? 1 : 0.5;
      now += ms * 1e-3;
      return ms;
    };
    QVERIFY(std::fabs(measure_mirrored(job, {}).speedup(0).value - 44.0 / 42) < 1e-9);
  }

  void batches_of_different_length_are_no_noise() {
    MirroredTimes times;
    for (int i = 0; i < 30; ++i)
      times.chains.push_back({i % 3, 0, {}, {}, {i % 3 == 0 ? 1.0 : i % 3 == 1 ? 50.0 : 7.0}});
    QCOMPARE(repeat_spread(times), 1.0);
    for (size_t i = 1; i < times.chains.size(); i += 6) times.chains[i].baseline = {150};
    QCOMPARE(repeat_spread(times), 3.0);
  }
};

STORMCELL_TEST(MirroredTest)

}  // namespace stormcell::testing

#include "mirrored_test.moc"
