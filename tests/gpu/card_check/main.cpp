// card_check: proves or disproves the CUDA device on the card that is there, beside the oracle and the CPU. Each family
// of cases is a call of its own, so that one that faults or hangs stops no other (run.sh). Usage: --help. Exit: 0 all
// passed; 1 something failed; 2 bad usage; 77 there is no card.
#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "gpu/device/cuda_device.h"
#include "gpu/device/examine.h"
#include "gpu/device/module.h"
#include "gpu/plan/missing.h"
#include "tests/gpu/card_check/failing_puts.h"
#include "tests/gpu/device_check/report.h"
#include "tests/gpu/fake_card.h"
#include "tests/gpu/guarded_case.h"
#include "tests/gpu/host_cases.h"
#include "tests/gpu/replay_case.h"
#include "tests/testing/complaint.h"
#include "tests/testing/random_graph.h"

namespace stormcell::testing {
namespace {

using device_check::Report;

constexpr int kMixtures = 48, kGraphs = 80;
/// Seeds of graphs that decode begin here, as in RandomGraphsTest.
constexpr uint64_t kDecoding = 3000;
/// On the card that the tests play, which is slow.
constexpr int kPlayedMixtures = 3, kPlayedGraphs = 6;

class Checked {
 public:
  Checked(Device& device, FakeCard* played, Report& report) : device_(device), played_(played), report_(report) {}
  Device& device() { return device_; }
  /// As many cases as there are, or a few on a card that is played.
  int cases(int all, int played) const { return played_ ? played : all; }
  /// Repeats each case, so that leftovers of one run show in the next.
  int runs() const { return cases(3, 2); }

  /// A case passes where `wrong` gives nothing. What is thrown is a failure of it.
  template <class Wrong>
  void check(const std::string& name, Wrong&& wrong) {
    report_.begins(name);
    std::string told;
    try {
      told = wrong();
    } catch (const std::exception& e) {
      told = e.what();
    }
    if (told.empty() && played_) told = played_->wrong;
    if (told.empty())
      report_.passed(name);
    else
      report_.failed(name, told);
  }
  void check_beside_the_oracle(const RandomCase& c) {
    check(c.name, [&] {
      HostRun run(device_, c);
      for (int i = 0; i < runs(); ++i)
        if (std::string wrong = difference(c, run.program(), run.run()); !wrong.empty()) return wrong;
      return std::string();
    });
  }
  /// A plan lacks something for it, which is in the list of what is missing: told as absent.
  bool is_refused(const RandomCase& c) {
    try {
      WeightStore store(device_, c.weights);
      device_.layout_of(std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), store, {c.bindings});
    } catch (const Error& e) {
      if (!gpu::missing_of(e.what())) throw;
      report_.absent(c.name, e.what());
      return true;
    }
    return false;
  }

 private:
  Device& device_;
  FakeCard* played_;
  Report& report_;
};

void check_operators(Checked& on) {
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    on.check_beside_the_oracle(small_operators(seed));
    on.check_beside_the_oracle(chains(seed));
    on.check_beside_the_oracle(encoder_layer(seed, false));
    on.check_beside_the_oracle(encoder_layer(seed, true));
    on.check_beside_the_oracle(many_branches(seed));
    on.check_beside_the_oracle(many_labels(seed));
  }
  on.check_beside_the_oracle(many_cells(1, false));
  on.check_beside_the_oracle(many_cells(1, true));
}

void check_mixtures(Checked& on) {
  for (int seed = 1; seed <= on.cases(kMixtures, kPlayedMixtures); ++seed) {
    RandomCase c = random_mixtures(static_cast<uint64_t>(seed));
    on.check_beside_the_oracle(c);
    c.graph = optimised_for(on.device(), c.graph);
    c.name += ", optimised";
    on.check_beside_the_oracle(c);
  }
}

/// The choices are the oracle's: margins may leave them open.
std::string difference_of_outputs_alone(Device& device, const RandomCase& c, int runs) {
  OracleOptions options;
  options.round_inputs = device.info().rounds_bf16_inputs;
  const OracleResult<float> expected = Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings, options);
  const ReplayedDecisions replayed = decisions_by_router(expected, c.graph);
  HostRun run(device, c);
  for (int i = 0; i < runs; ++i) {
    const std::string wrong =
        difference_of_outputs(run.run(&replayed), expected, c.weight_dtype == DType::bf16 ? 2e-2 : 1e-4);
    if (!wrong.empty()) return wrong;
  }
  return {};
}

