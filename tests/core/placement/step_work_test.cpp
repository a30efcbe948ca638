// The cost of a step against sums by hand and an independent count, token by token.
#include "core/placement/step_work.h"

#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "core/placement/eplb.h"
#include "tests/core/placement/drawn_routes.h"
#include "tests/core/placement/slow_machine.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::step_work_test {
namespace {

constexpr int32_t kBranches = 12, kRanks = 6, kNodes = 2, kK = 3;

bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max({1., std::abs(a), std::abs(b)}); }

/// Tokens of distinct choices; `homes`: each lives on a rank.
TokenRoutes drawn(int32_t layers, size_t tokens, bool homes, uint32_t seed) {
  return drawn_routes({.tokens = tokens,
                       .layers = layers,
                       .branches = kBranches,
                       .k = kK,
                       .ranks = kRanks,
                       .branch_bytes = 1,
                       .homes = homes},
                      seed);
}

/// Returns what the ranks send where each token lives, counted one by one, without replicas.
StepCost counted(const TokenRoutes& routes, const Placement& p, Backend backend) {
  StepCost step;
  const int32_t held = p.slots_of_rank(), each = kRanks / kNodes;
  for (int32_t l = 0; l < routes.layers; ++l) {
    std::vector<int32_t> rank(kBranches);
    for (int32_t s = 0; s < p.slot_count(); ++s)
      rank[static_cast<size_t>(p.layers[static_cast<size_t>(l)][static_cast<size_t>(s)])] = s / held;
    for (size_t t = 0; t < routes.size(); ++t) {
      const int32_t home = routes.tokens[t].rank;
      std::multiset<int32_t> copies;
      for (const int32_t c : routes.at(t, l)) copies.insert(rank[static_cast<size_t>(c)]);
      const std::set<int32_t> ranks(copies.begin(), copies.end());
      std::set<int32_t> nodes;
      for (const int32_t r : ranks) nodes.insert(r / each);
      const auto send = [&](int32_t to) {
        (to / each == home / each ? step.fabric_rows : step.network_rows) += to != home;
      };
      if (backend == Backend::per_expert)
        for (const int32_t r : copies) send(r);
      if (backend == Backend::per_rank)
        for (const int32_t r : ranks) send(r);
      if (backend == Backend::gather)
        for (int32_t r = 0; r < kRanks; ++r) send(r);
      if (backend == Backend::per_node) {
        for (const int32_t n : nodes) step.network_rows += n != home / each;
        for (const int32_t r : ranks) step.fabric_rows += r % each != home % each;
      }
    }
  }
  return step;
}

}  // namespace

class StepWorkTest : public QObject {
  Q_OBJECT
 private slots:
  void a_layer_by_hand() {
    // Rank 0 holds branches 0 and 1, rank 1 branches 2 and 3. One token lives on rank 0 and chose 1 and 2, one on rank
    // 1 and chose 2 and 3.
    TokenRoutes routes;
    routes.layers = 1, routes.branches = 4, routes.k = 2;
    routes.tokens = {{0, 0, 0, Phase::decode, 0}, {1, 0, 0, Phase::decode, 1}};
    routes.choice = {1, 2, 2, 3};
    const Placement p = contiguous_placement(1, 4, 4, 2);
    StepWork work(p, 1, Backend::per_rank, kSlowMachine);
    const StepCost step = work.of_tokens(routes, all_of(routes));
    // Rank 1 reads two experts, 100 bytes, and computes 2 x 64 rows; one row goes from rank 0 to rank 1.
    QVERIFY(near(step.cost.compute_s, 1.) && near(step.cost.dispatch_s, 0.1) && near(step.cost.combine_s, 0.2));
    QVERIFY(near(step.delivered_rows, 1) && near(step.fabric_rows, 1) && near(step.network_rows, 0) &&
            near(step.visits, 2));
  }

