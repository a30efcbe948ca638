// Guards whose taken body has run before the predicate is known: a miss leaves no trace of it.
#include <cmath>

#include "core/cpu/cpu_device.h"
#include "core/graph/text.h"
#include "core/runtime/lower.h"
#include "tests/core/passes/plan.h"
#include "tests/gpu/host_device.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// A guard told before its body or behind it; or one of its bodies without a guard.
enum class Shape : uint8_t { early, late, taken_alone, fallback_alone };

/// Holds what the bodies give, each alone or both under a guard; `empty(name)` is the guard's predicate.
template <class Body, class Fallback, class Empty>
ValueId in_shape(MixtureBuilder& b, Shape shape, Body taken, Fallback fallback, Empty empty) {
  if (shape == Shape::taken_alone) return taken();
  if (shape == Shape::fallback_alone) return fallback();
  const bool late = shape == Shape::late;
  const std::vector<ValueId> inputs = late ? std::vector<ValueId>{} : std::vector<ValueId>{empty("nobody")};
  b.begin_body();
  std::vector<ValueId> yields{taken()};
  if (late) yields.push_back(empty("nobody"));
  b.end_body(std::move(yields));
  b.begin_body();
  b.end_body({fallback()});
  return b.graph().node(b.add_region("guard", inputs, {}, "guard")).outputs[0];
}

/// A state that begins as the embedded tokens. The taken body adds a product to it, the fallback halves it: both read
/// what it was before the guard. Taken while nobody has label 1.
RandomCase guarded_state(Shape shape) {
  MixtureBuilder b(11);
  const ValueId x = b.tokens(2, 4, 8);
  const SpaceId tokens = b.space_of(x);
  const ValueId state = b.state("memory", DType::f32, tokens, {8});
  const ValueId decision = b.labelled(tokens, 2, "moe");
  b.GraphBuilder::add("state_write", {state, x}, {}, "begin");
  const auto empty = [&](const std::string& name) { return b.nobody_in_branch_1(decision, name); };
  const auto taken = [&] {
    const ValueId y = b.product(state, 8, "quick");
    b.GraphBuilder::add("state_write", {state, b.add(state, y, "grown")}, {}, "keep.taken");
    return b.value("scale", {state}, {{"factor", 3.0}}, "after.taken");
  };
  const auto fallback = [&] {
    const ValueId y = b.product(state, 8, "slow");
    b.GraphBuilder::add("state_write", {state, b.value("scale", {state}, {{"factor", 0.5}}, "half")}, {},
                        "keep.fallback");
    return b.add(y, state, "after.fallback");
  };
  b.output("y", in_shape(b, shape, taken, fallback, empty));
  b.output("memory", b.value("scale", {state}, {{"factor", 1.0}}, "memory.now"));
  // The same weights whichever bodies there are.
  return b.take("guarded state");
}