void check_graphs(Checked& on) {
  for (const bool decodes : {false, true})
    for (int seed = 0; seed < on.cases(kGraphs, kPlayedGraphs); ++seed) {
      RandomOptions options;
      options.states = decodes;
      const RandomCase c = make_random_case(static_cast<uint64_t>(seed) + (decodes ? kDecoding : 0), options);
      if (!on.is_refused(c)) on.check(c.name, [&] { return difference_of_outputs_alone(on.device(), c, on.runs()); });
    }
}

void check_replays(Checked& on) {
  const auto check = [&](RandomCase made, uint64_t seed) {
    const ReplayCase c(std::move(made), seed);
    on.check(c.of.name + ", replayed", [&] { return c.first_difference(on.device(), on.runs()); });
  };
  for (uint64_t seed = 1; seed <= 2; ++seed) {
    check(chains(seed), seed);
    check(many_branches(seed), seed);
    check(random_mixtures(seed), seed);
  }
  check(many_labels(1), 1);
  check(many_cells(1, true), 1);
}

void check_guards(Checked& on) {
  for (const bool late : {false, true})
    for (const bool misses : {false, true}) on.check_beside_the_oracle(guarded(late, misses));
  on.check("weights of a fallback come late", [&] {
    const RandomCase c = guarded(false, true);
    HostRun run(on.device(), c);
    const int64_t first = run.run().late_loads, second = run.run().late_loads;
    return first == 1 && second == 0 ? "" : std::to_string(first) + " loads, then " + std::to_string(second);
  });
}

/// A step that fails is told, and the device runs what comes next.
void check_failures(Checked& on) {
  const RandomCase fits = put_at({0, 1}), beyond = put_at({0, 4});
  on.check("rows beyond the places of a state", [&] {
    HostRun fails(on.device(), beyond);
    const std::string told = complaint([&] { fails.run(); });
    const std::string expected = beyond_places_on(on.device());
    if (told != expected) return "expected \"" + expected + "\", got \"" + told + "\"";
    HostRun run(on.device(), fits);
    return difference(fits, run.program(), run.run());
  });
}

struct Family {
  const char *name, *what;
  void (*run)(Checked&);
};
constexpr Family kFamilies[] = {
    {"operators", "operators of Switch, few and many cells", check_operators},
    {"mixtures", "stacks of routers and experts, as they are and optimised", check_mixtures},
    {"graphs", "random graphs, with loops and caches", check_graphs},
    {"replays", "recorded choices, beside the CPU", check_replays},
    {"guards", "bodies of guards, weights that come late", check_guards},
    {"failures", "steps that fail", check_failures},
};

struct Asked {
  bool played = false;
  std::string out;
  const Family* family = nullptr;
};

int bad_usage(const std::string& why) {
  std::fprintf(stderr, "card_check: %s (see --help)\n", why.c_str());
  return 2;
}

void print_help() {
  std::printf(
      "usage: card_check [--played] [--out FILE] FAMILY\n\n"
      "  --played    on a card that is played on the processor: a rehearsal\n"
      "  --out FILE  append a line of JSON for each case\n"
      "  --list      print the names of the families\n\n");
  for (const Family& family : kFamilies) std::printf("  %-10s  %s\n", family.name, family.what);
}

int check_family(const Asked& asked) {
  const int host_threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::unique_ptr<FakeCard> played;
  std::unique_ptr<Device> device;
  try {
    if (asked.played) {
      played = std::make_unique<FakeCard>();
      device = std::make_unique<card::CudaDevice>(played->calls(), 0, host_threads);
    } else {
      device = card::open_first_card(card::module_folders(), host_threads);
    }
  } catch (const Error& e) {
    std::printf("no card to check: %s\n", e.what());
    return 77;
  }
  Report report(asked.family->name, asked.out);
  Checked on(*device, played.get(), report);
  asked.family->run(on);
  return report.all_passed() ? 0 : 1;
}

int run_main(const std::vector<std::string>& arguments) {
  Asked asked;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--help") return print_help(), 0;
    if (argument == "--list") {
      for (const Family& family : kFamilies) std::printf("%s\n", family.name);
      return 0;
    }
    if (argument == "--played") {
      asked.played = true;
    } else if (argument == "--out") {
      if (++i == arguments.size()) return bad_usage("--out: expected a file");
      asked.out = arguments[i];
    } else {
      const auto* found = std::find_if(std::begin(kFamilies), std::end(kFamilies),
                                       [&](const Family& family) { return family.name == argument; });
      if (found == std::end(kFamilies)) return bad_usage("\"" + argument + "\": no such family");
      if (asked.family) return bad_usage("\"" + argument + "\": expected one family a call");
      asked.family = found;
    }
  }
  if (!asked.family) return bad_usage("expected a family");
  return check_family(asked);
}

}  // namespace
}  // namespace stormcell::testing

int main(int count, char** arguments) { return stormcell::testing::run_main({arguments + 1, arguments + count}); }
