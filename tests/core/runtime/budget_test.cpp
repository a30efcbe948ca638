// A batch runs with weights of branches that come and go, and gives bit for bit what it gives with all of them there.
#include <algorithm>
#include <cstring>
#include <map>

#include "core/base/error.h"
#include "core/graph/annotation_rules.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counted_weights.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/failing_weights.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::budget_test {
namespace {

std::shared_ptr<const Program> program_of(const RandomCase& c) {
  return std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
}

/// Holds what a case's parts take: the largest one, and all together.
struct PartBytes {
  int64_t least = 0, all = 0;
};
PartBytes part_bytes(const RandomCase& c) {
  cpu::CpuDevice device(1);
  WeightStore store(device, c.weights, kBudgetForAll);
  device.layout_of(program_of(c), store, {c.bindings});
  return {store.least_budget(), store.planned_slot_bytes()};
}

struct Ran {
  ExecutionResult result;
  WeightCounters counters;
};

/// Twice, so that what a run leaves in the slots shows in the second.
Ran run_on(Device& device, const RandomCase& c, int64_t budget) {
  WeightStore store(device, c.weights, budget);
  Executor executor(device, store, program_of(c), c.bindings);
  ExecuteOptions options;
  options.outputs = options.record = options.events = true;
  Ran ran;
  for (int turn = 0; turn < 2; ++turn) executor.run(input_values(c), c.bindings, options, ran.result);
  ran.counters = store.counters();
  return ran;
}

/// A sentence; empty: bit for bit the same.
std::string difference(const ExecutionResult& a, const ExecutionResult& b) {
  if (a.outputs.size() != b.outputs.size()) return "other outputs";
  for (size_t i = 0; i < a.outputs.size(); ++i) {
    const OutputValue &x = a.outputs[i], &y = b.outputs[i];
    if (x.integers != y.integers || x.reals.size() != y.reals.size()) return x.name;
    if (!x.reals.empty() && std::memcmp(x.reals.data(), y.reals.data(), x.reals.size() * 4) != 0) return x.name;
  }
  if (a.decisions.size() != b.decisions.size()) return "other decisions";
  for (size_t i = 0; i < a.decisions.size(); ++i)
    if (a.decisions[i].choice != b.decisions[i].choice || a.decisions[i].ancestor != b.decisions[i].ancestor)
      return "a decision";
  if (a.guard_hits != b.guard_hits || a.guard_misses != b.guard_misses) return "guards";
  if (a.events.size() != b.events.size()) return "other events";
  for (size_t i = 0; i < a.events.size(); ++i)
    if (a.events[i].step != b.events[i].step || a.events[i].end_ns < a.events[i].begin_ns) return "an event";
  return {};
}

/// Names of every second weight that steps read as parts.
std::vector<std::string> pinned_names(const RandomCase& c) {
  cpu::CpuDevice device(1);
  WeightStore store(device, c.weights, kBudgetForAll);
  const auto program = program_of(c);
  std::vector<std::string> names;
  size_t place = 0;
  for (const PartSite& site : device.layout_of(program, store, {c.bindings}).sites)
    for (const PartUse& part : site.parts) {
      // By plain names alone: a recipe's is not asked of the source.
      const std::string name = store.key(part.handle).tensor;
      const bool is_plain = std::any_of(c.graph.values.begin(), c.graph.values.end(),
                                        [&](const Value& v) { return v.kind == ValueKind::weight && v.name == name; });
      if (place++ % 2 == 0 && is_plain && store.is_part(part.handle)) names.push_back(name);
    }
  return names;
}

/// A device that has no memory for the weight or the slots that are loaded `left` times from now.
class Refusing final : public cpu::CpuDevice {
 public:
  Refusing() : cpu::CpuDevice(2) {}
  std::unique_ptr<DeviceBuffer> load_weight(const WeightKey& key, const WeightSource& source) override {
    refuse();
    return cpu::CpuDevice::load_weight(key, source);
  }
  std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) override {
    if (what == "weights of branches") refuse();
    return cpu::CpuDevice::allocate(bytes, what);
  }
  int left = 1 << 30;

 private:
  void refuse() {
    if (left-- <= 0) failed("weights", "no memory");
  }
};

}  // namespace

