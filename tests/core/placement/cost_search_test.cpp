// The search whose aim is the cost of steps itself.
#include "core/placement/cost_search.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/placement/eplb.h"
#include "core/placement/load.h"
#include "core/placement/traffic.h"
#include "tests/testing/counts.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::cost_search_test {
namespace {

constexpr int32_t kLayers = 3, kBranches = 32, kRanks = 8, kK = 4;

const CostModel kModel{.memory_bytes_per_s = 1000,
                       .flops_per_s = 1e6,
                       .fabric_bytes_per_s = 10,
                       .network_bytes_per_s = 5,
                       .product_t0_s = 0,
                       .branch_bytes = 50,
                       .flops_per_row = 1,
                       .dispatch_row_bytes = 1,
                       .combine_row_bytes = 1};

TokenRoutes skewed(uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  TokenRoutes routes;
  routes.layers = kLayers, routes.branches = kBranches, routes.k = kK;
  for (int32_t t = 0; t < 256; ++t) {
    routes.tokens.push_back({0, t / 16, t, Phase::decode});
    for (int32_t l = 0; l < kLayers; ++l) {
      const auto group = static_cast<int32_t>(random() % 8);
      for (int32_t k = 0; k < kK; ++k)
        routes.choice.push_back((group + 8 * k + (random() % 4 ? 0 : static_cast<int32_t>(random() % 8))) % kBranches);
    }
  }
  return routes;
}

std::vector<std::vector<size_t>> steps_of(const TokenRoutes& routes) {
  std::vector<std::vector<size_t>> steps(static_cast<size_t>(routes.steps()));
  for (size_t t = 0; t < routes.size(); ++t) steps[static_cast<size_t>(routes.tokens[t].step)].push_back(t);
  return steps;
}

std::vector<std::vector<double>> loads_of(const TokenRoutes& routes) {
  std::vector<size_t> all(routes.size());
  for (size_t t = 0; t < all.size(); ++t) all[t] = t;
  return loads_of_tokens(routes, all);
}

Placement eplb_of(const TokenRoutes& routes, int32_t slot_count) {
  const std::vector<std::vector<double>> loads = loads_of(routes);
  Placement p = eplb_placement(loads, {slot_count, 1, 1, kRanks});
  spread_idle_replicas(loads, p);
  return p;
}

}  // namespace

class CostSearchTest : public QObject {
  Q_OBJECT
 private slots:
  void what_it_finds_costs_less_with_and_without_spare_slots() {
    for (const bool p95 : {false, true})
      for (const int32_t slot_count : {32, 40, 64}) {
        const TokenRoutes routes = skewed(static_cast<uint32_t>(slot_count));
        const Placement start = eplb_of(routes, slot_count);
        PlacedSteps placed(routes, steps_of(routes), start, 2, Backend::per_rank, kModel);
        const CostAim aim{.p95 = p95, .move_s = 0, .before = {}};
        const double before = cost_of(aim, placed);
        make_cheaper(aim, {.seed = 1, .proposals = 10000}, placed);
        QCOMPARE(placement_fault(placed.placement()), std::string());
        QCOMPARE(layers_with_idle_replicas(placed.placement()), 0);
        QVERIFY2(cost_of(aim, placed) < 0.95 * before,
                 (std::to_string(cost_of(aim, placed)) + " " + std::to_string(before)).c_str());
      }
  }

  // The search's own figures are those of counting anew, and it is less than before, whatever replicas and
  // tokens do.
  void it_searches_by_what_judges_data() {
    QTest::addColumn<int>("backend");
    for (size_t b = 0; b < std::size(kBackends); ++b)
      QTest::newRow(std::string(kBackends[b]).c_str()) << static_cast<int>(b);
  }
  void it_searches_by_what_judges() {
    QFETCH(int, backend);
    const auto b = static_cast<Backend>(backend);
    for (const bool follow : {false, true}) {
      TokenRoutes routes = skewed(5);
      for (size_t t = 0; t < routes.size(); ++t) routes.tokens[t].rank = static_cast<int32_t>(t * 5 % kRanks);
      const ReplicaRule replicas = follow ? ReplicaRule::even : ReplicaRule::nearest;
      const Residence residence = follow ? Residence::follow : Residence::home;
      const auto steps = steps_of(routes);
      const auto anew = [&](const Placement& p) {
        StepWork work(p, 2, b, kModel, replicas, residence);
        double mean = 0;
        for (const std::vector<size_t>& step : steps)
          mean += work.of_tokens(routes, step).seconds() / static_cast<double>(steps.size());
        return mean;
      };
      const Placement start = eplb_of(routes, 40);
      PlacedSteps placed(routes, steps, start, 2, b, kModel, replicas, residence);
      make_cheaper({}, {.seed = 1, .proposals = drawn(6000)}, placed);
      QCOMPARE(placement_fault(placed.placement()), std::string());
      const double found = anew(placed.placement());
      QVERIFY2(std::abs(found - placed.mean_s()) < 1e-9 * found,
               (std::to_string(found) + " " + std::to_string(placed.mean_s())).c_str());
      QVERIFY2(found < anew(start), (std::to_string(found) + " " + std::to_string(anew(start))).c_str());
    }
  }

  void it_never_ends_worse_than_it_began() {
    const TokenRoutes routes = skewed(1);
    for (const int64_t proposals : {0, 1, 50, 300}) {
      PlacedSteps placed(routes, steps_of(routes), eplb_of(routes, 32), 1, Backend::per_rank, kModel);
      const CostAim aim;
      const double before = cost_of(aim, placed);
      make_cheaper(aim, {.seed = 3, .proposals = proposals}, placed);
      QVERIFY(cost_of(aim, placed) <= before);
    }
  }

  void where_moving_costs_much_everything_stays() {
    const TokenRoutes routes = skewed(2);
    const Placement start = contiguous_placement(kLayers, kBranches, 40, kRanks);
    PlacedSteps placed(routes, steps_of(routes), start, 1, Backend::per_rank, kModel);
    make_cheaper({.p95 = false, .move_s = 1e3, .before = start}, {.seed = 1, .proposals = 5000}, placed);
    QCOMPARE(moved_slots(start, placed.placement()), int64_t{0});
    make_cheaper({.p95 = false, .move_s = 1e-9, .before = start}, {.seed = 1, .proposals = 5000}, placed);
    QVERIFY(moved_slots(start, placed.placement()) > 0);
  }

  void without_time_it_stays_where_it_is() {
    const TokenRoutes routes = skewed(2);
    const Placement start = eplb_of(routes, 32);
    PlacedSteps placed(routes, steps_of(routes), start, 1, Backend::per_rank, kModel);
    make_cheaper({}, {.seed = 1, .proposals = 1000000, .time = SearchTime(0)}, placed);
    QVERIFY(placed.placement() == start);
  }
};

STORMCELL_TEST(CostSearchTest)

}  // namespace stormcell::testing::cost_search_test

#include "cost_search_test.moc"
