// The joint search on tokens that keep to groups of branches: a placement by group was planted.
#include "core/placement/joint.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "core/placement/eplb.h"
#include "core/placement/traffic.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::joint_test {
namespace {

constexpr int32_t kLayers = 6, kBranches = 32, kRanks = 4, kTokens = 400;

/// Each token takes three branches of its group at every layer; branch b is of group (b * 7 + layer) % 4.
TokenRoutes planted() {
  TokenRoutes routes;
  routes.layers = kLayers, routes.branches = kBranches, routes.k = 3;
  routes.branch_bytes.assign(kLayers, 1);
  testing::Drawn<std::mt19937> random(5);
  for (int32_t t = 0; t < kTokens; ++t) {
    routes.tokens.push_back({0, t, t, Phase::decode});
    const int32_t group = static_cast<int32_t>(random() % kRanks);
    for (int32_t l = 0; l < kLayers; ++l) {
      std::vector<int32_t> members;
      for (int32_t b = 0; b < kBranches; ++b)
        if ((b * 7 + l) % kRanks == group) members.push_back(b);
      std::shuffle(members.begin(), members.end(), random);
      routes.choice.insert(routes.choice.end(), members.begin(), members.begin() + 3);
    }
  }
  return routes;
}

/// 16 layers of 4 branches a rank: a token takes what two neighbouring ranks of a placement hold, an eighth of it at
/// random.
struct Hidden {
  TokenRoutes routes;
  Placement placement;
};
Hidden hidden(int32_t ranks = 16) {
  const auto branches = static_cast<size_t>(ranks) * 4;
  Hidden out;
  out.placement = {ranks, 4 * ranks, {}};
  out.routes.layers = 16, out.routes.branches = 4 * ranks, out.routes.k = 8;
  testing::Drawn<std::mt19937> random(3);
  for (int32_t l = 0; l < 16; ++l) {
    LayerSlots layer(branches);
    std::iota(layer.begin(), layer.end(), 0);
    std::shuffle(layer.begin(), layer.end(), random);
    out.placement.layers.push_back(layer);
  }
  for (int32_t t = 0; t < 512; ++t) {
    out.routes.tokens.push_back({0, t, t, Phase::decode});
    const size_t first = random() % static_cast<size_t>(ranks);
    for (size_t l = 0; l < 16; ++l) {
      std::vector<int32_t> chosen;
      for (size_t s = first * 4; s < first * 4 + 8; ++s) {
        const int32_t branch =
            random() % 8 ? out.placement.layers[l][s % branches] : static_cast<int32_t>(random() % branches);
        if (std::find(chosen.begin(), chosen.end(), branch) == chosen.end()) chosen.push_back(branch);
      }
      chosen.resize(8, -1);
      out.routes.choice.insert(out.routes.choice.end(), chosen.begin(), chosen.end());
    }
  }
  return out;
}

}  // namespace

