// Searches against the best there is, on the small case: 8 branches, 4 layers, 4 ranks.
#include "core/placement/exact.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/placement/cost_search.h"
#include "core/placement/eplb.h"
#include "core/placement/joint.h"
#include "core/placement/placed_steps.h"
#include "core/placement/step_work.h"
#include "core/placement/traffic.h"
#include "tests/core/placement/drawn_routes.h"
#include "tests/core/placement/slow_machine.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int32_t kLayers = 4, kBranches = 8, kRanks = 4, kK = 2;

/// Tokens that mostly stay in one of four groups of branches, which lie otherwise at each layer.
TokenRoutes grouped(uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  TokenRoutes routes;
  routes.layers = kLayers, routes.branches = kBranches, routes.k = kK;
  for (int32_t t = 0; t < 160; ++t) {
    routes.tokens.push_back({0, t / 8, t, Phase::decode});
    const auto group = static_cast<int32_t>(random() % 4);
    for (int32_t l = 0; l < kLayers; ++l) {
      const auto first = static_cast<int32_t>(random() % 3 ? (group * 3 + l) % kBranches : random() % kBranches);
      routes.choice.push_back(first);
      routes.choice.push_back((first + 1 + static_cast<int32_t>(random() % 3 ? 3 : random() % 7)) % kBranches);
    }
  }
  return routes;
}

Placement eplb_of(const TokenRoutes& routes) {
  return eplb_placement(loads_of_tokens(routes, all_of(routes)), {kBranches, 1, 1, kRanks});
}

constexpr double kSlack = 0.2;

/// Returns what joint_placement() makes small, its caps on loads included.
ExactAim pairs_apart(const TokenRoutes& routes, const Placement& start) {
  const std::vector<std::vector<double>> loads = loads_of_tokens(routes, all_of(routes));
  ExactAim aim;
  std::vector<std::vector<double>> together(kLayers, std::vector<double>(kBranches * kBranches));
  aim.follows = together;
  for (size_t t = 0; t < routes.size(); ++t)
    for (int32_t l = 0; l < kLayers; ++l) {
      const auto here = routes.at(t, l), next = l + 1 < kLayers ? routes.at(t, l + 1) : here;
      ++together[static_cast<size_t>(l)][static_cast<size_t>(here[0] * kBranches + here[1])];
      for (const int32_t a : here)
        for (const int32_t b : next)
          if (l + 1 < kLayers) ++aim.follows[static_cast<size_t>(l) + 1][static_cast<size_t>(a * kBranches + b)];
    }
  aim.of_layer = [=](size_t l, const LayerSlots& layer) {
    const auto most = [&](const LayerSlots& s) { return std::ranges::max(loads_of_ranks(s, kRanks, loads[l])); };
    const double mean = std::accumulate(loads[l].begin(), loads[l].end(), 0.) / kRanks;
    if (most(layer) > std::max(most(start.layers[l]), mean * (1 + kSlack)) + 1e-9)
      return std::numeric_limits<double>::infinity();
    double apart = 0;
    for (size_t i = 0; i < layer.size(); ++i)
      for (size_t j = 0; j < layer.size(); ++j)
        if (i / 2 != j / 2) apart += together[l][static_cast<size_t>(layer[i] * kBranches + layer[j])];
    return apart;
  };
  return aim;
}

double cost_of_all(const ExactAim& aim, const Placement& p) {
  double cost = 0;
  std::vector<int32_t> before(kBranches), rank(kBranches);
  for (size_t l = 0; l < p.layers.size(); ++l) {
    cost += aim.of_layer(l, p.layers[l]);
    for (size_t s = 0; s < kBranches; ++s) rank[static_cast<size_t>(p.layers[l][s])] = static_cast<int32_t>(s / 2);
    for (size_t a = 0; a < kBranches && l > 0 && !aim.follows.empty(); ++a)
      for (size_t b = 0; b < kBranches; ++b)
        if (before[a] != rank[b]) cost += aim.follows[l][a * kBranches + b];
    before = rank;
  }
  return cost;
}

}  // namespace

class ExactTest : public QObject {
  Q_OBJECT
 private slots:
  void arrangements_are_counted() {
    QCOMPARE(arrangements_of(8, 4), int64_t{2520});
    QCOMPARE(arrangements_of(4, 2), int64_t{6});
    QCOMPARE(arrangements_of(256, 64), kMostArrangements + 1);
  }

  void two_layers_by_hand() {
    // Branches 0 and 3 of layer 0 go on to 1 and 2 of layer 1: with them on one rank nothing is apart.
    ExactAim aim;
    aim.of_layer = [](size_t l, const LayerSlots& s) {
      return l == 0 && s[0] == 0 && s[1] == 3 ? 0. : l == 0 ? 1. : 0.;
    };
    aim.follows = {std::vector<double>(16), std::vector<double>(16)};
    aim.follows[1][0 * 4 + 1] = aim.follows[1][3 * 4 + 2] = 5;
    const ExactPlacement best = exact_placement(aim, 2, 4, 2);
    QCOMPARE(best.cost, 0.);
    QVERIFY(best.placement.layers == std::vector<LayerSlots>({{0, 3, 1, 2}, {1, 2, 0, 3}}));
  }