class BudgetTest : public QObject {
  Q_OBJECT
 private:
  static RandomCase make(int seed) {
    RandomOptions options;
    options.maps = seed >= 2000;
    options.ragged = seed >= 1000 && !options.maps;
    return make_random_case(static_cast<uint64_t>(seed), options);
  }
  /// Whether the case has parts at all.
  static bool check(const RandomCase& c) {
    const PartBytes parts = part_bytes(c);
    if (parts.all == 0) return false;
    cpu::CpuDevice cpu_device(2);
    EmulatedDevice emulated(2);
    const Ran plain = run_on(cpu_device, c, 0);
    if (plain.counters.reads != 0 || plain.result.waves != 0) qFatal("parts without a budget");
    for (Device* device : {static_cast<Device*>(&cpu_device), static_cast<Device*>(&emulated)})
      for (const int64_t budget : {parts.least, std::max(parts.least, parts.all / 2), parts.all}) {
        const Ran ran = run_on(*device, c, budget);
        const std::string where = c.name + " with " + std::to_string(budget) + " of " + std::to_string(parts.all) +
                                  " bytes on " + device->info().backend + ": ";
        const std::string other = difference(plain.result, ran.result);
        if (!QTest::qVerify(other.empty(), "the same bits", (where + other).c_str(), __FILE__, __LINE__)) return true;
        if (!QTest::qVerify(ran.counters.slot_bytes <= budget, "slots within the budget", where.c_str(), __FILE__,
                            __LINE__))
          return true;
        // With room for all, each part is read once at most, and the second run waits for none.
        const bool once = budget < parts.all || (ran.counters.evictions == 0 && ran.result.waves == 0);
        if (!QTest::qVerify(once, "read once", where.c_str(), __FILE__, __LINE__)) return true;
      }
    return true;
  }

 private slots:
  /// A pinned weight is read once, whatever comes and goes beside it.
  void pinned_weights_stay_and_count_to_the_budget() {
    int cases = 0;
    for (int seed = 0; seed < 60 && cases < 12; ++seed) {
      RandomCase c = make(seed);
      const PartBytes parts = part_bytes(c);
      if (parts.all < 3 * parts.least) continue;
      const std::vector<std::string> names = pinned_names(c);
      if (names.empty()) continue;
      RandomCase pinned = c;
      for (const std::string& name : names) annotate(pinned.graph, name + ".residency=pinned", "test");
      const PartBytes with = part_bytes(pinned);
      cpu::CpuDevice cpu_device(2);
      EmulatedDevice emulated(2);
      const Ran plain = run_on(cpu_device, c, 0), streamed = run_on(cpu_device, c, with.least);
      for (Device* device : {static_cast<Device*>(&cpu_device), static_cast<Device*>(&emulated)}) {
        const auto counted = std::make_shared<CountedWeights>(pinned.weights);
        RandomCase watched = pinned;
        watched.weights = counted;
        const Ran ran = run_on(*device, watched, with.least);
        const std::string why = difference(plain.result, ran.result);
        QVERIFY2(why.empty(), (c.name + ": " + why).c_str());
        QVERIFY(ran.counters.pinned_bytes > 0 && ran.counters.pinned_bytes + ran.counters.slot_bytes <= with.least);
        QCOMPARE(ran.counters.branch_weight_bytes, streamed.counters.branch_weight_bytes);
        // Those of a fallback are read when its guard misses, if it does.
        std::map<std::string, int64_t> reads = counted->take();
        int64_t read = 0;
        for (const std::string& name : names) {
          QVERIFY2(reads[name] <= 1, (c.name + ": " + name).c_str());
          read += reads[name];
        }
        QVERIFY2(read > 0, c.name.c_str());
      }
      // The room that they leave has to hold the largest of the others.
      const std::string said = complaint([&] { run_on(cpu_device, pinned, with.least - 1); });
      QVERIFY2(said.starts_with("--weight-budget: ") && said.find("are pinned (residency=pinned)") != std::string::npos,
               said.c_str());
      QVERIFY2(said.find("give at least " + std::to_string(with.least) + " bytes, or pin fewer weights") !=
                   std::string::npos,
               said.c_str());
      // Without a budget everything stays, whatever is said.
      QCOMPARE(difference(plain.result, run_on(cpu_device, pinned, 0).result), std::string());
      ++cases;
    }
    QVERIFY2(cases >= 6, qPrintable(QString::number(cases)));
  }

