// Passes on regions of several routers: exits that join at the end of a chain, routers whose rows are summed, one
// nested in another's branch. Whatever was profiled and whatever comes, the answers and the decisions are those of the
// plan without passes.
#include <cmath>
#include <map>
#include <set>

#include "core/cpu/cpu_device.h"
#include "core/oracle/oracle.h"
#include "core/passes/pipeline.h"
#include "core/runtime/named_routers.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

using Labels = std::map<std::string, std::vector<int32_t>>;

/// The labels given, repeated over all cells.
CaseInputs labelled_inputs(const RandomCase& from, const Labels& labels) {
  CaseInputs inputs = from.inputs;
  for (const auto& [router, pattern] : labels) {
    auto& all = std::get<std::vector<int32_t>>(inputs.at(router + ".labels"));
    for (size_t i = 0; i < all.size(); ++i) all[i] = pattern[i % pattern.size()];
  }
  return inputs;
}

/// Three blocks with an exit behind the first two; branch 0 leaves. The rest of the chain is a mixture. `mode` joins
/// them.
RandomCase exits(const std::string& mode) {
  MixtureBuilder b(11);
  Protocol rule;
  rule.kind = ProtocolKind::label;
  const ValueId x = b.tokens(2, 4, 8);
  const SpaceId tokens = b.space_of(x);
  const ValueId first_labels = b.integers("first.labels", tokens, 2),
                second_labels = b.integers("second.labels", tokens, 2),
                inner_labels = b.integers("inner.labels", tokens, 3);
  const ValueId first = b.route(first_labels, rule, "first", 2);
  std::vector<ValueId> results{b.product(b.scatter(x, first, {0})[0], 8, "first.head")};
  const ValueId going = b.product(b.scatter(x, first, {1})[0], 8, "second.block");
  const ValueId second = b.route(b.scatter(second_labels, first, {1})[0], rule, "second", 2);
  results.push_back(b.product(b.scatter(going, second, {0})[0], 8, "second.head"));
  const ValueId rest = b.product(b.scatter(going, second, {1})[0], 8, "third.block");
  const ValueId inner = b.route(b.scatter(b.scatter(inner_labels, first, {1})[0], second, {1})[0], rule, "inner", 3);
  results.push_back(b.product(b.mixture(rest, inner, {.branches = 3}, "inner.moe"), 8, "third.head"));
  b.output("y", b.gather(results, tokens, mode, mode == "sum" ? x : kNone, "joined"));
  return b.take("exits by " + mode);
}

/// Three routers over the same cells, their rows summed in one gather; the second has another gather of its own.
RandomCase summed() {
  MixtureBuilder b(12);
  const ValueId x = b.tokens(2, 4, 8);
  const SpaceId tokens = b.space_of(x);
  std::vector<ValueId> results, of_second;
  for (const char* name : {"first", "second", "third"}) {
    const ValueId decision = b.labelled(tokens, 3, name);
    const std::vector<ValueId> parts = b.scatter(b.norm(x, std::string(name) + ".norm"), decision, {0, 1, 2});
    for (size_t i = 0; i < parts.size(); ++i)
      results.push_back(
          b.product(b.product(parts[i], 12, name + std::to_string(i) + ".up"), 8, name + std::to_string(i)));
    if (name[0] == 's') of_second.assign(results.end() - 3, results.end());
  }
  b.output("y", b.add(x, b.gather(results, tokens, "sum", kNone, "joined")));
  b.output("second", b.gather(of_second, tokens, "sum", kNone, "second.joined"));
  return b.take("three routers summed");
}

std::map<std::string, std::vector<int32_t>> choices(const Plan& plan, const ExecutionResult& came) {
  const Program& program = const_cast<Plan&>(plan).executor().program();
  std::map<std::string, std::vector<int32_t>> all;
  for (const ExecutedDecision* d : standing_decisions(program, name_routers(program), came)) {
    std::vector<int32_t> cells = d->ancestor;
    cells.insert(cells.end(), d->choice.begin(), d->choice.end());
    // A router that nothing reached may stand in a body that did not run.
    if (!cells.empty()) all[program.routers[d->router].name] = std::move(cells);
  }
  return all;
}

ReplayedDecisions to_replay(Plan& of, const ExecutionResult& recorded, Plan& plan) {
  const Program &from = of.executor().program(), &to = plan.executor().program();
  ReplayedDecisions replayed(to.routers.size());
  for (const ExecutedDecision* d : standing_decisions(from, name_routers(from), recorded))
    for (const RouterId r : to.routers.ids())
      if (to.routers[r].name == from.routers[d->router].name) replayed[r].push_back({d->choice, d->ancestor});
  return replayed;
}

struct Seen {
  int64_t hits = 0, misses = 0, guards = 0;
};

