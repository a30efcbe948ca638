// A run refuses whatever would corrupt memory, with the oracle's words.
#include "core/base/error.h"
#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::refusals_test {
namespace {

/// Three rows of each of two sequences, put into five places from place 1 and from place `at` on.
RandomCase put_at(int64_t at) {
  CaseBuilder b(1);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                rows = b.dense_space("rows", sequences, b.bound_symbol("T", 3)),
                places = b.dense_space("places", sequences, 5);
  const ValueId x = b.floats("x", rows, {4}), state = b.state("kept", DType::f32, places, {4});
  b.GraphBuilder::add("state_fill", {state}, {{"value", 0.0}}, "clear");
  const ValueId place = b.integers("place", sequences, 3);
  b.put(state, x, place, "keep");
  b.output("y", b.value("scale", {state}, {{"factor", 1.0}}, "y"));
  RandomCase made = b.take("put");
  made.inputs["place"] = std::vector<int32_t>{1, static_cast<int32_t>(at)};
  return made;
}

/// Top-1 of four among the tokens.
RandomCase routed() {
  CaseBuilder b(2);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                tokens = b.dense_space("tokens", sequences, 3);
  const ValueId x = b.floats("x", tokens, {8});
  const ValueId d = b.route(b.linear(x, 4, "scores"), {}, "moe");
  std::vector<ValueId> parts = b.scatter(x, d, {0, 1, 2, 3});
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = b.linear(parts[i], 8, "expert." + std::to_string(i));
  b.output("y", b.gather(parts, tokens, "weighted", kNone, "joined"));
  return b.take("routed");
}

OracleResult<float> oracle_of(const RandomCase& c) {
  return Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings);
}

}  // namespace

class RefusalsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_batch_that_is_cancelled_ends_with_the_token_s_error_and_the_next_one_runs() {
    const RandomCase c = routed();
    cpu::CpuDevice device(2);
    WeightStore store(device, c.weights);
    Progress progress;
    Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings,
                      progress);
    ExecutionResult result;
    executor.run(input_values(c), c.bindings, {}, result);
    progress.cancel.cancel(ErrorKind::terminated);
    QVERIFY_THROWS_EXCEPTION(Error, executor.run(input_values(c), c.bindings, {}, result));
    Executor another(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
    ExecuteOptions options;
    options.outputs = true;
    another.run(input_values(c), c.bindings, options, result);
    QCOMPARE(result.outputs.size(), size_t{1});
  }

  void rows_put_past_the_end_of_a_state() {
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (const int64_t at : {0, 2, 3, 5, -1, 1000000}) {
      const RandomCase c = put_at(at);
      const bool fits = at >= 0 && at + 3 <= 5;
      const std::string oracle = complaint([&] { oracle_of(c); });
      QCOMPARE(oracle,
               fits ? std::string() : "keep: expected rows that fit 5 places, got 3 from place " + std::to_string(at));
      for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
        WeightStore store(*device, c.weights);
        Executor executor(*device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))),
                          c.bindings);
        ExecuteOptions options;
        options.outputs = true;
        ExecutionResult result;
        QCOMPARE(complaint([&] { executor.run(input_values(c), c.bindings, options, result); }), oracle);
        if (fits) QCOMPARE(result.outputs[0].reals, oracle_of(c).output("y").reals);
      }
    }
  }

  void replayed_choices_that_do_not_fit() {
    const RandomCase c = routed();
    const std::vector<int32_t> choices = oracle_of(c).decisions.at(0).choice;
    cpu::CpuDevice device(2);
    WeightStore store(device, c.weights);
    Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
    const auto replay = [&](std::vector<std::vector<int32_t>> turns) {
      ReplayedDecisions replayed(1);
      for (std::vector<int32_t>& choices : turns) replayed[0].push_back({std::move(choices), {}});
      ExecuteOptions options;
      options.replayed = &replayed;
      options.replayed_from = "some.storm";
      ExecutionResult result;
      return complaint([&] { executor.run(input_values(c), c.bindings, options, result); });
    };
    const auto with = [&](int32_t choice) {
      std::vector<int32_t> changed = choices;
      changed[1] = choice;
      return std::vector<std::vector<int32_t>>{changed};
    };
    const std::string begin = "some.storm: choices of router moe: ", end = " (record them again with profile)";
    QCOMPARE(replay({choices}), std::string());
    QCOMPARE(replay(with(kNoBranch)), std::string());
    QCOMPARE(replay(with(dropped_from(3))), std::string());
    QCOMPARE(replay(with(4)), begin + "expected a branch below 4, got 4" + end);
    QCOMPARE(replay(with(dropped_from(9))), begin + "expected a branch below 4, got 9" + end);
    QCOMPARE(replay(with(kNotRecorded)), std::string());
    QCOMPARE(replay({std::vector<int32_t>(choices.begin(), choices.end() - 1)}), begin + "expected 6, got 5" + end);
    // A router that was not recorded decides freely, and is counted.
    ReplayedDecisions part{{{{1, 2}, {2, 4}}}};
    ExecuteOptions options;
    options.replayed = &part;
    options.record = true;
    ExecutionResult result;
    executor.run(input_values(c), c.bindings, options, result);
    QCOMPARE(result.not_replayed.at(0), 4);
    std::vector<int32_t> expected = choices;
    expected[2] = 1, expected[4] = 2;
    QCOMPARE(result.decisions.at(0).choice, expected);
    part[0][0].ancestor = {2, 6};
    options.replayed_from = "some.storm";
    QCOMPARE(complaint([&] { executor.run(input_values(c), c.bindings, options, result); }),
             begin + "expected a cell below 6, got 6" + end);
    QCOMPARE(replay({choices, choices}), begin + "expected at most 1 execution, got 2" + end);
  }

  void labels_and_pictures_that_do_not_fit() {
    for (const auto make : {labelled_patches_toy, patches_of_routed_pictures_toy}) {
      const RandomCase c = make(1);
      cpu::CpuDevice device(2);
      WeightStore store(device, c.weights);
      Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
      ExecutionResult result;
      const auto complaints = [&](const std::function<void(RandomCase&)>& change) {
        RandomCase changed = c;
        change(changed);
        return std::pair(complaint([&] { executor.run(input_values(changed), c.bindings, {}, result); }),
                         complaint([&] { oracle_of(changed); }));
      };
      const auto labels = [](RandomCase& x) -> std::vector<int32_t>& {
        return std::get<std::vector<int32_t>>(x.inputs.at("class"));
      };
      const auto none = complaints([](RandomCase&) {});
      QCOMPARE(none.first, std::string());
      QCOMPARE(none.second, std::string());
      for (const int32_t wrong : {3, -1, INT32_MAX, INT32_MIN}) {
        const auto came = complaints([&](RandomCase& x) { labels(x)[7] = wrong; });
        QCOMPARE(came.first, "input class: expected labels of 0 to 2, the branches of router class.router, got " +
                                 std::to_string(wrong) + " for cell 7 (give each cell of patches its branch)");
        QCOMPARE(came.second, came.first);
      }
      const std::string count = std::to_string(labels(const_cast<RandomCase&>(c)).size());
      QCOMPARE(complaints([&](RandomCase& x) { labels(x).pop_back(); }).first,
               "input class: expected " + count + " values, got " + std::to_string(std::stoi(count) - 1));
      QCOMPARE(complaints([&](RandomCase& x) { x.inputs.erase("class"); }).first,
               "input class: expected " + count + " values, got none");
      const auto larger = complaints(
          [](RandomCase& x) { std::get<std::vector<float>>(x.inputs.at("pixels")).resize(4 * 12 * 11 * 3); });
      QVERIFY2(larger.first.starts_with("input pixels: expected ") && larger.second.starts_with("pixels: expected "),
               (larger.first + "; " + larger.second).c_str());
    }
  }
};

STORMCELL_TEST(RefusalsTest)

}  // namespace stormcell::testing::refusals_test

#include "refusals_test.moc"