  void random_graphs_give_the_same_bits_data() {
    QTest::addColumn<int>("first");
    for (const int first : {0, 1000, 2000})
      for (int more = 0; more < drawn(30); more += 10)
        QTest::newRow(qPrintable(QString("from %1").arg(first + more))) << first + more;
  }
  void random_graphs_give_the_same_bits() {
    QFETCH(int, first);
    int with_parts = 0;
    for (int seed = first; seed < first + 10; ++seed) with_parts += check(make(seed));
    QVERIFY2(with_parts >= 3, qPrintable(QString("%1 of 10 graphs have parts").arg(with_parts)));
  }
  void what_fails_in_the_middle_of_a_batch_leaves_the_next_whole() {
    int failed_batches = 0;
    for (int seed = 0; seed < 20; ++seed) {
      const RandomCase c = make(seed);
      const PartBytes parts = part_bytes(c);
      if (parts.all == 0) continue;
      cpu::CpuDevice cpu_device(2);
      EmulatedDevice emulated(2);
      const Ran plain = run_on(cpu_device, c, 0);
      for (Device* device : {static_cast<Device*>(&cpu_device), static_cast<Device*>(&emulated)}) {
        const auto source = std::make_shared<FailingWeights>(c.weights);
        WeightStore store(*device, source, parts.least);
        Executor executor(*device, store, program_of(c), c.bindings);
        ExecuteOptions options;
        options.outputs = options.record = options.events = true;
        ExecutionResult result;
        for (const int64_t left : {0, 1, 3}) {
          source->left = left;
          const std::string told = complaint([&] { executor.run(input_values(c), c.bindings, options, result); });
          source->left = INT64_MAX;
          QVERIFY2(told.empty() || told == "shard: gave out", told.c_str());
          failed_batches += !told.empty();
          executor.run(input_values(c), c.bindings, options, result);
          QVERIFY2(difference(plain.result, result).empty(), c.name.c_str());
        }
      }
    }
    QVERIFY2(failed_batches > 20, qPrintable(QString::number(failed_batches)));
  }
  void memory_refused_while_loading_is_told_and_leaves_the_store_whole() {
    int refused = 0;
    for (int seed = 0; seed < 20; ++seed) {
      const RandomCase c = make(seed);
      const PartBytes parts = part_bytes(c);
      if (parts.all == 0) continue;
      Refusing device;
      const Ran plain = run_on(device, c, 0);
      WeightStore store(device, c.weights, parts.least);
      for (const int left : {0, 1, 2, 5}) {
        device.left = left;
        const std::string told = complaint([&] { Executor(device, store, program_of(c), c.bindings); });
        device.left = 1 << 30;
        QVERIFY2(told.empty() || told == "weights: no memory", told.c_str());
        refused += !told.empty();
      }
      Executor executor(device, store, program_of(c), c.bindings);
      ExecuteOptions options;
      options.outputs = options.record = options.events = true;
      ExecutionResult result;
      executor.run(input_values(c), c.bindings, options, result);
      QVERIFY2(difference(plain.result, result).empty(), c.name.c_str());
    }
    QVERIFY2(refused > 10, qPrintable(QString::number(refused)));
  }
  void an_interrupted_batch_ends_and_the_next_is_whole() {
    const RandomCase c = make(1);
    const PartBytes parts = part_bytes(c);
    QVERIFY(parts.all > 0);
    cpu::CpuDevice device(2);
    const Ran plain = run_on(device, c, 0);
    WeightStore store(device, c.weights, parts.least);
    Progress progress;
    {
      Executor executor(device, store, program_of(c), {c.bindings}, progress);
      ExecutionResult result;
      progress.cancel.cancel();
      QVERIFY(!complaint([&] { executor.run(input_values(c), c.bindings, {}, result); }).empty());
    }
    Executor executor(device, store, program_of(c), {c.bindings});
    ExecuteOptions options;
    options.outputs = options.record = options.events = true;
    ExecutionResult result;
    executor.run(input_values(c), c.bindings, options, result);
    QVERIFY(difference(plain.result, result).empty());
  }
  void toys_give_the_same_bits() {
    int with_parts = 0;
    for (const Toy& toy : toys())
      for (const uint64_t seed : {1u, 2u}) with_parts += check(toy.make(seed));
    QVERIFY2(with_parts > 4, qPrintable(QString::number(with_parts)));
  }
};
STORMCELL_TEST(BudgetTest)

}  // namespace stormcell::testing::budget_test
#include "budget_test.moc"