  void what_is_sent_is_what_is_counted_data() {
    QTest::addColumn<int>("backend");
    for (size_t b = 0; b < std::size(kBackends); ++b)
      QTest::newRow(std::string(kBackends[b]).c_str()) << static_cast<int>(b);
  }
  void what_is_sent_is_what_is_counted() {
    QFETCH(int, backend);
    const auto b = static_cast<Backend>(backend);
    const TokenRoutes routes = drawn(3, 200, true, 5);
    const Placement p = contiguous_placement(3, kBranches, kBranches, kRanks);
    StepWork work(p, kNodes, b, kSlowMachine);
    const StepCost step = work.of_tokens(routes, all_of(routes)), expected = counted(routes, p, b);
    QVERIFY2(near(step.fabric_rows, expected.fabric_rows) && near(step.network_rows, expected.network_rows),
             (std::to_string(step.fabric_rows) + " " + std::to_string(expected.fabric_rows) + " " +
              std::to_string(step.network_rows))
                 .c_str());
    // If homes are not known, what is sent is the mean over all of them.
    TokenRoutes anywhere = routes;
    for (auto& t : anywhere.tokens) t.rank = -1;
    const StepCost mean = work.of_tokens(anywhere, all_of(anywhere));
    StepCost sum;
    for (int32_t home = 0; home < kRanks; ++home) {
      for (auto& t : anywhere.tokens) t.rank = home;
      const StepCost one = counted(anywhere, p, b);
      sum.fabric_rows += one.fabric_rows / kRanks, sum.network_rows += one.network_rows / kRanks;
    }
    QVERIFY(near(mean.fabric_rows, sum.fabric_rows) && near(mean.network_rows, sum.network_rows));
  }

  // From layer to layer a token lives where its first choice lies: the dispatch leaves the last one's rank, what comes
  // back goes to this one's.
  void tokens_that_follow_are_what_is_counted_data() { what_is_sent_is_what_is_counted_data(); }
  void tokens_that_follow_are_what_is_counted() {
    QFETCH(int, backend);
    const auto b = static_cast<Backend>(backend);
    const TokenRoutes routes = drawn(3, 150, true, 21);
    testing::Drawn<std::mt19937> random(8);
    Placement p = contiguous_placement(3, kBranches, kBranches, kRanks);
    for (LayerSlots& layer : p.layers) std::shuffle(layer.begin(), layer.end(), random);
    std::vector<double> there, back;
    const auto sent = [](std::span<const RankWork> ranks) {
      double rows = 0;
      for (const RankWork& r : ranks) rows += r.fabric_out + r.network_out;
      return rows;
    };
    StepWork work(p, kNodes, b, kSlowMachine, ReplicaRule::even, Residence::follow);
    work.of_tokens(routes, all_of(routes), [&](size_t, const LayerWork& w, const LayerCost& cost) {
      there.push_back(sent(w.ranks)), back.push_back(sent(w.combined));
      QVERIFY(near(cost.combine_s, cost_of_layer(w.combined, kSlowMachine).combine_s) &&
              near(cost.dispatch_s, cost_of_layer(w.ranks, kSlowMachine).dispatch_s));
    });
    // Layer by layer, by the count of tokens that live somewhere.
    TokenRoutes one = routes;
    one.layers = 1;
    for (int32_t l = 0; l < 3; ++l) {
      one.choice.clear();
      for (size_t t = 0; t < routes.size(); ++t)
        one.choice.insert(one.choice.end(), routes.at(t, l).begin(), routes.at(t, l).end());
      const Placement layer{kRanks, kBranches, {p.layers[static_cast<size_t>(l)]}};
      const StepCost dispatched = counted(one, layer, b);
      for (size_t t = 0; t < one.size(); ++t) {
        const LayerSlots& lie = layer.layers[0];
        one.tokens[t].rank =
            static_cast<int32_t>(std::find(lie.begin(), lie.end(), one.at(t, 0)[0]) - lie.begin()) / p.slots_of_rank();
      }
      const StepCost combined = counted(one, layer, b);
      QVERIFY(near(there[static_cast<size_t>(l)], dispatched.fabric_rows + dispatched.network_rows));
      QVERIFY(near(back[static_cast<size_t>(l)], combined.fabric_rows + combined.network_rows));
    }
  }

