// Traffic and loads of ranks by the replicas that tokens go to, against a count token by token.
#include "core/placement/traffic.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "tests/core/placement/drawn_routes.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::traffic_test {
namespace {

constexpr int32_t kBranches = 12, kRanks = 6, kNodes = 2, kEach = kRanks / kNodes, kK = 3, kLayers = 3;
constexpr ReplicaWay kNearest{ReplicaRule::nearest, kNodes};

bool near(double a, double b) { return std::abs(a - b) <= 1e-12 * std::max(1., std::abs(b)); }

TokenRoutes drawn(uint32_t seed) {
  return drawn_routes({.tokens = 60, .layers = kLayers, .branches = kBranches, .k = kK, .ranks = kRanks, .gaps = true},
                      seed);
}

/// Each expert once in each node, somewhere: the nearest replica is one.
Placement in_each_node(uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  Placement p{kRanks, kBranches, {}};
  for (int32_t l = 0; l < kLayers; ++l) {
    LayerSlots layer;
    for (int32_t n = 0; n < kNodes; ++n) {
      LayerSlots node = contiguous_placement(1, kBranches, kBranches, kEach).layers[0];
      std::shuffle(node.begin(), node.end(), random);
      layer.insert(layer.end(), node.begin(), node.end());
    }
    p.layers.push_back(layer);
  }
  return p;
}

/// Some experts in several slots, also of one rank.
Placement some_replicas(uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  Placement p = contiguous_placement(kLayers, kBranches, kBranches + kRanks, kRanks);
  for (LayerSlots& layer : p.layers) std::shuffle(layer.begin(), layer.end(), random);
  return p;
}

int32_t rank_in_node(const LayerSlots& layer, int32_t branch, int32_t node) {
  const auto held = static_cast<int32_t>(layer.size()) / kRanks;
  for (int32_t s = node * kEach * held; s < (node + 1) * kEach * held; ++s)
    if (layer[static_cast<size_t>(s)] == branch) return s / held;
  return -1;
}

}  // namespace

class TrafficTest : public QObject {
  Q_OBJECT
 private slots:
  void the_nearest_replicas_are_counted_one_by_one() {
    const TokenRoutes routes = drawn(3);
    const Placement p = in_each_node(4);
    double cross = 0, pairs = 0, distinct = 0, visits = 0;
    std::vector<std::vector<double>> loads(kLayers, std::vector<double>(kRanks));
    for (size_t t = 0; t < routes.size(); ++t) {
      std::vector<int32_t> before;
      for (int32_t l = 0; l < kLayers; ++l) {
        std::vector<int32_t> here;
        for (const int32_t b : routes.at(t, l))
          if (b >= 0) here.push_back(rank_in_node(p.layers[static_cast<size_t>(l)], b, routes.tokens[t].rank / kEach));
        for (const int32_t r : here) ++loads[static_cast<size_t>(l)][static_cast<size_t>(r)];
        for (const int32_t a : before)
          for (const int32_t b : here) ++pairs, cross += a != b;
        distinct += static_cast<double>(std::set<int32_t>(here.begin(), here.end()).size());
        visits += !here.empty();
        before = here;
      }
    }
    const Traffic told = count_traffic(routes, all_of(routes), p, kNearest);
    QVERIFY(near(told.cross_pairs, cross / pairs) && near(told.ranks_per_token, distinct / visits));
    const auto of_ranks = rank_loads_of_tokens(routes, all_of(routes), p, kNearest);
    for (size_t l = 0; l < loads.size(); ++l)
      for (size_t r = 0; r < loads[l].size(); ++r) QVERIFY(near(of_ranks[l][r], loads[l][r]));
    QVERIFY(told.ranks_per_token < count_traffic(routes, all_of(routes), p).ranks_per_token);
  }

  void tokens_that_live_anywhere_are_the_mean_over_homes() {
    const Placement p = some_replicas(9);
    TokenRoutes routes = drawn(5);
    for (auto& t : routes.tokens) t.rank = -1;
    const TrafficSums anywhere = sum_traffic(routes, all_of(routes), p, kNearest);
    const auto loads = rank_loads_of_tokens(routes, all_of(routes), p, kNearest),
               counted = rank_loads_of_counts(loads_of_tokens(routes, all_of(routes)), p, kNearest);
    TrafficSums mean;
    std::vector<std::vector<double>> mean_loads(kLayers, std::vector<double>(kRanks));
    for (int32_t home = 0; home < kRanks; ++home) {
      for (auto& t : routes.tokens) t.rank = home;
      const TrafficSums of_home = sum_traffic(routes, all_of(routes), p, kNearest);
      mean.same += of_home.same / kRanks, mean.distinct += of_home.distinct / kRanks;
      QVERIFY(near(of_home.pairs, anywhere.pairs) && near(of_home.visits, anywhere.visits));
      const auto of_ranks = rank_loads_of_tokens(routes, all_of(routes), p, kNearest);
      for (size_t l = 0; l < mean_loads.size(); ++l)
        for (size_t r = 0; r < kRanks; ++r) mean_loads[l][r] += of_ranks[l][r] / kRanks;
    }
    QVERIFY(near(anywhere.same, mean.same) && near(anywhere.distinct, mean.distinct));
    for (size_t l = 0; l < mean_loads.size(); ++l)
      for (size_t r = 0; r < kRanks; ++r)
        QVERIFY(near(loads[l][r], mean_loads[l][r]) && near(counted[l][r], mean_loads[l][r]));
  }

  void without_replicas_the_nearest_is_the_only_one() {
    const TokenRoutes routes = drawn(6);
    const Placement p = contiguous_placement(kLayers, kBranches, kBranches, kRanks);
    const Traffic even = count_traffic(routes, all_of(routes), p),
                  nearest = count_traffic(routes, all_of(routes), p, kNearest);
    QVERIFY(even.cross_pairs == nearest.cross_pairs && even.ranks_per_token == nearest.ranks_per_token);
    const auto loads = loads_of_tokens(routes, all_of(routes));
    const auto of_ranks = rank_loads_of_tokens(routes, all_of(routes), p, kNearest);
    for (size_t l = 0; l < loads.size(); ++l) QCOMPARE(of_ranks[l], loads_of_ranks(p.layers[l], kRanks, loads[l]));
  }

  void of_even_replicas_every_rank_computes_its_share() {
    const TokenRoutes routes = drawn(7);
    const Placement p = some_replicas(2);
    const auto loads = loads_of_tokens(routes, all_of(routes));
    const auto of_tokens = rank_loads_of_tokens(routes, all_of(routes), p, {}),
               of_counts = rank_loads_of_counts(loads, p, {});
    for (size_t l = 0; l < loads.size(); ++l) {
      const std::vector<double> expected = loads_of_ranks(p.layers[l], kRanks, loads[l]);
      for (size_t r = 0; r < expected.size(); ++r)
        QVERIFY(near(of_tokens[l][r], expected[r]) && near(of_counts[l][r], expected[r]));
    }
  }
};

STORMCELL_TEST(TrafficTest)

}  // namespace stormcell::testing::traffic_test

#include "traffic_test.moc"
