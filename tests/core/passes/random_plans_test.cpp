// Every pass on random graphs and on the toys: the optimised plan answers as the unoptimised one, to the last bit, on
// both devices, for the inputs that were profiled and for others, with one synchronisation a run, and one more where a
// guard has to load weights.
#include <cmath>

#include "core/base/listed_words.h"
#include "core/cpu/cpu_device.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/oracle/oracle.h"
#include "core/passes/pipeline.h"
#include "core/runtime/lower.h"
#include "core/runtime/memory_plan.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/live_values.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Holds what random graphs exercised, so that the test cannot pass by exercising nothing.
struct Exercised {
  int misses = 0, late_loads = 0, otherwise = 0;
  int plans = 0;
  int64_t evictions = 0;
  std::map<std::string, int> applied;  ///< of each pass, graphs to which it applied alone
  /// plans beyond 1.15 times what is alive: a fan-out of several, where slots of one size begin and end apart
  int above = 0;
};

/// Graphs to which each pass of the list applied: read it after adding one.
void tell(const Exercised& exercised) {
  std::string counts;
  for (const Pass& pass : passes()) {
    const auto at = exercised.applied.find(std::string(pass.id));
    add_to_list(counts, std::string(pass.id) + " " + std::to_string(at == exercised.applied.end() ? 0 : at->second));
  }
  qInfo("of %d graphs: %s", exercised.plans, counts.c_str());
}

/// Every option of every pass that runs unasked away from its standard: a large share, one more than the least count,
/// of flags every second one turned, since a pass with all of them off would do nothing.
PassSelection other_options() {
  PassSelection other;
  for (const Pass& pass : passes()) {
    if (pass.lossy) continue;
    bool turned = false;
    for (const PassOption& option : pass.options) {
      double value = 1 - option.standard;
      if (option.kind == PassOption::Kind::share) value = option.least + 0.6 * (option.most - option.least);
      if (option.kind == PassOption::Kind::count) value = std::min(option.least + 1, option.most);
      if (option.kind == PassOption::Kind::flag && !(turned = !turned)) continue;
      other.options[std::string(pass.id)][std::string(option.key)] = option_text(option, value);
    }
  }
  return other;
}

QByteArray message(const RandomCase& from, const std::string& what, const std::string& why) {
  return QByteArray::fromStdString(from.name + ": " + what + ": " + why);
}

/// Inputs, and what the plan without passes answers.
struct Turn {
  CaseInputs inputs;
  std::vector<OutputValue> expected;
};

void check_on_cpu(const RandomCase& from, const std::vector<Turn>& turns, const Graph& graph, const std::string& what,
                  Exercised& exercised) {
  cpu::CpuDevice cpu(threads_for(exercised.plans));
  Plan plan(cpu, graph, from);
  for (const Turn& turn : turns) {
    const ExecutionResult& came = plan.run(turn.inputs);
    if (const std::string why = difference(turn.expected, came.outputs); !why.empty()) QFAIL(message(from, what, why));
    for (const int32_t misses : came.guard_misses) exercised.misses += misses;
    exercised.late_loads += static_cast<int>(came.late_loads);
  }
}

void check_on_emulated_device(const RandomCase& from, const std::vector<Turn>& turns, const Graph& graph) {
  // Not always as many threads as on the CPU: the last bit does not depend on their number either.
  EmulatedDevice emulated(1);
  Plan plan(emulated, graph, from);
  for (const Turn& turn : turns) {
    const int64_t before = emulated.synchronizations();
    const int64_t loads = plan.run_silently(turn.inputs).late_loads;
    QVERIFY2(emulated.synchronizations() - before == 1 + loads,
             message(from, "emulated", "synchronisations").constData());
    if (const std::string why = difference(turn.expected, plan.run(turn.inputs).outputs); !why.empty())
      QFAIL(message(from, "emulated", why));
  }
}