  void a_token_follows_to_each_replica_by_its_part() {
    // Branch 0 on ranks 0 and 1, branch 1 on ranks 1 and 2, branch 2 on rank 2, in both layers. A token of rank 2 chose
    // 0 before 2, then 1 alone.
    TokenRoutes routes;
    routes.layers = 2, routes.branches = 3, routes.k = 2;
    routes.tokens = {{0, 0, 0, Phase::decode, 2}};
    routes.choice = {0, 2, 1, -1};
    const Placement p{3, 3, {{0, 0, 0, 1, 1, 2}, {0, 0, 0, 1, 1, 2}}};
    std::vector<double> delivered;
    StepWork work(p, 1, Backend::per_rank, kSlowMachine, ReplicaRule::even, Residence::follow);
    const auto visit = [&](size_t, const LayerWork& w, const LayerCost&) {
      for (const auto& ranks : {w.ranks, w.combined}) {
        delivered.push_back(0);
        for (const RankWork& r : ranks) delivered.back() += r.fabric_out;
      }
    };
    const StepCost step = work.of_tokens(routes, all_of(routes), visit);
    // A third of branch 0 is on rank 1, two thirds on rank 0 (two slots), all of that elsewhere than rank 2; back comes
    // what branch 2 says. Of branch 1 a half is on rank 1, a half on rank 2; the token lives on rank 0 by two thirds,
    // on rank 1 by one.
    const std::vector<double> expected = {1, 1, 2. / 3 + 1. / 3 * 1. / 2, 0};
    for (size_t i = 0; i < expected.size(); ++i)
      QVERIFY2(near(delivered[i], expected[i]), std::to_string(delivered[i]).c_str());
    QVERIFY(near(step.delivered_rows, 1 + 5. / 6) && near(step.returned_rows, 1) && near(step.visits, 2));
    // If nobody knows its home, the first layer's dispatch is a mean over all.
    routes.tokens[0].rank = -1;
    delivered.clear();
    work.of_tokens(routes, all_of(routes), visit);
    QVERIFY(near(delivered[0], 2 * 2. / 3) && near(delivered[1], 1));
  }

  void a_token_goes_on_from_its_first_kept_choice() {
    TokenRoutes routes;
    routes.layers = 2, routes.branches = 3, routes.k = 2;
    routes.tokens = {{0, 0, 0, Phase::decode, 2}};
    routes.choice = {-1, 0, 1, -1};
    QVERIFY(routes.heaviest(0, 0) == 0 && routes.moved_at(0, 1) == 0 && routes.moved_at(0, 0) == -1);
    const Placement p{3, 3, {{0, 1, 2}, {0, 1, 2}}};
    std::vector<double> sent;  // by ranks 0, 1, 2 of each layer
    StepWork(p, 1, Backend::per_rank, kSlowMachine, ReplicaRule::even, Residence::follow)
        .of_tokens(routes, all_of(routes), [&](size_t, const LayerWork& w, const LayerCost&) {
          for (const RankWork& r : w.ranks) sent.push_back(r.fabric_out);
        });
    QVERIFY((sent == std::vector<double>{0, 0, 1, 1, 0, 0}));
  }

  void copies_per_expert_do_not_depend_on_the_placement() {
    const TokenRoutes routes = drawn(2, 300, false, 9);
    const double expected = 2 * 300 * kK * (1 - 1. / kRanks);
    testing::Drawn<std::mt19937> random(3);
    Placement p = contiguous_placement(2, kBranches, kBranches, kRanks);
    for (int i = 0; i < 5; ++i) {
      for (LayerSlots& layer : p.layers) std::shuffle(layer.begin(), layer.end(), random);
      StepWork work(p, kNodes, Backend::per_expert, kSlowMachine);
      const StepCost step = work.of_tokens(routes, all_of(routes));
      QVERIFY(near(step.delivered_rows, expected) && near(step.fabric_rows + step.network_rows, expected));
    }
  }

