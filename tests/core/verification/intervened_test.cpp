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

/// The plan of `graph` beside an oracle of another graph with these branches off and these capacities.
Verification judged_with(const RandomCase& c, std::shared_ptr<const Graph> graph, const BranchesOff& off,
                         const Graph& oracle_graph, const Capacities& capacities = {}) {
  cpu::CpuDevice device(2);
  OracleOptions options;
  options.keep_scores = true;
  options.round_inputs = c.weight_dtype == DType::bf16 && device.info().rounds_bf16_inputs;
  options.off = off;
  options.capacities = capacities;
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

using Unit = Capacity::Unit;

/// Four experts with room: for three cells of each sequence, or for their even share of the batch.
RandomCase four_experts_with_room(Unit unit) {
  Protocol p;
  p.kind = unit == Unit::cells ? ProtocolKind::switch_top1 : ProtocolKind::batch_prioritized;
  p.capacity = unit == Unit::cells ? 3 : 0;
  p.capacity_factor = unit == Unit::factor ? 1 : 0;
  return mixture(p, "weighted");
}

Intervention capacity_of(const std::string& router, Unit unit, double value) {
  Intervention change;
  change.capacities = {{router, {unit, value}}};
  return change;
}

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

  void another_capacity_passes_and_a_plan_without_it_does_not_data() {
    QTest::addColumn<int>("unit");
    QTest::addColumn<double>("value");
    QTest::newRow("fewer cells") << static_cast<int>(Unit::cells) << 1.0;
    QTest::newRow("a smaller share") << static_cast<int>(Unit::factor) << 0.4;
  }
  void another_capacity_passes_and_a_plan_without_it_does_not() {
    QFETCH(int, unit);
    QFETCH(double, value);
    const RandomCase c = four_experts_with_room(static_cast<Unit>(unit));
    const Intervention change = capacity_of("moe", static_cast<Unit>(unit), value),
                       none = capacity_of({}, Unit::all, 0);
    const auto plain = std::make_shared<const Graph>(c.graph);
    for (const Intervention& wanted : {change, none}) {
      const auto oracle = for_oracle(plain, wanted);
      const Capacities capacities = changed_capacities(c.graph, wanted);
      QCOMPARE(capacities.size(), size_t{1});
      const Verification v = judged_with(c, intervened(plain, wanted), {}, *oracle, capacities);
      QVERIFY2(v.passed, qPrintable(said(v)));
    }
    const auto oracle = for_oracle(plain, change);
    const Capacities capacities = changed_capacities(c.graph, change);
    QVERIFY(!judged_with(c, plain, {}, *oracle, capacities).passed);
    QVERIFY(!judged_with(c, intervened(plain, none), {}, *oracle, capacities).passed);
    QVERIFY(!judged_with(c, intervened(plain, change), {}, c.graph).passed);
    // The oracle drops by what it is given, and not by what its graph says.
    QVERIFY(!judged_with(c, intervened(plain, change), {}, *oracle, {{"moe", {}}}).passed);
  }

  void another_capacity_passes_on_every_graph() {
    int changed = 0;
    for (uint64_t seed = 0; seed < static_cast<uint64_t>(drawn(40)); ++seed) {
      const RandomCase c = make_random_case(seed);
      Intervention change;
      for (const CapacityChange& one :
           {CapacityChange{{}, {Unit::cells, 1}}, CapacityChange{{}, {Unit::factor, 0.5}}}) {
        Intervention alone;
        alone.capacities = {one};
        if (!changed_capacities(c.graph, alone).empty()) change.capacities.push_back(one);
      }
      if (change.capacities.empty()) continue;
      ++changed;
      check_intervention(c.graph, change);
      const auto plain = std::make_shared<const Graph>(c.graph);
      const Verification v = judged_with(c, intervened(plain, change), {}, *for_oracle(plain, change),
                                         changed_capacities(c.graph, change));
      QVERIFY2(v.passed, qPrintable(said(v) + QString::fromStdString(c.name)));
    }
    QVERIFY(changed > 0);
  }

  void a_router_that_is_named_has_its_own_capacity() {
    const RandomCase c = four_experts_with_room(Unit::cells);
    Intervention change = capacity_of("moe", Unit::cells, 2);
    change.capacities.push_back({{}, {Unit::cells, 5}});
    const Capacities capacities = changed_capacities(c.graph, change);
    QVERIFY(capacities == (Capacities{{"moe", {Unit::cells, 2}}}));
    const auto plain = std::make_shared<const Graph>(c.graph);
    QVERIFY(for_oracle(plain, {}) == plain);
  }

  void a_capacity_that_no_router_takes_is_refused() {
    const auto refused = [](const RandomCase& c, const Intervention& i, const char* words) {
      VERIFY_BAD_INPUT(check_intervention(c.graph, i), "--capacity", words);
    };
    refused(four_experts(), capacity_of({}, Unit::all, 0), "no capacity");
    refused(four_experts(), capacity_of("moe", Unit::cells, 2), "no capacity");
    refused(four_experts_with_room(Unit::cells), capacity_of("mo", Unit::cells, 2), "moe");
    refused(four_experts_with_room(Unit::cells), capacity_of("moe", Unit::factor, 2), "a number of cells");
    refused(four_experts_with_room(Unit::factor), capacity_of({}, Unit::cells, 2), "a factor");
    Intervention twice = capacity_of("moe", Unit::cells, 2);
    twice.capacities.push_back({"moe", {Unit::cells, 3}});
    refused(four_experts_with_room(Unit::cells), twice, "2 and 3");
  }

  void capacities_are_read_as_they_are_written() {
    for (const char* text : {"8", "1.25x", "all", "a.router=8", "a=b.router=all"})
      QCOMPARE(to_text(parse_capacity_change("--capacity", text)), std::string(text));
    for (const char* text : {"", "0", "-1", "1.5", "x", "0x", "=8", "a.router=", "none"})
      VERIFY_BAD_INPUT(parse_capacity_change("--capacity", text), "--capacity", "");
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