/// The graph answers every input as the case's own does: on the CPU, on the emulated device, on the oracle; freely and
/// with decisions replayed that were recorded on other inputs.
Seen check(const RandomCase& from, const Graph& graph, const std::vector<CaseInputs>& all) {
  Seen seen;
  cpu::CpuDevice cpu(2);
  EmulatedDevice emulated(1);
  Plan plain(cpu, from.graph, from);
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
    Plan optimised(*device, graph, from);
    for (size_t i = 0; i < all.size(); ++i) {
      const ExecutionResult expected = plain.run(all[i]);
      const ExecutionResult came = optimised.run(all[i]);
      if (const std::string why = difference(expected.outputs, came.outputs); !why.empty())
        QTest::qFail((from.name + ": " + why).c_str(), __FILE__, __LINE__);
      if (choices(plain, expected) != choices(optimised, came)) QTest::qFail("other decisions", __FILE__, __LINE__);
      for (const int32_t n : came.guard_hits) seen.hits += n;
      for (const int32_t n : came.guard_misses) seen.misses += n;
      seen.guards = static_cast<int64_t>(came.guard_hits.size());

      const CaseInputs& other = all[(i + 1) % all.size()];
      const ReplayedDecisions for_plain = to_replay(plain, expected, plain),
                              for_optimised = to_replay(plain, expected, optimised);
      ExecuteOptions options;
      options.outputs = options.record = true;
      options.replayed = &for_plain;
      const std::vector<OutputValue> replayed = plain.run(other, options).outputs;
      options.replayed = &for_optimised;
      if (const std::string why = difference(replayed, optimised.run(other, options).outputs); !why.empty())
        QTest::qFail((from.name + " replayed: " + why).c_str(), __FILE__, __LINE__);
    }
  }
  for (const CaseInputs& inputs : all) {
    const OracleInputs<double> values = oracle_inputs<double>(inputs);
    const OracleResult<double> expected = Oracle<double>(from.graph, *from.weights).run(values, from.bindings);
    const OracleResult<double> came = Oracle<double>(graph, *from.weights).run(values, from.bindings);
    for (const auto& [name, tensor] : expected.outputs)
      for (size_t i = 0; i < tensor.reals.size(); ++i)
        if (std::abs(tensor.reals[i] - came.output(name).reals[i]) > 1e-12)
          QTest::qFail("the oracle disagrees", __FILE__, __LINE__);
  }
  return seen;
}

std::vector<CaseInputs> all_patterns(const RandomCase& from, const std::vector<Labels>& patterns) {
  std::vector<CaseInputs> all;
  for (const Labels& labels : patterns) all.push_back(labelled_inputs(from, labels));
  return all;
}

const std::vector<Labels> kExitPatterns{
    {{"first", {0}}, {"second", {0}}, {"inner", {0}}},
    {{"first", {1}}, {"second", {0}}, {"inner", {0}}},
    {{"first", {0, 1}}, {"second", {0}}, {"inner", {0}}},
    {{"first", {1}}, {"second", {1}}, {"inner", {0}}},
    {{"first", {1}}, {"second", {0, 1}}, {"inner", {1}}},
    {{"first", {0, 1}}, {"second", {1}}, {"inner", {1, 2}}},
    {{"first", {0, 1, 1}}, {"second", {0, 1}}, {"inner", {0, 0, 0, 0, 0, 1, 0, 2}}},
};
const std::vector<Labels> kSummedPatterns{
    {{"first", {0}}, {"second", {1}}, {"third", {0, 1, 2}}},
    {{"first", {0, 1}}, {"second", {1, 2}}, {"third", {0}}},
    {{"first", {2}}, {"second", {0, 1, 2}}, {"third", {1}}},
    {{"first", {0, 1, 2}}, {"second", {2, 0}}, {"third", {2, 1}}},
};

}  // namespace

class RouterSetsTest : public QObject {
  Q_OBJECT
 private slots:
  void exits_that_no_cell_took_are_left_out_and_taken_none_the_less_data() {
    QTest::addColumn<int>("profiled");
    QTest::addColumn<QString>("mode");
    for (size_t i = 0; i < kExitPatterns.size(); ++i)
      for (const char* mode : {"place", "sum"})
        QTest::addRow("profile %d, %s", static_cast<int>(i), mode) << static_cast<int>(i) << QString(mode);
  }
  void exits_that_no_cell_took_are_left_out_and_taken_none_the_less() {
    QFETCH(int, profiled);
    QFETCH(QString, mode);
    const RandomCase from = exits(mode.toStdString());
    const std::vector<CaseInputs> all = all_patterns(from, kExitPatterns);
    const LoadProfile profile = profile_of(from, {all[static_cast<size_t>(profiled)]});
    const PassResult result = find_pass("dead-path")->run(pass_input(from.graph, profile));
    const bool everything_taken = profiled == static_cast<int>(kExitPatterns.size()) - 1;
    QCOMPARE(result.applied, !everything_taken);
    const Seen seen = check(from, result.graph, all);
    if (everything_taken) return;
    QVERIFY(seen.hits > 0);
    QVERIFY(seen.misses > 0);
    const PipelineResult passes = run_passes(pass_input(from.graph, profile), select_passes({}), OnTheirOwn::no);
    check(from, passes.graph, all);
  }

