// A submission goes on at (leaf, turn), and at nothing else; whoever has the device's memory can go on, because nothing
// else is kept.
#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_device.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "core/runtime/shared_memory.h"
#include "tests/core/runtime/least_budget.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::resume_test {
namespace {

struct Resumed {
  int64_t times = 0, in_turns = 0;  ///< of those at a turn other than a repeat's first
  int64_t refused = 0;
  std::string wrong;  ///< what was not refused
};

/// Two executables of one program over the same memory, which take turns: where one ended, the other goes on. Before,
/// each is asked for what is not where the device waits.
class TakingTurns final : public Executable {
 public:
  TakingTurns(std::shared_ptr<const Program> program, Bindings bounds, std::unique_ptr<Executable> one,
              std::unique_ptr<Executable> other, Resumed& resumed)
      : Executable(std::move(program)), bounds_(std::move(bounds)), resumed_(resumed) {
    each_ = {std::move(one), std::move(other)};
  }
  const ExecutableLayout& layout() const override { return each_[0]->layout(); }
  DeviceAddress address(OperandId operand) const override { return each_[0]->address(operand); }
  DeviceAddress status() const override { return each_[0]->status(); }
  DeviceAddress records() const override { return each_[0]->records(); }
  void submit(Stream& stream, const Submission& submission) override {
    if (submission.leaf != 0) {
      count(submission);
      refuse_others(stream, submission);
      now_ = 1 - now_;
    }
    copy_states(*each_[0], *each_[now_]);
    each_[now_]->submit(stream, submission);
    copy_states(*each_[now_], *each_[0]);
  }

 private:
  void count(const Submission& s) {
    ++resumed_.times;
    const auto& repeats = layout().segments.leaves[static_cast<size_t>(s.leaf)].repeats;
    resumed_.in_turns += std::ranges::any_of(repeats, [&](RepeatId r) { return s.turns[r] > 0; });
  }
  void refuse_others(Stream& stream, const Submission& right) {
    const auto expect_refusal = [&](const Submission& wrong, const std::string& what) {
      const std::string told = complaint([&] { each_[now_]->submit(stream, wrong); });
      ++resumed_.refused;
      if (told.find(what) == std::string::npos)
        resumed_.wrong = "\"" + what + "\": " + (told.empty() ? "was run" : told);
    };
    const auto leaves = static_cast<int32_t>(layout().segments.leaves.size());
    const std::string waits = ", the device waits at " + layout().segments.name(program(), right.leaf, right.turns);
    for (const int32_t leaf : {right.leaf - 1, right.leaf + 1}) {
      Submission wrong = right;
      if (wrong.leaf = leaf; leaf > 0 && leaf < leaves) expect_refusal(wrong, waits);
    }
    for (const int32_t leaf : {-1, leaves}) {
      Submission wrong = right;
      wrong.leaf = leaf;
      expect_refusal(wrong, "goes on at leaf " + std::to_string(leaf) + " of " + std::to_string(leaves));
    }
    for (const RepeatId repeat : layout().segments.leaves[static_cast<size_t>(right.leaf)].repeats) {
      Submission wrong = right;
      ++wrong.turns[repeat];
      expect_refusal(wrong, waits);
    }
  }
  /// Each has states of its own.
  void copy_states(const Executable& from, const Executable& to) {
    if (&from == &to) return;
    for (const OperandId o : program_->operands.ids()) {
      const Operand& operand = program_->operands[o];
      if (operand.kind != BufferKind::state) continue;
      std::memcpy(reinterpret_cast<void*>(to.address(o).value), reinterpret_cast<const void*>(from.address(o).value),
                  static_cast<size_t>(program_->buffers[operand.buffer].bytes.evaluate(bounds_)));
    }
  }
  Bindings bounds_;
  Resumed& resumed_;
  std::array<std::unique_ptr<Executable>, 2> each_;
  size_t now_ = 0;
};

class TwoForOne final : public cpu::CpuDevice {
 public:
  explicit TwoForOne(Resumed& resumed) : cpu::CpuDevice(2), resumed_(resumed) {}
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override {
    auto one = cpu::CpuDevice::compile(program, weights, options),
         other = cpu::CpuDevice::compile(program, weights, options);
    return std::make_unique<TakingTurns>(std::move(program), options.bounds, std::move(one), std::move(other),
                                         resumed_);
  }

 private:
  Resumed& resumed_;
};

ExecutionResult run_on(Device& device, const RandomCase& c, int64_t budget) {
  WeightStore store(device, c.weights, budget);
  Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
  ExecuteOptions options;
  options.outputs = options.record = options.events = true;
  ExecutionResult result;
  for (int turn = 0; turn < 2; ++turn) executor.run(input_values(c), c.bindings, options, result);
  return result;
}

bool same(const ExecutionResult& a, const ExecutionResult& b) {
  const auto bits = [](const OutputValue& x, const OutputValue& y) {
    return x.integers == y.integers && x.reals.size() == y.reals.size() &&
           (x.reals.empty() || std::memcmp(x.reals.data(), y.reals.data(), x.reals.size() * 4) == 0);
  };
  const auto choices = [](const ExecutedDecision& x, const ExecutedDecision& y) {
    return x.router == y.router && x.turn == y.turn && x.choice == y.choice && x.ancestor == y.ancestor;
  };
  const auto steps = [](const DeviceEvent& x, const DeviceEvent& y) { return x.step == y.step; };
  return std::ranges::equal(a.outputs, b.outputs, bits) && std::ranges::equal(a.decisions, b.decisions, choices) &&
         std::ranges::equal(a.events, b.events, steps) && a.guard_hits == b.guard_hits &&
         a.guard_misses == b.guard_misses;
}

}  // namespace

