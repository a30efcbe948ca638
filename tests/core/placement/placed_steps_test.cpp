// Moves costed one by one against the whole cost of where they lead.
#include "core/placement/placed_steps.h"

#include <chrono>
#include <cmath>
#include <random>
#include <set>

#include "core/placement/step_work.h"
#include "tests/core/placement/drawn_routes.h"
#include "tests/core/placement/slow_machine.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::placed_steps_test {
namespace {

constexpr int32_t kBranches = 12, kRanks = 6, kNodes = 2, kK = 3, kLayers = 3;
constexpr size_t kSteps = 7;

/// Each pair of ranks at a cost of its own, either way.
CostModel model_of_pairs() {
  testing::Drawn<std::mt19937> random(21);
  std::vector<double> cost(static_cast<size_t>(kRanks * kRanks));
  for (size_t i = 0; i < cost.size(); ++i)
    cost[i] = i % (kRanks + 1) == 0 ? 0 : 0.01 * static_cast<double>(1 + random() % 50);
  CostModel model = kStartingMachine;
  model.rank_cost = std::make_shared<const std::vector<double>>(cost);
  return model;
}

/// Experts take what was measured of their rows.
CostModel model_of_curve() {
  CostModel model = kStartingMachine;
  model.expert_curve = std::make_shared<const RowCurve>(RowCurve({{2, 1e6, {0}}, {4, 1.5e6, {1}}, {9, 9e6, {2}}}));
  return model;
}

TokenRoutes drawn(bool homes, uint32_t seed) {
  return drawn_routes({.tokens = 90,
                       .layers = kLayers,
                       .branches = kBranches,
                       .k = kK,
                       .ranks = kRanks,
                       .homes = homes,
                       .gaps = true,
                       .twice = true},
                      seed);
}

/// Drawn with replacement: a token may stand in several steps, and twice in one.
std::vector<std::vector<size_t>> steps_of(const TokenRoutes& routes, uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  std::vector<std::vector<size_t>> steps(kSteps);
  for (size_t s = 0; s < kSteps; ++s)
    for (size_t i = 0; i < 1 + s * 4; ++i) steps[s].push_back(random() % routes.size());
  return steps;
}

std::vector<std::vector<std::vector<double>>> counts(uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  std::vector<std::vector<std::vector<double>>> steps(
      kSteps, std::vector<std::vector<double>>(kLayers, std::vector<double>(kBranches)));
  for (auto& step : steps)
    for (auto& layer : step)
      for (double& count : layer) count = static_cast<double>(random() % 40) / 4;
  return steps;
}

/// A move that is drawn and allowed.
void move_somehow(PlacedSteps& placed, std::mt19937& random) {
  const size_t layer = random() % kLayers, all = static_cast<size_t>(placed.placement().slot_count());
  const size_t slot = random() % all, other = random() % all;
  const int32_t here = placed.placement().layers[layer][slot], there = placed.placement().layers[layer][other];
  const auto branch = static_cast<int32_t>(random() % kBranches);
  switch (random() % 5) {
    case 0:
      if (placed.may_swap(layer, slot, other)) placed.swap(layer, slot, other);
      break;
    case 1:
      if (here >= 0 && placed.replicas(layer, here) > 1) placed.apply(drop_change(placed.placement(), layer, slot));
      break;
    case 2:
      if (placed.may_replicate(layer, branch, slot)) placed.replicate(layer, branch, slot);
      break;
    case 3:
      if (here >= 0 && placed.may_replicate(layer, here, other))
        placed.apply(PlacementChange{{layer, slot, here, -1}, {layer, other, there, here}});
      break;
    default:
      if (there >= 0) {
        LayerSlots turned = placed.placement().layers[layer];
        std::rotate(turned.begin(), turned.begin() + static_cast<std::ptrdiff_t>(all / kRanks), turned.end());
        placed.set_layer(layer, turned);
      }
  }
}

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(1., std::abs(b)); }

}  // namespace

class PlacedStepsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_hundred_moves_cost_what_their_end_costs_data() {
    QTest::addColumn<int>("backend");
    QTest::addColumn<int>("data");
    QTest::addColumn<QString>("costs");
    QTest::addColumn<int>("way");
    for (size_t b = 0; b < std::size(kBackends); ++b)
      for (int data = 0; data < 3; ++data)
        for (const char* costs : {"", ", costs of pairs", ", times over rows"})
          for (size_t w = 0; w < std::size(kReplicaWays); ++w) {
            if (data == 2 && static_cast<Backend>(b) != Backend::per_expert &&
                static_cast<Backend>(b) != Backend::gather)
              continue;
            if (data == 2 && kReplicaWays[w].residence == Residence::follow) continue;
            const char* const kinds[] = {", homes not known", ", homes known", ", counts"};
            QTest::newRow((std::string(kBackends[b]) + kinds[data] + costs + kReplicaWays[w].name).c_str())
                << static_cast<int>(b) << data << costs << static_cast<int>(w);
          }
  }
  void a_hundred_moves_cost_what_their_end_costs() {
    QFETCH(int, backend);
    QFETCH(int, data);
    QFETCH(QString, costs);
    QFETCH(int, way);
    const auto [name, replicas, residence] = kReplicaWays[way];
    const auto b = static_cast<Backend>(backend);
    const CostModel model = costs.contains("pairs")  ? model_of_pairs()
                            : costs.contains("rows") ? model_of_curve()
                                                     : kStartingMachine;
    for (uint32_t seed = 0; seed < 4; ++seed) {
      const int32_t slot_count = seed % 2 ? 18 : 12;
      const TokenRoutes routes = drawn(data == 1, seed);
      const std::vector<std::vector<size_t>> steps = steps_of(routes, seed);
      const std::vector<std::vector<std::vector<double>>> loads = counts(seed);
      const Placement start = contiguous_placement(kLayers, kBranches, slot_count, kRanks);
      PlacedSteps placed = data == 2 ? PlacedSteps(loads, kK, start, kNodes, b, model, replicas)
                                     : PlacedSteps(routes, steps, start, kNodes, b, model, replicas, residence);
      testing::Drawn<std::mt19937> random(seed + 100);
      for (int move = 0; move < 100; ++move) {
        if (move > 0) move_somehow(placed, random);
        if (move % 9) continue;
        StepWork work(placed.placement(), kNodes, b, model, replicas, residence);
        double mean = 0, layers = 0;
        for (size_t s = 0; s < kSteps; ++s) {
          const double whole =
              data == 2 ? work.of_loads(loads[s], kK).seconds() : work.of_tokens(routes, steps[s]).seconds();
          QVERIFY2(near(placed.step_s(s), whole),
                   (std::to_string(placed.step_s(s)) + " " + std::to_string(whole)).c_str());
          mean += whole / kSteps;
        }
        for (size_t l = 0; l < kLayers; ++l) layers += placed.layer_s(l);
        QVERIFY(near(placed.mean_s(), mean) && near(layers, mean));
        QVERIFY(placed.p95_s() >= placed.step_s(0) && placed.p95_s() <= mean * kSteps);
      }
    }
  }

  void nothing_stands_twice_on_a_rank_and_nothing_is_lost() {
    const TokenRoutes routes = drawn(false, 3);
    PlacedSteps placed(routes, steps_of(routes, 3), contiguous_placement(kLayers, kBranches, 18, kRanks), kNodes,
                       Backend::per_rank, kStartingMachine);
    testing::Drawn<std::mt19937> random(9);
    for (int move = 0; move < 500; ++move) {
      move_somehow(placed, random);
      for (size_t l = 0; l < kLayers; ++l) {
        std::set<std::pair<size_t, int32_t>> held;
        std::set<int32_t> branches;
        for (size_t s = 0; s < 18; ++s) {
          const int32_t branch = placed.placement().layers[l][s];
          if (branch < 0) continue;
          QVERIFY(held.insert({s / 3, branch}).second);
          branches.insert(branch);
        }
        QCOMPARE(branches.size(), static_cast<size_t>(kBranches));
      }
    }
  }

  void a_large_one_follows_a_hand() {
    // 61 layers of 256 branches on 64 ranks, 256 tokens in 8 steps. The time is told, and not judged: machines differ.
    TokenRoutes routes;
    routes.layers = 61, routes.branches = 256, routes.k = 8;
    testing::Drawn<std::mt19937> random(1);
    for (int t = 0; t < 256; ++t) {
      routes.tokens.push_back({});
      for (int c = 0; c < 61 * 8; ++c)
        routes.choice.push_back(static_cast<int32_t>((static_cast<uint32_t>(c % 8) * 32 + random() % 32)));
    }
    std::vector<std::vector<size_t>> steps(8);
    for (size_t t = 0; t < 256; ++t) steps[t / 32].push_back(t);
    PlacedSteps placed(routes, steps, contiguous_placement(61, 256, 256, 64), 8, Backend::per_rank, kStartingMachine);
    const auto begin = std::chrono::steady_clock::now();
    constexpr int kMoves = 2000;
    for (int i = 0; i < kMoves; ++i) {
      const size_t layer = random() % 61, a = random() % 256, b = random() % 256;
      if (placed.may_swap(layer, a, b)) placed.swap(layer, a, b);
    }
    const double us =
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count() / kMoves;
    qInfo("%.1f us a swap", us);
    const Placement end = placed.placement();
    StepWork work(end, 8, Backend::per_rank, kStartingMachine);
    for (size_t s = 0; s < steps.size(); ++s)
      QVERIFY(near(placed.step_s(s), work.of_tokens(routes, steps[s]).seconds()));
  }
};

STORMCELL_TEST(PlacedStepsTest)

}  // namespace stormcell::testing::placed_steps_test

#include "placed_steps_test.moc"