  void a_tail_that_no_cell_reached_is_one_guard() {
    const RandomCase from = exits("place");
    // All leave at the second exit: its head stays, the third block and its mixture go.
    const LoadProfile profile = profile_of(from, {labelled_inputs(from, {{"first", {0, 1}}, {"second", {0}}})});
    const PassResult result = find_pass("dead-path")->run(pass_input(from.graph, profile));
    QCOMPARE(result.parameters.at("second"), std::string("1"));
    QCOMPARE(count_nodes(result.graph, "guard"), size_t{1});
    QCOMPARE(count_nodes(result.graph, "branches_empty"), size_t{1});
    // The block before the second exit stands once, before the guard: a miss does not compute it again.
    size_t before = 0;
    for (const NodeId id : result.graph.top.nodes) before += result.graph.node(id).name == "second.block";
    QCOMPARE(before, size_t{1});
    cpu::CpuDevice device(1);
    Plan plan(device, result.graph, from);
    // third.block, third.head, three experts of 8 x 12 and 12 x 8
    QCOMPARE(plan.spared_bytes() > 2 * 8 * 8 * 4 + 3 * 2 * 12 * 8 * 4 - 1, true);
    QCOMPARE(plan.run(labelled_inputs(from, kExitPatterns[1])).guard_misses, std::vector<int32_t>{0});
    QCOMPARE(plan.run(labelled_inputs(from, kExitPatterns[4])).guard_misses, std::vector<int32_t>{1});
  }

  void routers_summed_are_left_out_under_one_guard() {
    const RandomCase from = summed();
    const std::vector<CaseInputs> all = all_patterns(from, kSummedPatterns);
    for (const CaseInputs& profiled : all) {
      const LoadProfile profile = profile_of(from, {profiled});
      const PassResult result = find_pass("dead-path")->run(pass_input(from.graph, profile));
      QVERIFY(result.applied);
      QCOMPARE(count_nodes(result.graph, "guard"), size_t{1});
      size_t with_dead = 0;
      for (const auto& [router, load] : profile.routers)
        with_dead += std::find(load.load.begin(), load.load.end(), 0) != load.load.end();
      QCOMPARE(count_nodes(result.graph, "branches_empty"), with_dead);
      QCOMPARE(count_nodes(result.graph, "all_set"), size_t{with_dead > 1 ? 1u : 0u});
      const Seen seen = check(from, result.graph, all);
      QVERIFY(seen.hits > 0);
      QVERIFY(seen.misses > 0);
    }
  }

  void each_router_of_a_sum_is_fused_to_slots() {
    const RandomCase from = summed();
    const LoadProfile none;
    const PassResult result = find_pass("horizontal-fusion")->run(pass_input(from.graph, none));
    QVERIFY2(result.reason.starts_with("3 routers: 18 linear became 6 grouped_linear"), result.reason.c_str());
    QCOMPARE(count_nodes(result.graph, "linear"), size_t{0});
    const std::vector<CaseInputs> all = all_patterns(from, kSummedPatterns);
    check(from, result.graph, all);
    for (const CaseInputs& profiled : all) {
      const LoadProfile profile = profile_of(from, {profiled});
      check(from, run_passes(pass_input(from.graph, profile), select_passes({}), OnTheirOwn::no).graph, all);
      // Dead branches behind grouped products too.
      check(from, find_pass("dead-path")->run(pass_input(result.graph, profile)).graph, all);
    }
  }

  void branches_between_those_of_others_are_not_fused() {
    MixtureBuilder b(13);
    const ValueId x = b.tokens(2, 4, 8);
    const std::vector<ValueId> one = b.scatter(x, b.labelled(b.space_of(x), 2, "one"), {0, 1}),
                               two = b.scatter(x, b.labelled(b.space_of(x), 3, "two"), {0, 1});
    b.output("y", b.gather({b.product(one[0], 8, "a"), b.product(two[0], 8, "c"), b.product(two[1], 8, "d"),
                            b.product(one[1], 8, "e")},
                           b.space_of(x), "sum", kNone, "joined"));
    const RandomCase from = b.take("mixed");
    const LoadProfile none;
    const PassResult result = find_pass("horizontal-fusion")->run(pass_input(from.graph, none));
    QVERIFY(!result.applied);
    QVERIFY2(result.reason.find(
                 "not applied to one: gather \"joined\" joins rows of other routers between those of its branches") !=
                 std::string::npos,
             result.reason.c_str());
    QVERIFY2(result.reason.find(
                 "not applied to two: gather \"joined\" joins rows of other routers beside some of its branches") !=
                 std::string::npos,
             result.reason.c_str());
  }
};
STORMCELL_TEST(RouterSetsTest)
#include "router_sets_test.moc"