  void the_joint_search_finds_the_best_of_the_small_case() {
    for (uint32_t seed = 1; seed <= 2; ++seed) {
      const TokenRoutes routes = grouped(seed);
      const Placement start = eplb_of(routes);
      const ExactAim aim = pairs_apart(routes, start);
      const ExactPlacement best = exact_placement(aim, kLayers, kBranches, kRanks);
      QCOMPARE(placement_fault(best.placement), std::string());
      QVERIFY(std::abs(cost_of_all(aim, best.placement) - best.cost) < 1e-6);
      QVERIFY(best.cost <= cost_of_all(aim, start));
      double found = std::numeric_limits<double>::infinity();
      for (uint32_t again = 1; again <= 4; ++again) {
        const Placement joint = joint_placement(routes, all_of(routes), start,
                                                {.together = 1, .slack = kSlack, .seed = again, .sweeps = 400});
        QVERIFY(cost_of_all(aim, joint) >= best.cost - 1e-6);
        found = std::min(found, cost_of_all(aim, joint));
      }
      QVERIFY2(found <= best.cost + 1e-6, (std::to_string(found) + " " + std::to_string(best.cost)).c_str());
    }
  }

  void the_best_where_tokens_follow_is_that_of_all_placements() {
    constexpr int32_t kFew = 3, kFour = 4, kTwo = 2;
    for (const bool homes : {true, false}) {
      const TokenRoutes routes =
          drawn_routes({.tokens = 24, .layers = kFew, .branches = kFour, .k = kK, .ranks = kTwo, .homes = homes}, 11);
      std::vector<std::vector<size_t>> steps(4);
      for (size_t t = 0; t < routes.size(); ++t) steps[t / 6].push_back(t);
      const auto cost = [&](const Placement& p) {
        StepWork work(p, 1, Backend::per_rank, kSlowMachine, ReplicaRule::even, Residence::follow);
        double mean = 0;
        for (const std::vector<size_t>& step : steps)
          mean += work.of_tokens(routes, step).seconds() / static_cast<double>(steps.size());
        return mean;
      };
      std::vector<LayerSlots> layers;  // each arrangement once
      LayerSlots order = {0, 1, 2, 3};
      do {
        if (order[0] < order[1] && order[2] < order[3]) layers.push_back(order);
      } while (std::next_permutation(order.begin(), order.end()));
      QCOMPARE(static_cast<int64_t>(layers.size()), arrangements_of(kFour, kTwo));
      double least = std::numeric_limits<double>::infinity();
      for (const LayerSlots& a : layers)
        for (const LayerSlots& b : layers)
          for (const LayerSlots& c : layers) least = std::min(least, cost({kTwo, kFour, {a, b, c}}));
      const Placement start = contiguous_placement(kFew, kFour, kFour, kTwo);
      PlacedSteps placed(routes, steps, start, 1, Backend::per_rank, kSlowMachine, ReplicaRule::even,
                         Residence::follow);
      const auto of_layer = [&](size_t l, const LayerSlots& s) {
        placed.set_layer(l, s);
        return placed.layer_s(l);
      };
      ExactAim aim;
      aim.of_layer = [&](size_t l, const LayerSlots& s) { return l == 0 ? of_layer(l, s) : 0.; };
      aim.of_pair = [&](size_t l, const LayerSlots& before, const LayerSlots& s) {
        placed.set_layer(l - 1, before);
        return of_layer(l, s);
      };
      const ExactPlacement best = exact_placement(aim, kFew, kFour, kTwo);
      QVERIFY2(std::abs(best.cost / least - 1) < 1e-9,
               (std::to_string(best.cost) + " " + std::to_string(least)).c_str());
      QVERIFY(std::abs(cost(best.placement) / least - 1) < 1e-9);
      QVERIFY(least < cost(start));
    }
  }

  void so_does_the_search_for_cheap_steps() {
    const TokenRoutes routes = grouped(7);
    std::vector<std::vector<size_t>> steps(20);
    for (size_t t = 0; t < routes.size(); ++t) steps[t / 8].push_back(t);
    const Placement start = eplb_of(routes);
    PlacedSteps placed(routes, steps, start, 2, Backend::per_rank, kSlowMachine), tried = placed;
    const ExactPlacement best = exact_placement({[&](size_t l, const LayerSlots& s) {
                                                   tried.set_layer(l, s);
                                                   return tried.layer_s(l);
                                                 },
                                                 {}},
                                                kLayers, kBranches, kRanks);
    const CostAim aim;
    QVERIFY(best.cost < cost_of(aim, placed));
    make_cheaper(aim, {.seed = 1, .proposals = 20000}, placed);
    QVERIFY2(std::abs(cost_of(aim, placed) / best.cost - 1) < 1e-9,
             (std::to_string(cost_of(aim, placed)) + " " + std::to_string(best.cost)).c_str());
  }
};

STORMCELL_TEST(ExactTest)

}  // namespace stormcell::testing

#include "exact_test.moc"