  void counts_say_what_choices_say_where_they_can() {
    const TokenRoutes routes = drawn(2, 100, false, 4);
    std::vector<std::vector<double>> loads(2, std::vector<double>(kBranches));
    for (size_t t = 0; t < routes.size(); ++t)
      for (int32_t l = 0; l < 2; ++l)
        for (const int32_t c : routes.at(t, l)) ++loads[static_cast<size_t>(l)][static_cast<size_t>(c)];
    const Placement p = eplb_placement(loads, {18, 1, 1, kRanks});
    for (const Backend b : {Backend::per_expert, Backend::gather}) {
      StepWork work(p, kNodes, b, kSlowMachine);
      const StepCost x = work.of_tokens(routes, all_of(routes)), y = work.of_loads(loads, kK);
      QVERIFY(near(x.seconds(), y.seconds()) && near(x.delivered_rows, y.delivered_rows) &&
              near(x.network_rows, y.network_rows));
    }
  }

  // A copy of each expert on either node: nothing leaves a node, and a token that has its expert at home stays there.
  void the_nearest_replicas_are_counted_one_by_one_data() { what_is_sent_is_what_is_counted_data(); }
  void the_nearest_replicas_are_counted_one_by_one() {
    QFETCH(int, backend);
    const auto b = static_cast<Backend>(backend);
    const TokenRoutes routes = drawn(1, 150, true, 6);
    constexpr int32_t kEach = kRanks / kNodes;
    LayerSlots layer;
    testing::Drawn<std::mt19937> random(2);
    for (int32_t n = 0; n < kNodes; ++n) {
      LayerSlots node(kBranches);
      std::iota(node.begin(), node.end(), 0);
      std::shuffle(node.begin(), node.end(), random);
      layer.insert(layer.end(), node.begin(), node.end());
    }
    const Placement p{kRanks, kBranches, {layer}};
    const size_t held = layer.size() / kRanks;
    std::vector<std::map<int32_t, int64_t>> here(kRanks);  // [ranks] tokens by branch
    double fabric = 0;
    for (size_t t = 0; t < routes.size(); ++t) {
      const int32_t home = routes.tokens[t].rank;
      std::set<int32_t> others;
      for (const int32_t branch : routes.at(t, 0)) {
        if (branch < 0) continue;
        for (size_t s = 0; s < layer.size(); ++s) {
          const auto rank = static_cast<int32_t>(s / held);
          if (layer[s] != branch || rank / kEach != home / kEach) continue;
          ++here[static_cast<size_t>(rank)][branch];
          if (rank == home) continue;
          fabric += b == Backend::per_expert, others.insert(rank);
        }
      }
      if (b != Backend::per_expert) fabric += static_cast<double>(others.size());
    }
    StepWork work(p, kNodes, b, kSlowMachine, ReplicaRule::nearest);
    const StepCost step = work.of_tokens(routes, all_of(routes), [&](size_t, const LayerWork& done, const LayerCost&) {
      for (size_t r = 0; r < done.ranks.size(); ++r) {
        double rows = 0;
        for (const auto& [branch, count] : here[r]) rows += std::ceil(static_cast<double>(count) / kRowTile) * kRowTile;
        QVERIFY(near(done.ranks[r].active, static_cast<double>(here[r].size())) && near(done.ranks[r].rows, rows));
      }
    });
    if (b == Backend::gather) return;
    QVERIFY2(near(step.network_rows, 0) && near(step.fabric_rows, fabric) && near(step.delivered_rows, fabric),
             (std::to_string(step.fabric_rows) + " " + std::to_string(fabric)).c_str());
    QVERIFY(step.fabric_rows + step.network_rows <
            StepWork(p, kNodes, b, kSlowMachine).of_tokens(routes, all_of(routes)).fabric_rows +
                StepWork(p, kNodes, b, kSlowMachine).of_tokens(routes, all_of(routes)).network_rows);
  }

