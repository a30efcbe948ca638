// Does a speed-up stand beside a neighbour? The demo is optimised on the machine as it is, then beside processes that
// compute half of the time in periods of 100 ms and more; the interval should hold the quiet value and be at most three
// times as wide.
//
//   speedup_bench [MODEL [DATA [SECONDS]]]      (demo:switch-names, the same, 8)
//
// The machine must be quiet otherwise. Exit 1 where the interval does neither hold the value nor stay narrow.
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "core/base/thread_team.h"
#include "core/experiment/experiment.h"
#include "core/summary/withheld.h"

namespace {

using Clock = std::chrono::steady_clock;

/// A process for every core, computing in the first half of each period. They end with this object.
class Neighbours {
 public:
  explicit Neighbours(double period) {
    if (period <= 0) return;
    for (int i = 0; i < stormcell::available_cores(); ++i) {
      const pid_t child = ::fork();
      if (child == 0) compute_half_of(period);
      if (child > 0) children_.push_back(child);
    }
  }
  ~Neighbours() {
    for (const pid_t child : children_) ::kill(child, SIGTERM), ::waitpid(child, nullptr, 0);
  }
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;

 private:
  [[noreturn]] static void compute_half_of(double period) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    volatile double sink = 1;
    // All processes in step: the clock is the same for all.
    for (;;) {
      const double now = std::chrono::duration<double>(Clock::now().time_since_epoch()).count(),
                   place = std::fmod(now, period);
      if (place < period / 2)
        for (int i = 0; i < 10000; ++i) sink = sink * 1.0000001 + 1e-9;
      else
        std::this_thread::sleep_for(std::chrono::duration<double>(period - place));
    }
  }
  std::vector<pid_t> children_;
};

struct Reading {
  double value = 0, low = 0, high = 0;
  std::string withheld;  ///< why it was not stated
  double width() const { return std::log(high / low); }
};

Reading measure(stormcell::Experiment& experiment, double seconds) {
  stormcell::OptimizeOptions options;
  options.measure_seconds = seconds;
  options.alone = false;
  const auto figures = experiment.optimize(options);
  if (figures->withheld) return {.withheld = stormcell::to_text(*figures->withheld)};
  if (!figures->speedup || !figures->speedup_ci95) return {};
  fmt::print("  baseline {:.3f} ms, optimised {:.3f} ms (means)\n", figures->baseline->latency_ms.mean,
             figures->optimized->latency_ms.mean);
  return {*figures->speedup, (*figures->speedup_ci95)[0], (*figures->speedup_ci95)[1], {}};
}

}  // namespace

int main(int count, char** arguments) {
  stormcell::ExperimentOptions options;
  options.model = count > 1 ? arguments[1] : "demo:switch-names";
  options.data = count > 2 ? arguments[2] : options.model;
  options.verify_seconds = 0;
  options.keep_all = true;  // the same plan each time
  const double seconds = count > 3 ? std::atof(arguments[3]) : 8;
  // Neighbours are forked before any thread of the experiment's team runs in this process's copy: each only computes.
  const auto experiment = stormcell::Experiment::open(options);
  const Reading quiet = measure(*experiment, seconds);
  if (!quiet.withheld.empty()) return fmt::print("withheld: {}\n", quiet.withheld), 1;
  if (quiet.value <= 0) return fmt::print("nothing to compare\n"), 1;
  fmt::print("quiet         {:.4f} [{:.4f}, {:.4f}]\n", quiet.value, quiet.low, quiet.high);
  bool good = true;
  for (const double period : {0.1, 0.25, 0.7, 2.0}) {
    const Neighbours neighbours(period);
    const Reading busy = measure(*experiment, seconds);
    if (!busy.withheld.empty()) {
      fmt::print("period {:4.0f} ms withheld: {}\n", period * 1e3, busy.withheld);
      continue;
    }
    const bool holds = busy.low <= quiet.value && quiet.value <= busy.high, narrow = busy.width() <= 3 * quiet.width();
    good = good && holds && narrow;
    fmt::print("period {:4.0f} ms {:.4f} [{:.4f}, {:.4f}]  {} the quiet value, {:.1f} times as wide\n", period * 1e3,
               busy.value, busy.low, busy.high, holds ? "holds" : "DOES NOT HOLD", busy.width() / quiet.width());
  }
  return good ? 0 : 1;
}