/// A cache of `places` rows a sequence, and a body that puts `rows` of them at place 2, which only it knows. The taken
/// body of a late guard does that twice; the second time, with `turns`, in a repeat. With `place_in_state` the place is
/// kept in a state that each put moves on. The fallback reads the whole cache before it puts others there.
struct CacheCase {
  Shape shape = Shape::late;
  int64_t places = 8, rows = 1, turns = 0;
  bool place_in_state = false;
};
RandomCase guarded_cache(const CacheCase& like) {
  MixtureBuilder b(12);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2));
  const SpaceId places = b.dense_space("places", sequences, like.places),
                rows = b.dense_space("rows", sequences, like.rows);
  const ValueId x = b.floats("x", rows, {8}), began = b.floats("began", places, {8});
  const ValueId cache = b.state("cache", DType::f32, places, {8});
  const ValueId decision = b.labelled(sequences, 2, "moe");
  const ValueId next = like.place_in_state ? b.state("next", DType::i32, sequences) : kNone;
  const ValueId zero = like.place_in_state ? kNone : b.state("zero", DType::i32, sequences);
  b.GraphBuilder::add("state_write", {cache, began}, {}, "begin");
  b.GraphBuilder::add("state_fill", {next == kNone ? zero : next}, {{"value", next == kNone ? 0.0 : 1.0}},
                      "begin.next");
  const auto put = [&](ValueId values, int64_t place, const std::string& name) {
    ValueId at = next;
    if (next != kNone) {
      b.GraphBuilder::add("state_write",
                          {next, b.value("add_constant", {next}, {{"value", int64_t{1}}}, name + ".next")}, {},
                          name + ".move");
    } else {
      at = b.value("add_constant", {zero}, {{"value", place}}, name + ".at");
    }
    b.put(cache, values, at, name);
  };
  const auto empty = [&](const std::string& name) { return b.nobody_in_branch_1(decision, name); };
  const auto taken = [&] {
    put(x, 2, "put.taken");
    const ValueId more = b.product(x, 8, "quick");
    if (like.turns > 0) b.begin_body();
    put(more, 3, "again.taken");
    if (like.turns > 0) {
      b.end_body({empty("stop")});
      b.add_region("repeat", {}, {{"most", std::to_string(like.turns)}}, "turns");
    }
    return b.value("reduce", {cache}, {{"mode", std::string("mean")}}, "read.taken");
  };
  const auto fallback = [&] {
    const ValueId read = b.value("reduce", {cache}, {{"mode", std::string("mean")}}, "read.fallback");
    put(b.product(x, 8, "slow"), 2, "put.fallback");
    return read;
  };
  b.output("y", in_shape(b, like.shape, taken, fallback, empty));
  b.output("cache", b.value("scale", {cache}, {{"factor", 1.0}}, "cache.now"));
  return b.take("guarded cache");
}

/// Caches of sequences that stand at unlike places, in pages. The taken body of a late guard puts rows, moves the
/// places on and puts others, with `turns` in a repeat, and attends to them; the fallback puts others. What stands in
/// the caches is read behind the guard.
RandomCase guarded_pages(Shape shape, int64_t turns) {
  MixtureBuilder b(13);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 3)),
                tokens = b.dense_space("tokens", sequences, 70);
  const SpaceId places = b.dense_space("places", sequences, 80), rows = b.dense_space("rows", sequences, 2);
  const ValueId real = b.value("compact", {b.mask("mask", tokens, true)}, {}, "real");
  const ValueId prompt = b.pack(b.floats("prompt", tokens, {8}), real, sequences), x = b.floats("x", rows, {8});
  const ValueId cache = b.state("cache", DType::f32, places, {8}), place = b.state("place", DType::i32, sequences);
  const ValueId decision = b.labelled(sequences, 2, "moe");
  const auto move = [&](int64_t by, const std::string& name) {
    b.GraphBuilder::add("state_write", {place, b.value("add_constant", {place}, {{"value", by}}, name + ".next")}, {},
                        name);
  };
  const auto empty = [&](const std::string& name) { return b.nobody_in_branch_1(decision, name); };
  b.put(cache, prompt, place, "put.prompt");
  const ValueId length =
      b.value("reduce", {b.pack(b.integers("ids", tokens, 9), real, sequences)}, {{"mode", std::string("sum")}}, "sum");
  b.output("sum", length);
  b.GraphBuilder::add("state_write", {place, b.add(place, b.integers("begin", sequences, 1), "begin.place")}, {},
                      "begin.keep");
  const auto taken = [&] {
    b.put(cache, x, place, "put.taken");
    move(2, "move.taken");
    if (turns > 0) b.begin_body();
    b.put(cache, b.product(x, 8, "quick"), place, "again.taken");
    if (turns > 0) {
      b.end_body({empty("stop")});
      b.add_region("repeat", {}, {{"most", std::to_string(turns)}}, "turns");
    }
    return b.attend(x, cache, place, "read.taken");
  };
  const auto fallback = [&] {
    const ValueId before = b.product(x, 8, "slow");
    b.put(cache, before, place, "put.fallback");
    const ValueId y = b.attend(x, cache, place, "read.fallback");
    move(2, "move.fallback");
    return y;
  };
  b.output("y", in_shape(b, shape, taken, fallback, empty));
  move(-2, "back");
  b.output("cache", b.attend(x, cache, place, "read.last"));
  RandomCase made = b.take("guarded pages");
  made.inputs["begin"] = std::vector<int32_t>{70, 3, 62};
  for (int32_t s = 0; s < 3; ++s)
    for (int32_t t = 0; t < 70; ++t)
      std::get<std::vector<int32_t>>(made.inputs["mask"])[static_cast<size_t>(s * 70 + t)] =
          t < std::vector<int32_t>{70, 3, 62}[static_cast<size_t>(s)];
  return made;
}