  void tokens_that_live_anywhere_are_the_mean_over_homes_data() { what_is_sent_is_what_is_counted_data(); }
  void tokens_that_live_anywhere_are_the_mean_over_homes() {
    QFETCH(int, backend);
    const auto b = static_cast<Backend>(backend);
    TokenRoutes routes = drawn(1, 1, false, 7);
    // Replicas of several kinds: two on a node, two nodes, all on one rank, none.
    LayerSlots layer = contiguous_placement(1, kBranches, kBranches + 2 * kRanks, kRanks).layers[0];
    testing::Drawn<std::mt19937> random(4);
    for (int round = 0; round < 20; ++round) {
      std::shuffle(layer.begin(), layer.end(), random);
      const Placement p{kRanks, kBranches, {layer}};
      StepWork work(p, kNodes, b, kSlowMachine, ReplicaRule::nearest);
      std::vector<RankWork> sum(kRanks), anywhere;
      double delivered = 0;
      for (int32_t home = 0; home < kRanks; ++home) {
        routes.tokens[0].rank = home;
        delivered += work.of_tokens(routes, all_of(routes),
                                    [&](size_t, const LayerWork& done, const LayerCost&) {
                                      for (size_t r = 0; r < done.ranks.size(); ++r)
                                        for (double RankWork::*part :
                                             {&RankWork::active, &RankWork::fabric_out, &RankWork::fabric_in,
                                              &RankWork::network_out, &RankWork::network_in})
                                          sum[r].*part += done.ranks[r].*part / kRanks;
                                    })
                         .delivered_rows /
                     kRanks;
      }
      routes.tokens[0].rank = -1;
      const StepCost told =
          work.of_tokens(routes, all_of(routes), [&](size_t, const LayerWork& done, const LayerCost&) {
            anywhere.assign(done.ranks.begin(), done.ranks.end());
          });
      QVERIFY(near(told.delivered_rows, delivered));
      for (size_t r = 0; r < sum.size(); ++r)
        for (double RankWork::*part : {&RankWork::active, &RankWork::fabric_out, &RankWork::fabric_in,
                                       &RankWork::network_out, &RankWork::network_in})
          QVERIFY(near(anywhere[r].*part, sum[r].*part));
      if (b != Backend::per_expert) continue;
      std::vector<double> loads(kBranches);
      for (const int32_t choice : routes.at(0, 0))
        if (choice >= 0) ++loads[static_cast<size_t>(choice)];
      const StepCost counted = work.of_loads({loads}, kK);
      QVERIFY(near(counted.delivered_rows, delivered) && near(counted.seconds(), told.seconds()));
    }
  }

