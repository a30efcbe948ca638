// A machine for tests of measuring: a clock that only executions move, and a neighbour that computes half of the time.
#pragma once
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "core/measuring/mirrored.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {

/// Holds what else the machine does: a square wave. While it is on, everything takes `slowdown` times as long, or, with
/// `pauses`, each started millisecond of work is with that probability preceded by a pause of up to 4 ms: the scheduler
/// gives the neighbour a time slice.
struct Neighbour {
  double period = 0;  ///< seconds; 0: nobody is there
  double slowdown = 1, phase = 0, pauses = 0;
};

class SimulatedMachine {
 public:
  SimulatedMachine(const Neighbour& neighbour, std::mt19937_64& engine) : neighbour_(neighbour), engine_(engine) {}
  double now() const { return now_; }

  /// Does what takes `seconds` on a quiet machine; how long it took, in milliseconds.
  double execute(double seconds) {
    const double begin = now_;
    while (seconds > 1e-12) {
      if (neighbour_.pauses > 0) {
        if (is_busy() && uniform_(engine_) < neighbour_.pauses) now_ += 0.004 * uniform_(engine_);
        const double step = std::min(seconds, 0.001);
        now_ += step, seconds -= step;
        continue;
      }
      const double place = neighbour_.period > 0 ? std::fmod(now_ + neighbour_.phase, neighbour_.period) : 0;
      const bool busy = is_busy();
      const double left =
          neighbour_.period > 0 ? (busy ? neighbour_.period / 2 : neighbour_.period) - place + 1e-9 : 1e9;
      const double speed = busy ? 1 / neighbour_.slowdown : 1, step = std::min(seconds / speed, left);
      now_ += step;
      seconds -= step * speed;
    }
    return (now_ - begin) * 1e3;
  }
  void idle(double seconds) { now_ += seconds; }

 private:
  bool is_busy() const {
    return neighbour_.period > 0 && std::fmod(now_ + neighbour_.phase, neighbour_.period) < neighbour_.period / 2;
  }

  Neighbour neighbour_;
  std::mt19937_64& engine_;
  std::uniform_real_distribution<double> uniform_;
  double now_ = 0;
};

/// An experiment on it: batches of unlike length, plans of known speed, every execution a little off (1.5 %), one in a
/// hundred interrupted.
struct SimulatedCase {
  double batch_seconds = 0.004;
  size_t batches = 157;
  double measure_seconds = 8;
  std::vector<double> speed;  ///< of each plan beside the baseline, against the baseline
  /// Returns what a plan gains on a batch beside that; empty: all batches are alike.
  std::function<double(size_t plan, size_t batch)> gain = {};
  int64_t stretch = 0;  ///< as MirroredJob has it

  double speed_on(size_t plan, size_t batch) const { return speed[plan] * (gain ? gain(plan, batch) : 1); }
};

/// Seconds of each batch on the baseline.
inline std::vector<double> work_of(const SimulatedCase& c, std::mt19937_64& engine) {
  std::normal_distribution<double> normal;
  std::vector<double> work;
  for (size_t b = 0; b < c.batches; ++b) work.push_back(c.batch_seconds * std::exp(0.3 * normal(engine)));
  return work;
}

/// By plan: the time of all batches on the baseline over their time on the plan.
inline std::vector<double> true_speeds(const SimulatedCase& c, uint64_t seed) {
  testing::Drawn<std::mt19937_64> engine(seed);
  const std::vector<double> work = work_of(c, engine);
  std::vector<double> speeds;
  for (size_t plan = 0; plan < c.speed.size(); ++plan) {
    double baseline = 0, took = 0;
    for (size_t b = 0; b < work.size(); ++b) baseline += work[b], took += work[b] / c.speed_on(plan, b);
    speeds.push_back(baseline / took);
  }
  return speeds;
}

inline MirroredTimes measure(const SimulatedCase& c, const Neighbour& neighbour, uint64_t seed) {
  testing::Drawn<std::mt19937_64> engine(seed);
  const std::vector<double> work = work_of(c, engine);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
  SimulatedMachine machine(neighbour, engine);
  MirroredJob job;
  job.plans = c.speed.size();
  for (size_t b = 0; b < c.batches; ++b) job.batches.push_back(static_cast<int64_t>(b));
  job.seconds = c.measure_seconds;
  job.stretch = c.stretch;
  job.clock = [&] { return machine.now(); };
  job.execute = [&](size_t plan, int64_t batch) {
    const double off = std::exp(0.015 * normal(engine)) * (uniform(engine) < 0.01 ? 1.5 : 1);
    const double ms = machine.execute(work[static_cast<size_t>(batch)] * off /
                                      (plan == 0 ? 1 : c.speed_on(plan - 1, static_cast<size_t>(batch))));
    machine.idle(20e-6);  // inputs are staged
    return ms;
  };
  return measure_mirrored(job, {});
}

}  // namespace stormcell::testing