class JointTest : public QObject {
  Q_OBJECT
 private slots:
  void a_planted_placement_is_found() {
    const TokenRoutes routes = planted();
    std::vector<size_t> tokens(routes.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    const Placement eplb = eplb_placement(loads_of_tokens(routes, tokens), {kBranches, 1, 1, kRanks});
    const Placement joint =
        joint_placement(routes, tokens, eplb, {.together = 1, .slack = 0.2, .seed = 1, .sweeps = 200});
    QCOMPARE(placement_fault(joint), std::string());
    const Traffic before = count_traffic(routes, tokens, eplb), after = count_traffic(routes, tokens, joint);
    QVERIFY(before.cross_pairs > 0.6);
    QVERIFY2(after.cross_pairs < 0.2 * before.cross_pairs, std::to_string(after.cross_pairs).c_str());
    QVERIFY(after.ranks_per_token < 1.4);
  }

  void four_fifths_of_what_was_planted_are_found_among_many_ranks() {
    const Hidden h = hidden();
    std::vector<size_t> tokens(h.routes.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    const Placement eplb = eplb_placement(loads_of_tokens(h.routes, tokens), {64, 1, 1, 16});
    const Placement joint =
        joint_placement(h.routes, tokens, eplb, {.together = 1, .slack = 0.15, .seed = 1, .sweeps = 300});
    const Traffic before = count_traffic(h.routes, tokens, eplb),
                  planted = count_traffic(h.routes, tokens, h.placement),
                  after = count_traffic(h.routes, tokens, joint);
    const auto share = [](double from, double to, double best) { return (from - to) / (from - best); };
    const double pairs = share(before.cross_pairs, after.cross_pairs, planted.cross_pairs),
                 ranks = share(before.ranks_per_token, after.ranks_per_token, planted.ranks_per_token);
    QVERIFY2(pairs > 0.8 && ranks > 0.8, (std::to_string(pairs) + " " + std::to_string(ranks)).c_str());
  }

  void what_was_planted_is_found_without_annealing_where_no_cap_is_in_the_way() {
    const Hidden h = hidden(64);
    std::vector<size_t> tokens(h.routes.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    const Placement start = contiguous_placement(16, 256, 256, 64);
    const Placement aligned =
        joint_placement(h.routes, tokens, start, {.together = 0.5, .slack = 2, .seed = 1, .sweeps = 0});
    QCOMPARE(placement_fault(aligned), std::string());
    const Traffic planted = count_traffic(h.routes, tokens, h.placement),
                  after = count_traffic(h.routes, tokens, aligned);
    QVERIFY2(after.cross_pairs <= 1.02 * planted.cross_pairs && after.ranks_per_token <= 1.02 * planted.ranks_per_token,
             (std::to_string(after.cross_pairs) + " " + std::to_string(planted.cross_pairs)).c_str());
  }

  void ranks_that_tokens_take_together_share_a_node() {
    // Tokens take two neighbouring ranks of the hidden placement: on 4 nodes of 4 ranks most could stay within one.
    const Hidden h = hidden();
    std::vector<size_t> tokens(h.routes.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    const Placement start = contiguous_placement(16, 64, 64, 16);
    const auto nodes_a_token = [&](Placement p) {
      p.ranks = 4;  // a node's slots follow each other
      return count_traffic(h.routes, tokens, p).ranks_per_token;
    };
    JointOptions options{.together = 1, .slack = 0.15, .seed = 1, .sweeps = 200};
    const Placement apart = joint_placement(h.routes, tokens, start, options);
    options.nodes = 4;
    const Placement near = joint_placement(h.routes, tokens, start, options);
    const Traffic a = count_traffic(h.routes, tokens, apart), b = count_traffic(h.routes, tokens, near);
    QVERIFY(std::abs(a.cross_pairs - b.cross_pairs) < 1e-12 && std::abs(a.ranks_per_token - b.ranks_per_token) < 1e-12);
    QVERIFY2(nodes_a_token(near) < 0.9 * nodes_a_token(apart),
             (std::to_string(nodes_a_token(near)) + " " + std::to_string(nodes_a_token(apart))).c_str());
  }

  void replicas_come_and_go_where_that_saves_traffic() {
    const TokenRoutes routes = planted();
    std::vector<size_t> tokens(routes.size());
    std::iota(tokens.begin(), tokens.end(), size_t{0});
    const Placement start = contiguous_placement(kLayers, kBranches, 48, kRanks);
    const Placement joint =
        joint_placement(routes, tokens, start, {.together = 1, .slack = 0.3, .seed = 1, .sweeps = 200});
    QCOMPARE(placement_fault(joint), std::string());
    QCOMPARE(layers_with_idle_replicas(joint), 0);
    const Traffic before = count_traffic(routes, tokens, start), after = count_traffic(routes, tokens, joint);
    QVERIFY2(after.cross_pairs < 0.4 * before.cross_pairs, std::to_string(after.cross_pairs).c_str());
    // Caps hold.
    const std::vector<std::vector<double>> loads = loads_of_tokens(routes, tokens);
    for (size_t l = 0; l < loads.size(); ++l) {
      const double most = imbalance_of_ranks(loads_of_ranks(joint.layers[l], kRanks, loads[l]));
      QVERIFY(most <= std::max(0.3, imbalance_of_ranks(loads_of_ranks(start.layers[l], kRanks, loads[l]))) + 1e-6);
    }
  }

  // Powers of two leave every sum its digits: what differs is what is taken for a gain, and sums of a million round by
  // more than 1e-3.
  void how_often_tokens_came_decides_nothing() {
    const TokenRoutes routes = planted();
    std::vector<size_t> once(routes.size()), often;
    std::iota(once.begin(), once.end(), size_t{0});
    for (int i = 0; i < 1024; ++i) often.insert(often.end(), once.begin(), once.end());
    const Placement start = contiguous_placement(kLayers, kBranches, 48, kRanks);
    const JointOptions options{.together = 1, .slack = 0.3, .seed = 1, .sweeps = 60};
    QVERIFY(joint_placement(routes, once, start, options) == joint_placement(routes, often, start, options));
  }

  void traffic_is_what_counting_by_hand_gives() {
    TokenRoutes routes;
    routes.layers = 2, routes.branches = 4, routes.k = 2;
    routes.tokens.push_back({});
    routes.choice = {0, 1, 1, 2};
    const std::vector<size_t> all = {0};
    const Traffic t = count_traffic(routes, all, contiguous_placement(2, 4, 4, 2));
    QCOMPARE(t.cross_pairs, 0.5);
    QCOMPARE(t.ranks_per_token, 1.5);
    // Two replicas of branch 0: half of its tokens go to each rank.
    const Traffic spread = count_traffic(routes, all, {2, 4, {{0, 1, 2, 0, 3, 3}, {0, 1, 2, 0, 3, 3}}});
    QCOMPARE(spread.ranks_per_token, 1.25);
  }
};

STORMCELL_TEST(JointTest)

}  // namespace stormcell::testing::joint_test

#include "joint_test.moc"
