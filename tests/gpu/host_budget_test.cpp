// Weights of branches come and go on the host device, and the oracle's answers come in several orders. And faults in
// plans that ask for such weights.
#include "tests/gpu/map_cases.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Bytes that the weights of a case's branches take on a card: the largest step, and all together. 0: it has none.
struct BudgetsOf {
  int64_t least = 0, all = 0;
  BudgetsOf(HostDevice& device, const RandomCase& c) {
    WeightStore store(device, c.weights, kBudgetForAll);
    device.layout_of(std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), store, {c.bindings});
    least = store.least_budget(), all = store.planned_slot_bytes();
  }
};

/// Runs under a budget.
struct Budgeted {
  std::string wrong;  ///< empty: as the oracle has it
  int64_t waves = 0;
};
/// Each run begins with the weights that the last one left.
Budgeted run_under(HostDevice& device, const RandomCase& c, int64_t budget, int orders) {
  Budgeted of;
  HostRun run(device, c, budget);
  for (int i = 0; i < orders && of.wrong.empty(); ++i) {
    const ExecutionResult came = run.run();
    of.waves += came.waves;
    of.wrong = difference(c, run.program(), came);
  }
  return of;
}

/// A case that a plan runs and that has weights of branches; `from`: where seeds begin.
RandomCase case_of(uint64_t seed, uint64_t from) {
  RandomOptions options;
  options.ragged = from == 1000, options.maps = from == 2000;
  return make_random_case(from + seed, options);
}

RandomCase two_mixtures(bool fused) {
  MixtureBuilder b(71);
  ValueId x = b.tokens(2, 9, 8);
  for (const char* name : {"first", "second"}) {
    Mixture shape;
    shape.branches = 5, shape.width = 7, shape.mode = "weighted";
    Protocol rule;
    rule.k = 2;
    x = b.mixture(x, b.scored(x, rule, shape.branches, name), shape, name);
  }
  b.output("y", x);
  RandomCase c = b.take("two mixtures");
  if (fused) c.graph = optimised_for(HostDevice(), c.graph);
  return c;
}

}  // namespace

class HostBudgetTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_give_the_oracle_s_answers_under_budgets_data() {
    QTest::addColumn<int>("from");
    for (const int from : {0, 1000, 2000}) QTest::newRow(qPrintable(QString("from %1").arg(from))) << from;
  }
  void random_graphs_give_the_oracle_s_answers_under_budgets() {
    QFETCH(int, from);
    int64_t cases = 0, waves = 0;
    for (uint64_t seed = 0; seed < (kSanitized ? 3 : 8); ++seed) {
      const RandomCase c = case_of(seed, static_cast<uint64_t>(from));
      HostDevice device;
      device.order_seed = seed + 1;
      if (!device.refusal_of(c.graph, c.weights, c.bindings).empty()) continue;
      const BudgetsOf budgets(device, c);
      if (budgets.all == 0) continue;
      ++cases;
      for (const int64_t budget : {budgets.least, std::max(budgets.least, budgets.all / 2), budgets.all}) {
        const Budgeted came = run_under(device, c, budget, 2);
        QVERIFY2(came.wrong.empty(), (c.name + " with " + std::to_string(budget) + " of " +
                                      std::to_string(budgets.all) + " bytes: " + came.wrong)
                                         .c_str());
        waves += came.waves;
      }
    }
    std::printf("%lld cases, %lld waves\n", static_cast<long long>(cases), static_cast<long long>(waves));
    QVERIFY(cases >= (kSanitized ? 1 : 4));
    QVERIFY(waves > cases);
  }

  void mixtures_give_the_oracle_s_answers_under_budgets() {
    for (const bool fused : {false, true}) {
      const RandomCase c = two_mixtures(fused);
      HostDevice device;
      device.order_seed = 3;
      const BudgetsOf budgets(device, c);
      QVERIFY(budgets.all > 2 * budgets.least);
      const Budgeted tight = run_under(device, c, budgets.least, 3), whole = run_under(device, c, budgets.all, 3);
      QCOMPARE(tight.wrong, std::string());
      QCOMPARE(whole.wrong, std::string());
      // With room for all, weights come once.
      QVERIFY2(tight.waves > 3 * 2 && whole.waves < tight.waves,
               (std::to_string(tight.waves) + " waves, " + std::to_string(whole.waves)).c_str());
    }
  }

  void faults_of_plans_that_ask_for_weights_are_found_data() {
    QTest::addColumn<QString>("fault");
    for (const char* fault :
         {"nobody asks", "computed branches are not cleared", "another leaf", "an end that does not wait"})
      QTest::newRow(fault) << fault;
  }
  void faults_of_plans_that_ask_for_weights_are_found() {
    QFETCH(QString, fault);
    const RandomCase c = two_mixtures(true);
    const auto plant = [&](gpu::Plan& plan) {
      using gpu::AskArgs;
      if (fault == "an end that does not wait") {
        int changed = 0;
        for (gpu::PlanNode& node : plan.nodes)
          if (node.ends) node.after.clear(), ++changed;
        return changed;
      }
      return change_nodes<gpu::AskKernel>(plan, [&](AskArgs& a) {
        if (fault == "nobody asks") a.count = 0;
        if (fault == "computed branches are not cleared") a.listed = 0;
        if (fault == "another leaf") ++a.leaf;
      });
    };
    HostDevice whole;
    const int64_t budget = BudgetsOf(whole, c).least;
    QCOMPARE(run_under(whole, c, budget, 1).wrong, std::string());
    gpu::Plan copy = whole.plan();
    QVERIFY(plant(copy) > 0);
    QVERIFY(is_found_in_a_process([&] {
      HostDevice device;
      device.order_seed = 1;
      device.tamper = plant;
      return !run_under(device, c, budget, 6).wrong.empty();
    }));
  }
};

STORMCELL_TEST(HostBudgetTest)

}  // namespace stormcell::testing
#include "host_budget_test.moc"
