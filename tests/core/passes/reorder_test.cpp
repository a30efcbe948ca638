// Reorder: what waits for a decision, what does not and why, and that no bit changes whoever comes.
#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "core/graph/text.h"
#include "core/oracle/oracle.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::reorder_test {
namespace {

/// Holds what the side work of `exit` is besides for those that go on.
enum class Needed : uint8_t { by_those_that_go_on, by_both, for_the_decision };

/// An exit by label: branch 0 leaves with its row, branch 1 goes on with the rows of two products that stand before the
/// router.
RandomCase exit(Needed needed) {
  MixtureBuilder b(21);
  const ValueId x = b.tokens(2, 6, 8);
  const ValueId side = b.product(b.linear(x, 20, "side.up", "relu"), 8, "side.down"), other = b.norm(x, "other");
  Protocol rule;
  rule.k = 1;
  const ValueId decision =
      needed == Needed::for_the_decision ? b.scored(side, rule, 2, "exit") : b.labelled(b.space_of(x), 2, "exit");
  const std::vector<ValueId> leave = b.scatter(needed == Needed::by_both ? side : x, decision, {0});
  const std::vector<ValueId> go_on = b.scatter(side, decision, {1}),
                             beside = b.scatter(b.add(other, x, "summed"), decision, {1});
  const ValueId late = b.add(b.product(go_on[0], 8, "late"), beside[0]);
  b.output("y", b.gather({b.product(leave[0], 8, "head"), late}, b.space_of(x), "place", kNone, "joined"));
  return b.take("exit");
}

/// A chain of exits by score: before each a few steps that those who go on need, now and then those who leave too.
RandomCase random_exits(uint64_t seed) {
  MixtureBuilder b(seed);
  ValueId x = b.tokens(b.random.between(1, 4), b.random.between(1, 9), 8);
  const SpaceId all = b.space_of(x);
  std::vector<ValueId> leaving;
  const int64_t blocks = b.random.between(1, 3);
  for (int64_t i = 0; i < blocks; ++i) {
    const std::string name = "block." + std::to_string(i);
    ValueId side = x;
    for (int64_t step = b.random.between(1, 3); step > 0; --step) {
      const std::string here = name + ".side." + std::to_string(step);
      side = b.random.chance(0.4) ? b.norm(side, here) : b.linear(side, 8, here, "relu", b.random.chance(0.5));
      if (b.random.chance(0.3)) side = b.add(side, x, here + ".sum");
    }
    const ValueId decision = b.scored(b.random.chance(0.5) ? x : b.norm(x, name + ".seen"), {}, 2, name + ".exit");
    leaving.push_back(b.product(b.scatter(b.random.chance(0.3) ? side : x, decision, {0})[0], 8, name + ".head"));
    x = b.product(b.scatter(side, decision, {1})[0], 8, name + ".next");
  }
  leaving.push_back(x);
  b.output("y", b.gather(std::move(leaving), all, b.random.chance(0.5) ? "place" : "sum", kNone, "joined"));
  return b.take("exits, seed " + std::to_string(seed));
}

LoadProfile loads(std::vector<int64_t> load) {
  LoadProfile profile;
  int64_t cells = 0;
  for (const int64_t n : load) cells += n;
  profile.routers["exit"] = {std::move(load), cells, 1};
  return profile;
}

PassResult apply(const RandomCase& from, const LoadProfile& profile, const PassParameters* found = nullptr,
                 PassParameters options = {}) {
  return find_pass("reorder")->run(pass_input(from.graph, profile).on(from.graph, std::move(options), found));
}

/// Products that work on cells of a branch.
size_t products_in_branches(const Graph& graph) {
  size_t count = 0;
  for (const NodeId id : graph.top.nodes)
    if (const Node& node = graph.node(id); node.op->name == "linear")
      count += graph.space(graph.value(node.outputs[0]).type.space).kind == SpaceKind::routed;
  return count;
}

void same_answers(const RandomCase& from, const Graph& graph, const std::vector<CaseInputs>& batches) {
  cpu::CpuDevice cpu(2);
  EmulatedDevice emulated(1);
  Plan plain(cpu, from.graph, from);
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
    Plan reordered(*device, graph, from);
    for (const CaseInputs& inputs : batches)
      if (const std::string why = difference(plain.run(inputs).outputs, reordered.run(inputs).outputs); !why.empty())
        QTest::qFail((from.name + ": " + why).c_str(), __FILE__, __LINE__);
  }
  const auto a = Oracle<float>(from.graph, *from.weights).run(oracle_inputs(from), from.bindings);
  const auto b = Oracle<float>(graph, *from.weights).run(oracle_inputs(from), from.bindings);
  for (const auto& [name, tensor] : a.outputs)
    if (b.output(name).reals != tensor.reals)
      QTest::qFail((from.name + ": the oracle's " + name).c_str(), __FILE__, __LINE__);
}

CaseInputs with_labels(const RandomCase& from, std::vector<int32_t> labels) {
  CaseInputs inputs = from.inputs;
  auto& all = std::get<std::vector<int32_t>>(inputs.at("exit.labels"));
  for (size_t i = 0; i < all.size(); ++i) all[i] = labels[i % labels.size()];
  return inputs;
}

}  // namespace