class ResumeTest : public QObject {
  Q_OBJECT
 private:
  static void check(const RandomCase& c, Resumed& resumed) {
    cpu::CpuDevice plain(2);
    TwoForOne two(resumed);
    const bool equal = same(run_on(plain, c, 0), run_on(two, c, least_budget(c)));
    QVERIFY2(equal, c.name.c_str());
    QVERIFY2(resumed.wrong.empty(), (c.name + ": " + resumed.wrong).c_str());
  }

 private slots:
  void another_executable_goes_on_where_one_ended_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("random") << 0;
    QTest::newRow("that decode") << 1;
    QTest::newRow("ragged") << 2;
    QTest::newRow("toys") << 3;
  }
  void another_executable_goes_on_where_one_ended() {
    QFETCH(int, kind);
    RandomOptions options;
    options.states = kind == 1;
    options.ragged = kind == 2;
    Resumed resumed;
    for (uint64_t seed = 0; kind < 3 && seed < 20; ++seed) check(make_random_case(seed, options), resumed);
    for (const Toy& toy : toys())
      for (uint64_t seed = 1; kind == 3 && seed < 4; ++seed) check(toy.make(seed), resumed);
    QVERIFY2(resumed.times > 20 && resumed.refused > 60,
             qPrintable(QString("%1 %2").arg(resumed.times).arg(resumed.refused)));
    if (kind == 1 || kind == 3) QVERIFY2(resumed.in_turns > 5, qPrintable(QString::number(resumed.in_turns)));
  }

  void nothing_goes_on_where_nothing_waits() {
    const RandomCase c = iterated_router_toy(1);
    cpu::CpuDevice device(1);
    WeightStore store(device, c.weights, least_budget(c));
    const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
    CompileOptions options{c.bindings};
    options.memory = std::make_shared<SharedMemory>(device);
    Executor executor(device, store, program, options);
    ExecutionResult result;
    executor.run(input_values(c), c.bindings, {}, result);
    // The batch is done; another executable over the same memory finds nothing to go on with.
    const auto other = device.compile(program, store, {c.bindings, false, options.memory});
    Submission submission;
    submission.bindings = c.bindings;
    submission.inputs.resize(program->inputs.size());
    submission.leaf = 1;
    const auto stream = device.create_stream();
    const std::string told = complaint([&] { other->submit(*stream, submission); });
    QVERIFY2(told.starts_with("plan: a submission goes on at leaf 1") && told.ends_with("the device waits nowhere"),
             told.c_str());
  }

  void work_of_the_host_is_refused_within_a_segment() {
    const RandomCase c = iterated_router_toy(1);
    EmulatedDevice device(1);
    WeightStore store(device, c.weights);
    const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
    Executor executor(device, store, program, c.bindings);
    ExecuteOptions options;
    options.outputs = true;
    ExecutionResult expected, result;
    executor.run(input_values(c), c.bindings, options, expected);
    const auto there = device.allocate(64, "x");
    const auto stream = device.create_stream();
    const auto event = device.create_event();
    std::array<std::byte, 64> host{};
    const std::vector<std::pair<const char*, std::function<void()>>> work = {
        {"a copy to the host", [&] { stream->copy_to_host(host.data(), there->address(), 64); }},
        {"a copy to the device", [&] { stream->copy_to_device(there->address(), host.data(), 64); }},
        {"a synchronisation", [&] { stream->synchronize(); }},
        {"an event", [&] { stream->record(*event); }},
        {"an allocation", [&] { device.allocate(64, "y"); }},
        {"a weight's loading", [&] { device.load_weight(store.key(WeightHandle(0)), *c.weights); }},
        {"a compilation", [&] { device.compile(program, store, {c.bindings}); }},
    };
    for (const auto& [name, f] : work) {
      int called = 0;
      device.within_segment = [&, &f = f] { called++ == 3 ? f() : void(); };
      const std::string told = complaint([&] { executor.run(input_values(c), c.bindings, options, result); });
      device.within_segment = nullptr;
      QCOMPARE(told, "emulated device: " + std::string(name) + " within a segment");
      // Between two segments each is allowed, and the next batch is whole.
      QCOMPARE(complaint(f), std::string());
      executor.run(input_values(c), c.bindings, options, result);
      QVERIFY(same(expected, result));
    }
  }
};
STORMCELL_TEST(ResumeTest)

}  // namespace stormcell::testing::resume_test
#include "resume_test.moc"
