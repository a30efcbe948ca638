// Any valid graph gives the oracle's outputs and decisions, on the CPU, on the emulated device and, where it has the
// operators, on the host device, with one synchronisation.
#include <cmath>
#include <map>

#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "core/runtime/memory_plan.h"
#include "gpu/plan/missing.h"
#include "tests/gpu/host_device.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

/// With the arithmetic of the device: after norms of nearly equal values what it rounds to bf16 may be a large part of
/// them.
OracleResult<float> oracle_of(const RandomCase& c, const Device& device) {
  OracleOptions options;
  options.round_inputs = device.info().rounds_bf16_inputs;
  return Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings, options);
}

struct RanGraph {
  ExecutionResult result;
  int64_t synchronizations = 0;
  double arena_over_bound = 0;
};

// Bounds are larger than the case, as they are with batches of several sizes.
Bindings larger(Bindings b) {
  for (int64_t& x : b) x += 1;
  return b;
}

RanGraph run_on(Device& device, const RandomCase& c, const ReplayedDecisions* replayed) {
  WeightStore store(device, c.weights);
  auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
  Executor executor(device, store, program, larger(c.bindings));
  ExecuteOptions options;
  options.outputs = options.record = options.events = true;
  options.replayed = replayed;
  RanGraph ran;
  executor.run(input_values(c), c.bindings, options,
               ran.result);  // a first time, so that leftovers of a run would show in the second
  const int64_t before = device.synchronizations();
  executor.run(input_values(c), c.bindings, options, ran.result);
  ran.synchronizations = device.synchronizations() - before;
  const MemoryPlan& plan = executor.layout().memory;
  ran.arena_over_bound =
      static_cast<double>(plan.arena_bytes) / static_cast<double>(std::max<int64_t>(1, plan.live_set_bytes));
  return ran;
}

// One comparison at the run's end, and one after the results were read.
constexpr int64_t kSynchronizations = 2;

}  // namespace

class RandomGraphsTest : public QObject {
  Q_OBJECT
  static constexpr int kRagged = 1000;  // seeds from here on make graphs with ragged cells
  static constexpr int kMaps = 2000;    // and from here on graphs over maps
  static constexpr int kStates = 3000;  // and from here on graphs that decode
  static constexpr int kToys = 0;       // seeds below are toys, two of each

 private:
  void cases() {
    QTest::addColumn<int>("seed");
    for (int seed = 0; seed < drawn(120); ++seed) QTest::newRow(qPrintable(QString("random %1").arg(seed))) << seed;
    for (int seed = 0; seed < drawn(80); ++seed)
      QTest::newRow(qPrintable(QString("ragged %1").arg(seed))) << kRagged + seed;
    for (int seed = 0; seed < drawn(80); ++seed)
      QTest::newRow(qPrintable(QString("maps %1").arg(seed))) << kMaps + seed;
    for (int seed = 0; seed < drawn(80); ++seed)
      QTest::newRow(qPrintable(QString("states %1").arg(seed))) << kStates + seed;
    for (size_t toy = 0; toy < toys().size(); ++toy)
      for (const int seed : {1, 2})
        QTest::newRow(qPrintable(QString("%1 toy %2").arg(toys()[toy].name).arg(seed))) << kToys - 2 * int(toy) - seed;
  }
  static RandomCase make(int seed) {
    if (seed < kToys)
      return toys()[static_cast<size_t>((kToys - seed - 1) / 2)].make(
          static_cast<uint64_t>((kToys - seed - 1) % 2 + 1));
    RandomOptions options;
    options.states = seed >= kStates;
    options.maps = seed >= kMaps && !options.states;
    options.ragged = seed >= kRagged && seed < kMaps;
    return make_random_case(static_cast<uint64_t>(seed), options);
  }

 private slots:
  void the_cpu_agrees_with_the_oracle_data() { cases(); }
  void the_cpu_agrees_with_the_oracle() {
    QFETCH(int, seed);
    cpu::CpuDevice device(threads_for(seed));
    agrees_with_the_oracle(device, make(seed));
  }

  void the_host_device_agrees_with_the_oracle_data() { cases(); }
  void the_host_device_agrees_with_the_oracle() {
    QFETCH(int, seed);
    const RandomCase c = make(seed);
    HostDevice device;
    device.order_seed = static_cast<uint64_t>(std::abs(seed)) + 1;
    const std::string refusal = device.refusal_of(c.graph, c.weights, larger(c.bindings));
    if (!refusal.empty()) {
      ++refused_[gpu::missing_of(refusal)->what];
      return;
    }
    agrees_with_the_oracle(device, c);
    ++planned_;
  }
  /// As many graphs at least as when this was written: an operator that is lost would show here alone.
  void the_host_device_runs_most_graphs() {
    std::printf("%d graphs ran on the host device\n", planned_);
    for (const auto& [what, graphs] : refused_)
      std::printf("%d were refused for %s\n", graphs, std::string(what).c_str());
    QVERIFY(planned_ == 0 || planned_ >= (kSanitized ? 110 : 346));
  }