/// The memory of optimised plans beyond what is alive; with more cells than the case has, so that alignment does not
/// count.
void check_memory(const RandomCase& from, const Graph& graph, Exercised& exercised, double most = 1.2) {
  Bindings bounds = from.bindings;
  for (int64_t& b : bounds) b *= 8;
  const Program program = lower(std::make_shared<Graph>(graph));
  const auto planned = static_cast<double>(plan_memory(program, bounds).arena_bytes),
             alive = static_cast<double>(most_live_bytes(program, bounds).by_place);
  if (planned > 1.15 * alive) qInfo("%s: %.3f", from.name.c_str(), planned / alive);
  exercised.above += planned > 1.15 * alive;
  QVERIFY2(planned <= most * alive, message(from, "memory", std::to_string(planned / alive)).constData());
}

/// The plan with parts that come and go: the bits of the plan with all of them there. (What is read:
/// PartWavesPlansTest.)
void check_under_budgets(const RandomCase& from, const std::vector<Turn>& turns, const Graph& graph,
                         Exercised& exercised) {
  cpu::CpuDevice cpu(2);
  Plan all(cpu, graph, from, kBudgetForAll);
  const int64_t least = all.store().least_budget(), parts = all.store().planned_slot_bytes();
  if (parts == 0) return;
  for (const int64_t budget : {least, std::max(least, parts / 2)}) {
    EmulatedDevice emulated(1);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      Plan plan(*device, graph, from, budget);
      for (const Turn& turn : turns)
        if (const std::string why = difference(turn.expected, plan.run(turn.inputs).outputs); !why.empty())
          QFAIL(message(from, "budget of " + std::to_string(budget), why));
      exercised.evictions += plan.store().counters().evictions;
    }
  }
}

void check_passes(const RandomCase& from, Exercised& exercised) {
  const LoadProfile profile = profile_of(from, {from.inputs});
  std::vector<Turn> turns{{from.inputs, {}}, {drawn_anew(from, 77), {}}, {drawn_anew(from, 154), {}}};
  cpu::CpuDevice cpu(1);
  Plan plain(cpu, from.graph, from);
  for (Turn& turn : turns) turn.expected = plain.run(turn.inputs).outputs;
  const PipelineResult result = run_passes(pass_input(from.graph, profile), select_passes({}));
  for (const PassOutcome& outcome : result.outcomes) {
    QVERIFY(!outcome.alone.reason.empty());
    if (!outcome.alone.applied) continue;
    verify(outcome.alone.graph);
    const std::string id(outcome.pass->id), text = to_text(outcome.alone.graph);
    QVERIFY2(to_text(parse_graph(text, "text")) == text, message(from, id, "text form").constData());
    ++exercised.applied[id];
    check_on_cpu(from, turns, outcome.alone.graph, id, exercised);
  }
  check_on_cpu(from, turns, result.graph, "all passes", exercised);
  check_memory(from, result.graph, exercised);
  check_on_emulated_device(from, turns, result.graph);
  if (exercised.plans++ % 5 == 0) check_under_budgets(from, turns, result.graph, exercised);
  // Other options rewrite the graph otherwise; the answers stay.
  const PipelineResult with_options =
      run_passes(pass_input(from.graph, profile), select_passes(other_options()), OnTheirOwn::no);
  exercised.otherwise += to_text(with_options.graph) != to_text(result.graph);
  check_on_cpu(from, turns, with_options.graph, "other options", exercised);
  std::map<std::string, PassParameters> saved;
  for (const PassOutcome& outcome : with_options.outcomes)
    if (outcome.cumulative.applied) saved[std::string(outcome.pass->id)] = saved_parameters(outcome);
  const LoadProfile none;
  QCOMPARE(to_text(replay_passes(pass_input(from.graph, none), saved).graph), to_text(with_options.graph));
}