  void few_tokens_that_live_anywhere_live_on_few_ranks_data() {
    QTest::addColumn<int>("backend");
    QTest::addColumn<double>("seconds");
    QTest::addColumn<double>("rows");
    // For a token on rank 0 or 2, two of three copies leave the node, and one goes to the other rank of its own.
    const auto row = [](Backend backend, double seconds, double rows) {
      QTest::newRow(std::string(to_text(backend)).c_str()) << static_cast<int>(backend) << seconds << rows;
    };
    row(Backend::per_expert, 1, 2.5), row(Backend::per_rank, 1, 2.5), row(Backend::gather, 1.5, 5);
    // One row over the network, and of three copies each is forwarded from two of three places; of ranks 3 and 4 both
    // from rank 5.
    row(Backend::per_node, 0.5, 1 + 2);
  }
  void few_tokens_that_live_anywhere_live_on_few_ranks() {
    QFETCH(int, backend);
    QFETCH(double, seconds);
    QFETCH(double, rows);
    const auto b = static_cast<Backend>(backend);
    // Branches 1, 3 and 4 on ranks of as many; 10 bytes a second within a node, 2 between nodes.
    TokenRoutes routes;
    routes.layers = 1, routes.branches = kRanks, routes.k = 3;
    routes.tokens = {{0, 0, 0, Phase::decode, -1}};
    routes.choice = {1, 3, 4};
    const Placement p = contiguous_placement(1, kRanks, kRanks, kRanks);
    const StepCost one = StepWork(p, kNodes, b, kSlowMachine).of_tokens(routes, all_of(routes));
    QVERIFY2(near(one.cost.dispatch_s, seconds) && near(one.cost.combine_s, 2 * seconds),
             std::to_string(one.cost.dispatch_s).c_str());
    // Bytes are what they are as a mean over homes.
    QVERIFY2(near(one.fabric_rows + one.network_rows, rows),
             std::to_string(one.fabric_rows + one.network_rows).c_str());
    // Two of them live on two ranks; from six on the mean over homes is what a port sends.
    const auto many = [&](size_t count) {
      TokenRoutes alike = routes;
      alike.tokens.assign(count, routes.tokens[0]), alike.choice.clear();
      for (size_t t = 0; t < count; ++t) alike.choice.insert(alike.choice.end(), {1, 3, 4});
      return StepWork(p, kNodes, b, kSlowMachine).of_tokens(alike, all_of(alike)).cost.dispatch_s;
    };
    QVERIFY(near(many(2), seconds) && near(many(12), 2 * many(6)));
    // Who says where the token lives is believed.
    routes.tokens[0].rank = 0;
    const StepCost known = StepWork(p, kNodes, b, kSlowMachine).of_tokens(routes, all_of(routes));
    QVERIFY(near(known.cost.dispatch_s, seconds) && near(known.cost.combine_s, 2 * seconds));
    // On the uplink of a node the same: what leaves rank 0 for other nodes.
    CostModel narrow = kSlowMachine;
    narrow.uplink_bytes_per_s = 0.1, narrow.gpus_per_node = kRanks / kNodes;
    const double told = StepWork(p, kNodes, b, narrow).of_tokens(routes, all_of(routes)).cost.dispatch_s;
    routes.tokens[0].rank = -1;
    QVERIFY(near(StepWork(p, kNodes, b, narrow).of_tokens(routes, all_of(routes)).cost.dispatch_s, told));
  }

  void without_replicas_the_nearest_is_the_only_one() {
    const Placement p = contiguous_placement(2, kBranches, kBranches, kRanks);
    for (const bool homes : {true, false}) {
      const TokenRoutes routes = drawn(2, 80, homes, 3);
      for (size_t b = 0; b < std::size(kBackends); ++b) {
        const auto backend = static_cast<Backend>(b);
        const StepCost even = StepWork(p, kNodes, backend, kSlowMachine).of_tokens(routes, all_of(routes)),
                       nearest = StepWork(p, kNodes, backend, kSlowMachine, ReplicaRule::nearest)
                                     .of_tokens(routes, all_of(routes));
        QVERIFY(near(even.seconds(), nearest.seconds()) && near(even.delivered_rows, nearest.delivered_rows));
      }
    }
  }

  void cost_falls_with_every_rate() {
    const TokenRoutes routes = drawn(2, 64, true, 8);
    const Placement p = contiguous_placement(2, kBranches, kBranches, kRanks);
    for (const Backend b : {Backend::per_expert, Backend::per_rank, Backend::per_node, Backend::gather}) {
      const double before = StepWork(p, kNodes, b, kSlowMachine).of_tokens(routes, all_of(routes)).seconds();
      for (double CostModel::*rate : {&CostModel::memory_bytes_per_s, &CostModel::flops_per_s,
                                      &CostModel::fabric_bytes_per_s, &CostModel::network_bytes_per_s}) {
        CostModel faster = kSlowMachine;
        faster.*rate *= 2;
        QVERIFY(StepWork(p, kNodes, b, faster).of_tokens(routes, all_of(routes)).seconds() <= before);
      }
    }
  }
};

STORMCELL_TEST(StepWorkTest)

}  // namespace stormcell::testing::step_work_test

#include "step_work_test.moc"
