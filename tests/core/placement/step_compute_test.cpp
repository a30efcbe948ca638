// The time that ranks compute in a step, by hand: replicas, tiles, measured experts.
#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "core/base/error.h"
#include "core/placement/eplb.h"
#include "core/placement/step_work.h"
#include "tests/core/placement/drawn_routes.h"
#include "tests/core/placement/slow_machine.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

bool is_close(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1., std::abs(a), std::abs(b)}); }

}  // namespace

class StepComputeTest : public QObject {
  Q_OBJECT
 private slots:
  void a_replica_halves_what_a_rank_computes() {
    TokenRoutes routes;
    routes.layers = 1, routes.branches = 2, routes.k = 1;
    for (int t = 0; t < 256; ++t) routes.tokens.push_back({t, 0, 0, Phase::decode, -1}), routes.choice.push_back(0);
    const Placement one{2, 2, {{0, 1}}}, two{2, 2, {{0, 1, 0, 1}}};
    CostModel slow = kSlowMachine;
    slow.memory_bytes_per_s = 1e12;
    QVERIFY(is_close(StepWork(one, 1, Backend::per_rank, slow).of_tokens(routes, all_of(routes)).cost.compute_s,
                     256 / 1000.));
    QVERIFY(is_close(StepWork(two, 1, Backend::per_rank, slow).of_tokens(routes, all_of(routes)).cost.compute_s,
                     128 / 1000.));
  }

  void replicas_take_rows_by_turns() {
    CostModel slow = kSlowMachine;
    slow.memory_bytes_per_s = 1e12;
    const auto compute = [](const Placement& p, double count, const CostModel& model) {
      std::vector<double> loads(static_cast<size_t>(p.branches));
      loads[0] = count;
      return StepWork(p, 1, Backend::per_expert, model).of_loads({loads}, 1).cost.compute_s;
    };
    // One replica gets 65 of 129 rows, two tiles, the other one 64: 1.5 tiles of each. Of 130 both get two.
    const Placement two{2, 2, {{0, 1, 0, 1}}};
    QVERIFY(is_close(compute(two, 128, slow), 0.064) && is_close(compute(two, 129, slow), 0.096) &&
            is_close(compute(two, 130, slow), 0.128));
    // Two of three replicas on a rank get 130 of 195 rows.
    const Placement three{2, 2, {{0, 0, 0, 1}}};
    QVERIFY(is_close(compute(three, 195, slow), 0.192));
    // Three rows meet three of four replicas: each reads 3/4 of an expert as an expectation, but some rank a whole one,
    // 0.5 s.
    const Placement four{4, 2, {{0, 1, 0, 1, 0, 1, 0, 1}}};
    QVERIFY(is_close(compute(four, 3, kSlowMachine), 0.5));
    double active = 0;
    const LayerLoads loads = {{3., 0.}};
    StepWork(four, 1, Backend::per_expert, kSlowMachine)
        .of_loads(loads, 1, [&](size_t, const LayerWork& work, const LayerCost&) {
          for (const RankWork& r : work.ranks) active += r.active;
        });
    QVERIFY(is_close(active, 3));
  }

  void one_token_reads_a_whole_expert_whatever_the_replicas() {
    TokenRoutes routes;
    routes.layers = 1, routes.branches = 4, routes.k = 1;
    routes.tokens = {{0, 0, 0, Phase::decode, -1}};
    routes.choice = {2};
    for (const LayerSlots& layer : {LayerSlots{0, 1, 2, 3}, LayerSlots{0, 1, 1, 2, 2, 3, 3, 0},
                                    LayerSlots{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}})
      for (const ReplicaRule replicas : {ReplicaRule::even, ReplicaRule::nearest}) {
        const Placement p{4, 4, {layer}};
        QVERIFY(is_close(
            StepWork(p, 1, Backend::per_rank, kSlowMachine, replicas).of_tokens(routes, all_of(routes)).cost.compute_s,
            0.5));
      }
  }

  void a_replica_more_does_not_cost_a_tile_of_its_own() {
    // A token of each of eight experts on eight ranks, which hold 1, 2, ... 8 of them: a tile a rank at all times, 6.4
    // s.
    constexpr int32_t kEight = 8;
    CostModel slow = kSlowMachine;
    slow.flops_per_s = 10;
    const std::vector<double> loads(kEight, 1);
    for (int32_t held = 1; held <= kEight; ++held) {
      LayerSlots layer;
      for (int32_t r = 0; r < kEight; ++r)
        for (int32_t i = 0; i < held; ++i) layer.push_back((r + i) % kEight);
      const Placement p{kEight, kEight, {layer}};
      QVERIFY(is_close(StepWork(p, 1, Backend::per_expert, slow).of_loads({loads}, 1).cost.compute_s, 6.4));
    }
  }

  void experts_take_what_was_measured_of_their_rows() {
    CostModel model = kSlowMachine;
    model.product_t0_s = 0;
    const auto curve = std::make_shared<const RowCurve>(RowCurve({{1, 2e6, {0}}, {100, 2e6, {1}}, {200, 12e6, {2}}}));
    model.expert_curve = curve;
    const auto compute = [&](const Placement& p, const std::vector<double>& loads, double factor = 1) {
      model.expert_factor = factor;
      return StepWork(p, 1, Backend::per_expert, model).of_loads({loads}, 1).cost.compute_s;
    };
    const Placement one{2, 4, {{0, 1, 2, 3}}};
    // One after the other on a rank, the slower rank counts; an expert without rows takes nothing.
    QVERIFY(is_close(compute(one, {150, 0, 50, 50}), 7) && is_close(compute(one, {50, 1, 150, 200}), 7 + 12));
    QVERIFY(is_close(compute(one, {0, 0, 0, 0}), 0) && is_close(compute(one, {150, 0, 0, 0}, 1.1), 7.7));
    // Half of the rows each; of one row either of two gets it, and takes as long as one alone.
    const Placement two{2, 2, {{0, 1, 0, 1}}};
    QVERIFY(is_close(compute(two, {300, 0}), 7) && is_close(compute(two, {1, 0}), 2));
    // With eight experts of a row each, half a row comes to each rank: 8 x 2 / 2.
    const Placement eight{2, 8, {{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7}}};
    QVERIFY(is_close(compute(eight, std::vector<double>(8, 1)), 8));
  }

  void nine_replicas_on_one_rank_are_the_whole_expert() {
    LayerSlots layer(9, 0);
    layer.insert(layer.end(), {1, 1, 1, 1, 1, 1, 1, 1, 1});
    const std::vector<BranchShares> shares = shares_of(layer, 2, 2);
    QVERIFY(shares[0].size() == 1 && shares[0][0].part == 1 && shares[1][0].part == 1);
    const Placement nine{2, 2, {layer}}, one{2, 2, {{0, 1}}};
    const std::vector<std::vector<double>> loads = {{2.5, 7.5}};
    const double cost = StepWork(nine, 1, Backend::per_expert, kSlowMachine).of_loads(loads, 1).seconds();
    QVERIFY(std::isfinite(cost) &&
            is_close(cost, StepWork(one, 1, Backend::per_expert, kSlowMachine).of_loads(loads, 1).seconds()));
    const std::vector<RankWork> wrong = {{.active = std::nan("")}};
    QVERIFY_THROWS_EXCEPTION(Error, cost_of_layer(wrong, kSlowMachine));
  }
};

STORMCELL_TEST(StepComputeTest)

}  // namespace stormcell::testing

#include "step_compute_test.moc"
