// Routing that was changed, judged by an oracle that makes the same change itself: a plan that leaves it out, or makes
// another one, does not pass.
#include "core/graph/intervened.h"

#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/verification/verify_runs.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// The plan of `graph` beside an oracle of the case's own graph with these branches off.
Verification judged_with(const RandomCase& c, std::shared_ptr<const Graph> graph, const BranchesOff& off,
                         const Graph& oracle_graph) {
  cpu::CpuDevice device(2);
  OracleOptions options;
  options.keep_scores = true;
  options.round_inputs = c.weight_dtype == DType::bf16 && device.info().rounds_bf16_inputs;
  options.off = off;
  const Observed reference = observed(
      oracle_graph, c.bindings, Oracle<float>(oracle_graph, *c.weights).run(oracle_inputs(c), c.bindings, options),
      cell_reach(oracle_graph));
  Plan plan(device, c, std::move(graph), c.weights);
  const Observed free = plan.run(nullptr);
  Judge judge(c.weight_dtype == DType::bf16 ? 2e-2 : 1e-4,
              options.round_inputs ? Arithmetic::rounds_to_bf16 : Arithmetic::f32);
  judge.add(0, reference, plan.run(&reference), &free);
  return judge.verdict();
}

/// A branch of each router that has a next best one.
Intervention one_off_each(const Graph& graph, uint64_t seed) {
  Random random(seed);
  Intervention intervention;
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (!is_route(node)) return;
    const int32_t branches = graph.value(node.outputs[0]).branches;
    const Intervention one{{{node.name, static_cast<int32_t>(random.below(branches))}}};
    try {
      check_intervention(graph, one);
    } catch (const Error&) {
      return;  // its protocol has no next best branch, or takes all
    }
    intervention.off.push_back(one.off[0]);
  });
  return intervention;
}

RandomCase four_experts(int32_t k = 1) { return mixture(best(k), "weighted"); }

}  // namespace

class IntervenedTest : public QObject {
  Q_OBJECT
 private slots:
  void the_same_change_passes_on_every_graph() {
    int changed = 0;
    for (uint64_t seed = 0; seed < static_cast<uint64_t>(drawn(40)); ++seed) {
      const RandomCase c = make_random_case(seed);
      const Intervention intervention = one_off_each(c.graph, seed);
      if (intervention.empty()) continue;
      ++changed;
      const auto graph = intervened(std::make_shared<Graph>(c.graph), intervention);
      const Verification v = judged_with(c, graph, branches_off(intervention), c.graph);
      QVERIFY2(v.passed, qPrintable(said(v) + QString::fromStdString(c.name)));
    }
    QVERIFY(changed > 5);
  }

  void a_plan_that_leaves_the_change_out_does_not_pass() {
    const RandomCase c = four_experts();
    const auto plain = std::make_shared<Graph>(c.graph);
    QVERIFY(!judged_with(c, plain, {{"moe", {1}}}, c.graph).passed);
    QVERIFY(!judged_with(c, intervened(plain, {{{"moe", 1}}}), {}, c.graph).passed);
    QVERIFY(!judged_with(c, intervened(plain, {{{"moe", 2}}}), {{"moe", {1}}}, c.graph).passed);
    QVERIFY(judged_with(c, intervened(plain, {{{"moe", 1}}}), {{"moe", {1}}}, c.graph).passed);
  }

  void another_k_is_another_model() {
    const RandomCase c = four_experts(2);
    const auto plain = std::make_shared<const Graph>(c.graph), three = with_k(plain, 3);
    QVERIFY(with_k(plain, 0) == plain);
    for (const Node& node : three->nodes) {
      if (is_route(node)) QCOMPARE(three->value(node.outputs[0]).fan_out, 3);
    }
    QVERIFY(judged_with(c, three, {}, *three).passed);
    // A plan that kept its own k cannot even replay what the oracle decided.
    QVERIFY_THROWS_EXCEPTION(Error, judged_with(c, plain, {}, *three));
  }

  void what_does_not_fit_is_refused() {
    const RandomCase c = four_experts(2);
    const auto refused = [&](const Intervention& i, const char* option, const char* words) {
      VERIFY_BAD_INPUT(check_intervention(c.graph, i), option, words);
    };
    refused({{{"mo", 1}}}, "--off", "moe");
    refused({{{"moe", 4}}}, "--off", "4 branches");
    refused({{{"moe", 0}, {"moe", 1}, {"moe", 2}, {"moe", 3}}}, "--off", "all 4");
    refused({{{"moe", 0}, {"moe", 1}, {"moe", 2}}}, "--off", "keeps 1 branch");
    refused({{}, 5}, "--k", "4 branches");
  }
};

STORMCELL_TEST(IntervenedTest)

}  // namespace stormcell::testing

#include "intervened_test.moc"