 private:
  int planned_ = 0;
  std::map<std::string_view, int> refused_;  // graphs by what a plan lacks

  static void agrees_with_the_oracle(Device& device, const RandomCase& c) {
    const OracleResult<float> reference = oracle_of(c, device);
    const auto replayed = decisions_by_router(reference, c.graph);
    const RanGraph ran = run_on(device, c, &replayed);
    const double tolerance = c.weight_dtype == DType::bf16 ? 2e-2 : 1e-4;
    for (const OutputValue& out : ran.result.outputs) {
      const OracleTensor<float>& expected = reference.output(out.name);
      double most = 0, scale = 0;
      for (size_t i = 0; i < expected.reals.size(); ++i) {
        QVERIFY2(std::isfinite(out.reals[i]) == std::isfinite(expected.reals[i]),
                 qPrintable(QString::fromStdString(c.name + ": " + out.name)));
        most = std::max(most, std::fabs(double(out.reals[i]) - expected.reals[i]));
        scale = std::max(scale, std::fabs(double(expected.reals[i])));
      }
      QVERIFY2(most <= tolerance * std::max(scale, 1e-30),
               qPrintable(QString("%1: %2 differs by %3 of %4")
                              .arg(QString::fromStdString(c.name), QString::fromStdString(out.name))
                              .arg(most)
                              .arg(scale)));
      QCOMPARE(out.integers, expected.integers);
    }
    // Decisions, and where nested cells come from.
    QCOMPARE(ran.result.decisions.size(), reference.decisions.size());
    for (const ExecutedDecision& d : ran.result.decisions)
      for (const OracleDecision& r : reference.decisions) {
        if (r.router != c.graph.node(lower(std::make_shared<Graph>(c.graph)).routers[size_t(d.router)].node).name ||
            r.execution != d.turn)
          continue;
        QCOMPARE(d.shape.cells, r.shape.cells);
        QCOMPARE(d.choice, r.choice);
        if (!r.ancestor.empty()) QCOMPARE(d.ancestor, r.ancestor);
      }
  }

 private slots:
  void the_emulated_device_gives_the_same_bits_without_host_synchronisation_data() { cases(); }
  void the_emulated_device_gives_the_same_bits_without_host_synchronisation() {
    QFETCH(int, seed);
    const RandomCase c = make(seed);
    cpu::CpuDevice cpu_device(threads_for(seed));
    EmulatedDevice emulated(other_threads_for(seed));
    const RanGraph here = run_on(cpu_device, c, nullptr), there = run_on(emulated, c, nullptr);
    QCOMPARE(there.synchronizations, kSynchronizations);
    QCOMPARE(here.result.outputs.size(), there.result.outputs.size());
    for (size_t i = 0; i < here.result.outputs.size(); ++i) {
      const OutputValue &a = here.result.outputs[i], &b = there.result.outputs[i];
      QCOMPARE(a.integers, b.integers);
      QVERIFY2(a.reals.size() == b.reals.size() &&
                   (a.reals.empty() || std::memcmp(a.reals.data(), b.reals.data(), a.reals.size() * 4) == 0),
               qPrintable(QString::fromStdString(c.name + ": " + a.name)));
    }
    QCOMPARE(here.result.decisions.size(), there.result.decisions.size());
    for (size_t i = 0; i < here.result.decisions.size(); ++i)
      QCOMPARE(here.result.decisions[i].choice, there.result.decisions[i].choice);
  }

  void planned_memory_is_near_its_bound() {
    // Over all cases: a single tiny graph may be unlucky by one aligned buffer.
    double worst = 0;
    for (int seed = 0; seed < drawn(120); ++seed) {
      const RandomCase c = make_random_case(static_cast<uint64_t>(seed));
      const MemoryPlan plan = plan_memory(lower(std::make_shared<Graph>(c.graph)), c.bindings);
      if (plan.live_set_bytes < 1 << 14) continue;
      worst = std::max(worst, double(plan.arena_bytes) / double(plan.live_set_bytes));
    }
    QVERIFY2(worst <= 1.15, qPrintable(QString("planned peak %1 times the live-set bound").arg(worst)));
  }
};

STORMCELL_TEST(RandomGraphsTest)

}  // namespace stormcell::testing
#include "random_graphs_test.moc"