class ReorderTest : public QObject {
  Q_OBJECT
 private slots:
  void what_only_cells_that_go_on_need_runs_behind_the_exit() {
    const RandomCase from = exit(Needed::by_those_that_go_on);
    QCOMPARE(products_in_branches(from.graph), size_t{2});
    const PassResult result = apply(from, loads({60, 40}));
    QVERIFY(result.applied && result.same_bits);
    QCOMPARE(result.reason,
             std::string("4 nodes before 1 router wait for the decision: only cells of one branch need them"));
    QCOMPARE(result.parameters, (PassParameters{{"exit", "1"}}));
    QCOMPARE(products_in_branches(result.graph), size_t{4});
    // Among their inputs x is sent once to either branch.
    QCOMPARE(count_nodes(result.graph, "scatter"), size_t{2});
    const std::string text = to_text(result.graph);
    QCOMPARE(to_text(parse_graph(text, "again")), text);
    same_answers(
        from, result.graph,
        {with_labels(from, {0, 1}), with_labels(from, {0}), with_labels(from, {1}), with_labels(from, {1, 1, 0})});
    const LoadProfile none;
    QCOMPARE(to_text(apply(from, none, &result.parameters).graph), text);
  }

  void what_branches_need_by_turns_is_sent_to_each_once() {
    MixtureBuilder b(23);
    const ValueId x = b.tokens(2, 6, 8);
    const ValueId first = b.product(x, 8, "first"), other = b.product(x, 8, "other"),
                  second = b.product(x, 8, "second");
    const ValueId decision = b.labelled(b.space_of(x), 2, "exit");
    const auto sent = [&](ValueId v, int32_t branch) { return b.scatter(v, decision, {branch})[0]; };
    const ValueId first_sent = sent(first, 0), other_sent = sent(other, 1), second_sent = sent(second, 0);
    b.output("y",
             b.gather({b.add(first_sent, second_sent, "both"), other_sent}, b.space_of(x), "place", kNone, "joined"));
    const RandomCase from = b.take("by turns");
    const PassResult result = apply(from, loads({50, 50}), nullptr, {{"min-saved", "0.1"}});
    QCOMPARE(products_in_branches(result.graph), size_t{3});
    QCOMPARE(count_nodes(result.graph, "scatter"), size_t{2});
    same_answers(from, result.graph, {with_labels(from, {0, 1}), with_labels(from, {0}), with_labels(from, {1})});
  }

  void it_says_why_it_does_not_apply() {
    const char* kNothing =
        "no work before a router can wait for its decision: the decision or most cells need all of it";
    QCOMPARE(apply(exit(Needed::for_the_decision), loads({60, 40})).parameters,
             (PassParameters{{"exit", "1"}}));  // the norm and its sum
    QCOMPARE(products_in_branches(apply(exit(Needed::for_the_decision), loads({60, 40})).graph), size_t{2});
    QCOMPARE(products_in_branches(apply(exit(Needed::by_both), loads({60, 40})).graph), size_t{2});
    const RandomCase from = exit(Needed::by_those_that_go_on);
    QCOMPARE(apply(from, loads({0, 100})).reason, std::string(kNothing));
    QCOMPARE(apply(from, loads({1, 99})).reason, std::string(kNothing));
    QVERIFY(apply(from, loads({1, 99}), nullptr, {{"min-saved", "0.01"}}).applied);
    QCOMPARE(apply(from, {}).reason, std::string("no router was profiled"));
  }

  void a_chain_of_exits_keeps_its_answers_with_all_passes() {
    const RandomCase from = exit(Needed::by_those_that_go_on);
    const LoadProfile profile = loads({12, 0});
    const PipelineResult all = run_passes(pass_input(from.graph, profile), select_passes({}));
    same_answers(from, all.graph, {with_labels(from, {0}), with_labels(from, {0, 1})});
    const RandomCase exits = exit_chain_toy();
    const PassResult result = apply(exits, profile_of(exits, {exits.inputs}));
    same_answers(exits, result.graph, {exits.inputs, drawn_anew(exits, 5)});
  }

  void random_graphs_answer_as_before() {
    int applied = 0;
    for (uint64_t seed = 0; seed < drawn(150); ++seed) {
      const RandomCase from = seed % 3 == 0 ? random_exits(seed) : make_random_case(seed, {.maps = seed % 2 == 0});
      const LoadProfile profile = profile_of(from, {from.inputs});
      const PassResult result = apply(from, profile, nullptr, {{"min-saved", "0"}});
      if (!result.applied) continue;
      ++applied;
      const std::vector<CaseInputs> batches{from.inputs, drawn_anew(from, seed)};
      same_answers(from, result.graph, batches);
      const PassSelection others{
          .options = {{"constant-decision", {{"min-cells", "1"}}}, {"reorder", {{"min-saved", "0"}}}}};
      same_answers(from, run_passes(pass_input(from.graph, profile), select_passes(others), OnTheirOwn::no).graph,
                   batches);
    }
    qInfo("applied to %d graphs", applied);
    QVERIFY(applied > (kSanitized ? 5 : 20));
  }
};

STORMCELL_TEST(ReorderTest)

}  // namespace stormcell::testing::reorder_test

#include "reorder_test.moc"