/// Bytes that a program's steps copy at most in one execution, to undo what a miss may have to take back or to join
/// bodies.
int64_t copied_bytes(const RandomCase& from) {
  const Program program = lower(std::make_shared<Graph>(from.graph));
  int64_t bytes = 0;
  for (const Step& step : program.steps) {
    const bool restores = step.kind == StepKind::restore_rows;
    if (step.kind != StepKind::copy && step.kind != StepKind::save_rows && !restores) continue;
    const Operand& o = program.operands[restores ? step.inputs[0] : step.outputs[0]];
    bytes += program.buffers[o.buffer].bytes.evaluate(from.bindings);
  }
  return bytes;
}

}  // namespace

class GuardTest : public QObject {
  Q_OBJECT
  /// On all devices, told early and late: where the guard hits the plan does what its taken body does alone, and what
  /// its fallback does alone where it misses, hits before and behind it. `also(from, plan, inputs, came)` looks at each
  /// answer.
  template <class Make, class Also>
  static void check_taken_back(Make make, Also also) {
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    HostDevice host;
    host.order_seed = 1;
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated), static_cast<Device*>(&host)})
      for (const Shape shape : {Shape::early, Shape::late}) {
        const RandomCase from = make(shape), taken = make(Shape::taken_alone), fallback = make(Shape::fallback_alone);
        if (device == &host && !host.refusal_of(from.graph, from.weights, from.bindings).empty()) continue;
        Plan plan(*device, from.graph, from), only_taken(*device, taken.graph, from),
            only_fallback(*device, fallback.graph, from);
        CaseInputs hit = from.inputs, miss = from.inputs;
        for (int32_t& label : std::get<std::vector<int32_t>>(hit.at("moe.labels"))) label = 0;
        std::get<std::vector<int32_t>>(miss.at("moe.labels"))[1] = 1;
        for (const bool hits : {true, false, false, true}) {
          const CaseInputs& inputs = hits ? hit : miss;
          const std::vector<OutputValue> expected = (hits ? only_taken : only_fallback).run(inputs).outputs;
          const ExecutionResult& came = plan.run(inputs);
          QCOMPARE(difference(expected, came.outputs), std::string());
          QCOMPARE(came.guard_misses, std::vector<int32_t>{hits ? 0 : 1});
          also(from, plan, inputs, came);
        }
      }
  }
  template <class Make>
  static void check_taken_back(Make make) {
    check_taken_back(make, [](const RandomCase&, Plan&, const CaseInputs&, const ExecutionResult&) {});
  }

 private slots:
  void a_state_written_before_the_predicate_is_known_is_rolled_back() {
    const RandomCase taken = guarded_state(Shape::taken_alone), fallback = guarded_state(Shape::fallback_alone);
    const RandomCase weights = guarded_state(Shape::late);
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    HostDevice host;
    host.order_seed = 1;
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated), static_cast<Device*>(&host)})
      for (const Shape shape : {Shape::early, Shape::late}) {
        const RandomCase from = guarded_state(shape);
        Plan plan(*device, from.graph, weights), only_taken(*device, taken.graph, weights),
            only_fallback(*device, fallback.graph, weights);
        QVERIFY(plan.spared_bytes() > 0);
        QCOMPARE(plan.executor().program().guards.at(0).pass, std::string());  // the model's own, no pass's
        CaseInputs hit = from.inputs, miss = from.inputs;
        for (int32_t& label : std::get<std::vector<int32_t>>(hit.at("moe.labels"))) label = 0;
        std::get<std::vector<int32_t>>(miss.at("moe.labels"))[3] = 1;
        const auto check = [&](Plan& like, const CaseInputs& inputs, int misses, int64_t late_loads) {
          const std::vector<OutputValue> expected = like.run(inputs).outputs;
          const ExecutionResult& came = plan.run(inputs);
          QCOMPARE(difference(expected, came.outputs), std::string());
          QCOMPARE(came.guard_misses, std::vector<int32_t>{misses});
          QCOMPARE(came.late_loads, late_loads);
        };
        check(only_taken, hit, 0, 0);
        check(only_fallback, miss, 1, 1);
        check(only_fallback, miss, 1, 0);
        check(only_taken, hit, 0, 0);
      }
  }

  void rows_put_before_the_predicate_is_known_are_taken_back() {
    for (const CacheCase& like :
         {CacheCase{.rows = 3}, CacheCase{.rows = 3, .turns = 3}, CacheCase{.rows = 3, .place_in_state = true}})
      check_taken_back([&](Shape shape) {
        CacheCase c = like;
        c.shape = shape;
        return guarded_cache(c);
      });
  }

  void rows_in_pages_are_taken_back() {
    for (const int64_t turns : {0, 2})
      check_taken_back([&](Shape shape) { return guarded_pages(shape, turns); },
                       [](const RandomCase& from, Plan& plan, const CaseInputs& inputs, const ExecutionResult& came) {
                         QCOMPARE(plan.executor().program().paged.size(), size_t{1});
                         const OracleResult<float> oracle =
                             Oracle<float>(from.graph, *from.weights).run(oracle_inputs<float>(inputs), from.bindings);
                         for (const OutputValue& out : came.outputs) {
                           const auto& theirs = oracle.output(out.name);
                           QCOMPARE(out.integers, theirs.integers);
                           for (size_t i = 0; i < out.reals.size(); ++i)
                             QVERIFY(std::fabs(out.reals[i] - theirs.reals[i]) <= 1e-4);
                         }
                       });
  }

  void only_rows_that_may_be_taken_back_are_copied() {
    const int64_t row = 2 * 8 * 4;  // of two sequences
    // Two puts are saved, and put back on a miss.
    QCOMPARE(copied_bytes(guarded_cache({.rows = 1})), 4 * row);
    QCOMPARE(copied_bytes(guarded_cache({.rows = 3})), 4 * 3 * row);
    QCOMPARE(copied_bytes(guarded_cache({.places = 4096, .rows = 3})), 4 * 3 * row);
    // If the predicate is known before a body runs, there is nothing to take back.
    QCOMPARE(copied_bytes(guarded_cache({.shape = Shape::early, .rows = 3})), int64_t{0});
    // How often a repeat puts rows, and where, is not known before: the whole cache, once.
    QCOMPARE(copied_bytes(guarded_cache({.places = 16, .rows = 1, .turns = 3})), 2 * 16 * row);
  }

  void a_late_guard_has_a_text_form() {
    const std::string text = to_text(guarded_state(Shape::late).graph);
    QCOMPARE(to_text(parse_graph(text, "text")), text);
  }

  void a_late_guard_without_a_scalar_predicate_is_refused() {
    MixtureBuilder b(1);
    const ValueId x = b.tokens(1, 2, 8);
    b.begin_body();
    b.end_body({x, x});
    b.begin_body();
    b.end_body({x});
    QVERIFY_THROWS_EXCEPTION(std::runtime_error, b.add_region("guard", {}, {}, "guard"));
  }
};
STORMCELL_TEST(GuardTest)
#include "guard_test.moc"