/// The choice of most profiled cells counts as that of all, so that routers are constant, one within another too, and
/// guards miss: the passes that make them straight, with all that come behind them.
void check_constant_routers(const RandomCase& from, bool late, Exercised& exercised) {
  LoadProfile profile = profile_of(from, {from.inputs});
  for (auto& [router, load] : profile.routers)
    for (int64_t& n : load.load) n = 2 * n > load.cells ? load.cells : 0;
  PassSelection selection;
  if (late) selection.enable = {"permanent-path"};
  for (const char* pass : {"constant-decision", "permanent-path"})
    if (late || pass == std::string_view("constant-decision")) selection.options[pass]["min-cells"] = "1";
  const PipelineResult result = run_passes(pass_input(from.graph, profile), select_passes(selection), OnTheirOwn::no);
  for (const PassOutcome& outcome : result.outcomes)
    exercised.applied[std::string(outcome.pass->id)] += outcome.cumulative.applied;
  std::vector<Turn> turns{{from.inputs, {}}, {drawn_anew(from, 77), {}}, {drawn_anew(from, 154), {}}};
  cpu::CpuDevice cpu(1);
  Plan plain(cpu, from.graph, from);
  for (Turn& turn : turns) turn.expected = plain.run(turn.inputs).outputs;
  const std::string text = to_text(result.graph);
  QVERIFY2(to_text(parse_graph(text, "text")) == text, message(from, "constant", "text form").constData());
  check_on_cpu(from, turns, result.graph, "constant", exercised);
  check_memory(from, result.graph, exercised, 1.25);  // guards within guards: their bodies' maps begin and end apart
  check_on_emulated_device(from, turns, result.graph);
  if (exercised.plans++ % 5 == 0) check_under_budgets(from, turns, result.graph, exercised);
}

}  // namespace

class RandomPlansTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_keep_their_answers() {
    Exercised exercised;
    for (uint64_t seed = 0; seed < drawn(100) && !QTest::currentTestFailed(); ++seed)
      check_passes(make_random_case(seed), exercised);
    tell(exercised);
    QVERIFY(exercised.applied["dead-path"] > drawn(60));
    QVERIFY(exercised.misses > drawn(100));
    QVERIFY(exercised.late_loads > drawn(50));
    QVERIFY(exercised.applied["vertical-fusion"] > drawn(60));
    QVERIFY(exercised.otherwise > drawn(40));
    QVERIFY2(exercised.above <= (testing::kSanitized ? 1 : 2), qPrintable(QString::number(exercised.above)));
  }
  void graphs_over_maps_keep_their_answers() {
    Exercised exercised;
    RandomOptions options;
    options.maps = true;
    for (uint64_t seed = 0; seed < drawn(60) && !QTest::currentTestFailed(); ++seed)
      check_passes(make_random_case(seed, options), exercised);
    tell(exercised);
    QVERIFY(exercised.applied["dead-path"] > drawn(20));
    QVERIFY(exercised.misses > drawn(20));
    QVERIFY(exercised.applied["vertical-fusion"] > drawn(20));
  }
  void stacks_of_mixtures_keep_their_answers() {
    Exercised exercised;
    for (uint64_t seed = 0; seed < drawn(100) && !QTest::currentTestFailed(); ++seed)
      check_passes(random_mixtures(seed), exercised);
    tell(exercised);
    QVERIFY(exercised.applied["dead-path"] > drawn(40));
    QVERIFY(exercised.misses > drawn(100));
    QVERIFY(exercised.late_loads > drawn(50));
    QVERIFY(exercised.applied["horizontal-fusion"] > drawn(90));
    QVERIFY(exercised.applied["vertical-fusion"] > drawn(90));
    QVERIFY2(exercised.evictions > drawn(200), qPrintable(QString::number(exercised.evictions)));
    QVERIFY2(exercised.above <= (testing::kSanitized ? 1 : 2), qPrintable(QString::number(exercised.above)));
  }
  void graphs_with_constant_routers_keep_their_answers() {
    Exercised exercised;
    for (uint64_t seed = 0; seed < drawn(90) && !QTest::currentTestFailed(); ++seed) {
      RandomOptions options;
      options.maps = seed % 3 == 1;
      check_constant_routers(seed % 3 == 2 ? random_mixtures(seed) : make_random_case(seed, options), seed % 2 == 1,
                             exercised);
    }
    for (const Toy& toy : toys())
      for (uint64_t seed = 1; seed < 3; ++seed) check_constant_routers(toy.make(seed), seed == 2, exercised);
    tell(exercised);
    QVERIFY(exercised.applied["constant-decision"] > drawn(40));
    QVERIFY(exercised.applied["permanent-path"] > drawn(20));
    QVERIFY(exercised.misses > drawn(50));
    QVERIFY2(exercised.above <= (testing::kSanitized ? 2 : 4), qPrintable(QString::number(exercised.above)));
  }
  void branches_of_convolutions_keep_their_answers() {
    Exercised exercised;
    for (uint64_t seed = 0; seed < drawn(50) && !QTest::currentTestFailed(); ++seed)
      check_passes(random_subnets(seed), exercised);
    tell(exercised);
    QCOMPARE(exercised.applied["horizontal-fusion"], drawn(50));
    QVERIFY(exercised.applied["vertical-fusion"] > drawn(40));
    QVERIFY(exercised.misses > drawn(10));
    QVERIFY2(exercised.evictions > drawn(20), qPrintable(QString::number(exercised.evictions)));
  }
  void experts_of_members_keep_their_answers() {
    Exercised exercised;
    for (uint64_t seed = 0; seed < drawn(60) && !QTest::currentTestFailed(); ++seed)
      check_passes(random_sequence_experts(seed), exercised);
    tell(exercised);
    QVERIFY(exercised.applied["horizontal-fusion"] > drawn(50));
    QVERIFY(exercised.misses > drawn(10));
    QVERIFY2(exercised.evictions > drawn(20), qPrintable(QString::number(exercised.evictions)));
  }
  void the_oracle_computes_optimised_graphs_too() {
    for (uint64_t seed = 0; seed < drawn(40); ++seed) {
      const RandomCase from = seed % 4 == 0   ? random_mixtures(seed)
                              : seed % 4 == 1 ? make_random_case(seed)
                              : seed % 4 == 2 ? random_subnets(seed)
                                              : random_sequence_experts(seed);
      const LoadProfile profile = profile_of(from, {from.inputs});
      const Graph graph = run_passes(pass_input(from.graph, profile), select_passes({}), OnTheirOwn::no).graph;
      for (const CaseInputs& inputs : {from.inputs, drawn_anew(from, seed)}) {
        const OracleInputs<double> values = oracle_inputs<double>(inputs);
        const OracleResult<double> expected = Oracle<double>(from.graph, *from.weights).run(values, from.bindings);
        const OracleResult<double> came = Oracle<double>(graph, *from.weights).run(values, from.bindings);
        for (const auto& [name, tensor] : expected.outputs)
          for (size_t i = 0; i < tensor.reals.size(); ++i)
            QVERIFY2(std::abs(tensor.reals[i] - came.output(name).reals[i]) < 1e-9,
                     message(from, name, "the oracle disagrees").constData());
      }
    }
  }
  void toys_keep_their_answers() {
    Exercised exercised;
    for (uint64_t seed = 1; seed < 6; ++seed) {
      for (const Toy& toy : toys()) check_passes(toy.make(seed), exercised);
    }
    tell(exercised);
    QVERIFY(exercised.applied["vertical-fusion"] > 0);
    QVERIFY(exercised.applied["dead-path"] > 0);
    QVERIFY(exercised.misses > 0);
  }
};
STORMCELL_TEST(RandomPlansTest)
#include "random_plans_test.moc"
