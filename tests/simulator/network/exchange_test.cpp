// Messages of an exchange: their sums are what the closed form counts by ports, and filling their links takes at least
// as long.
#include "simulator/network/exchange.h"

#include <cmath>
#include <random>
#include <set>
#include <tuple>

#include "core/placement/eplb.h"
#include "core/placement/step_work.h"
#include "simulator/network/filling.h"
#include "tests/core/placement/drawn_routes.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::exchange_test {
namespace {

constexpr int32_t kBranches = 16, kK = 3;

bool near(double a, double b, double share = 1e-9) {
  return std::abs(a - b) <= share * std::max({1e-9, std::abs(a), std::abs(b)});
}

Cluster cluster_of(int32_t nodes, int32_t gpus_per_node) {
  Cluster c;
  c.nodes = nodes, c.gpus_per_node = gpus_per_node, c.fabric_bytes_per_s = 100, c.network_bytes_per_s = 20;
  return c;
}

CostModel model_of(const Cluster& cluster) {
  CostModel model;
  model.memory_bytes_per_s = model.flops_per_s = 1;
  model.fabric_bytes_per_s = cluster.fabric_bytes_per_s, model.network_bytes_per_s = cluster.network_bytes_per_s;
  model.dispatch_row_bytes = 4, model.combine_row_bytes = 8;
  return model;
}

TokenRoutes drawn(size_t tokens, int32_t ranks, bool homes, uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  TokenRoutes routes;
  routes.layers = 1, routes.branches = kBranches, routes.k = kK;
  for (size_t t = 0; t < tokens; ++t) {
    const auto home = static_cast<int32_t>(random() % static_cast<uint32_t>(ranks));
    routes.tokens.push_back({static_cast<int64_t>(t), 0, 0, Phase::decode, homes ? home : -1});
    std::set<int32_t> chosen;
    while (chosen.size() < kK) chosen.insert(static_cast<int32_t>(random() % kBranches));
    routes.choice.insert(routes.choice.end(), chosen.begin(), chosen.end());
    if (t % 7 == 0) routes.choice.back() = -1;  // dropped
  }
  return routes;
}

std::vector<RankWork> by_ports(const RankRows& rows, const Network& network) {
  const auto ranks = static_cast<size_t>(network.ranks());
  std::vector<RankWork> out(ranks);
  for (size_t a = 0; a < ranks; ++a)
    for (size_t b = 0; b < ranks; ++b) {
      const double sent = rows[a * ranks + b];
      if (network.node(static_cast<int32_t>(a)) == network.node(static_cast<int32_t>(b)))
        out[a].fabric_out += sent, out[b].fabric_in += sent;
      else
        out[a].network_out += sent, out[b].network_in += sent;
    }
  return out;
}

}  // namespace

class ExchangeTest : public QObject {
  Q_OBJECT
 private slots:
  // In three layers each dispatch begins where the layer before ended, and comes back to where the next one begins.
  void tokens_that_follow_send_from_where_they_came_to_data() {
    QTest::addColumn<int>("backend");
    QTest::addColumn<bool>("homes");
    QTest::addColumn<int>("spare");
    for (size_t b = 0; b < std::size(kBackends); ++b)
      for (const bool homes : {true, false})
        for (const int spare : {0, 8})
          QTest::addRow("%s, %s, %d spare", std::string(kBackends[b]).c_str(), homes ? "homes" : "anywhere", spare)
              << static_cast<int>(b) << homes << spare;
  }
  void tokens_that_follow_send_from_where_they_came_to() {
    QFETCH(int, backend);
    QFETCH(bool, homes);
    QFETCH(int, spare);
    const Cluster cluster = cluster_of(2, 4);
    const Network network(cluster, 1);
    TokenRoutes routes = drawn(90, 8, homes, 5);
    routes.layers = 3, routes.heaviest_first = true;
    routes.tokens.resize(30);  // three layers of each
    const Placement p = contiguous_placement(3, kBranches, kBranches + spare, 8);
    const auto b = static_cast<Backend>(backend);
    const std::vector<size_t> tokens = all_of(routes);
    size_t looked_at = 0;
    StepWork(p, 2, b, model_of(cluster), ReplicaRule::even, Residence::follow)
        .of_tokens(routes, tokens, [&](size_t layer, const LayerWork& done, const LayerCost&) {
          const auto l = static_cast<int32_t>(layer);
          const std::vector<BranchShares> shares = shares_of(p.layers[layer], kBranches, 8);
          const std::vector<BranchShares> lives = lives_of_following(routes, tokens, p, l);
          const auto agree = [&](std::span<const RankWork> ranks, const RankRows& rows) {
            const std::vector<RankWork> sums = by_ports(rows, network);
            for (size_t r = 0; r < ranks.size(); ++r, ++looked_at)
              if (!near(ranks[r].fabric_out, sums[r].fabric_out) || !near(ranks[r].fabric_in, sums[r].fabric_in) ||
                  !near(ranks[r].network_out, sums[r].network_out) || !near(ranks[r].network_in, sums[r].network_in))
                return false;
            return true;
          };
          QVERIFY(agree(done.ranks, dispatched_rows(routes, tokens, l, shares, lives, b, network)));
          QVERIFY(agree(done.combined, followed_rows(routes, tokens, l, shares, b, network)));
        });
    QCOMPARE(looked_at, size_t{3 * 2 * 8});
  }

  void pairs_sum_to_the_ports_of_the_closed_form_data() {
    QTest::addColumn<int>("backend");
    QTest::addColumn<bool>("homes");
    QTest::addColumn<int>("spare");
    for (size_t b = 0; b < std::size(kBackends); ++b)
      for (const bool homes : {true, false})
        for (const int spare : {0, 8})
          QTest::addRow("%s, %s, %d spare", std::string(kBackends[b]).c_str(), homes ? "homes" : "anywhere", spare)
              << static_cast<int>(b) << homes << spare;
  }
  void pairs_sum_to_the_ports_of_the_closed_form() {
    QFETCH(int, backend);
    QFETCH(bool, homes);
    QFETCH(int, spare);
    const Cluster cluster = cluster_of(2, 4);
    const Network network(cluster, 1);
    const TokenRoutes routes = drawn(150, 8, homes, 11);
    const Placement p = contiguous_placement(1, kBranches, kBranches + spare, 8);
    const auto b = static_cast<Backend>(backend);
    const std::vector<BranchShares> shares = shares_of(p.layers[0], kBranches, 8);
    const CostModel model = model_of(cluster);
    for (const ReplicaRule replicas : {ReplicaRule::even, ReplicaRule::nearest}) {
      const RankRows rows = dispatched_rows(routes, all_of(routes), 0, shares, b, network, replicas);
      const std::vector<RankWork> sums = by_ports(rows, network);
      LayerCost closed;
      StepWork(p, 2, b, model, replicas)
          .of_tokens(routes, all_of(routes), [&](size_t, const LayerWork& done, const LayerCost& cost) {
            const std::span<const RankWork> ranks = done.ranks;
            closed = cost;
            for (size_t r = 0; r < ranks.size(); ++r)
              QVERIFY(near(ranks[r].fabric_out, sums[r].fabric_out) && near(ranks[r].fabric_in, sums[r].fabric_in) &&
                      near(ranks[r].network_out, sums[r].network_out) && near(ranks[r].network_in, sums[r].network_in));
          });
      const double there = fill(network.links(), flows_of(rows, model.dispatch_row_bytes, network)).seconds,
                   back = fill(network.links(), flows_of(combined_rows(rows, 8), model.combine_row_bytes, network))
                              .seconds;
      QVERIFY(there >= closed.dispatch_s * (1 - 1e-9) && back >= closed.combine_s * (1 - 1e-9));
      // Expected rows are alike enough that no port waits for another for long.
      if (!homes && replicas == ReplicaRule::even)
        QVERIFY2(near(there, closed.dispatch_s, 0.01),
                 (std::to_string(there) + " " + std::to_string(closed.dispatch_s)).c_str());
    }
  }

  void costs_between_ranks_are_those_of_their_messages_data() { pairs_sum_to_the_ports_of_the_closed_form_data(); }
  void costs_between_ranks_are_those_of_their_messages() {
    QFETCH(int, backend);
    QFETCH(bool, homes);
    QFETCH(int, spare);
    constexpr size_t kAll = 8;
    const Network network(cluster_of(2, 4), 1);
    const TokenRoutes routes = drawn(150, kAll, homes, 12);
    const Placement p = contiguous_placement(1, kBranches, kBranches + spare, kAll);
    const auto b = static_cast<Backend>(backend);
    const RankRows rows =
        dispatched_rows(routes, all_of(routes), 0, shares_of(p.layers[0], kBranches, kAll), b, network);
    testing::Drawn<std::mt19937> random(31);
    std::vector<double> cost(kAll * kAll);  // one way is not the other
    for (size_t i = 0; i < cost.size(); ++i)
      cost[i] = i % (kAll + 1) == 0 ? 0 : 0.001 * static_cast<double>(1 + random() % 99);
    std::vector<RankWork> sums(kAll);
    for (size_t from = 0; from < kAll; ++from)
      for (size_t to = 0; to < kAll; ++to) {
        const double sent = rows[from * kAll + to], there = sent * cost[from * kAll + to],
                     back = sent * cost[to * kAll + from];
        sums[from].dispatch_out += there, sums[to].dispatch_in += there;
        sums[to].combine_out += back, sums[from].combine_in += back;
      }
    double dispatch = 0, combine = 0;
    for (const RankWork& r : sums)
      dispatch = std::max({dispatch, r.dispatch_out, r.dispatch_in}),
      combine = std::max({combine, r.combine_out, r.combine_in});
    CostModel model = model_of(cluster_of(2, 4));
    model.rank_cost = std::make_shared<const std::vector<double>>(cost);
    StepWork(p, 2, b, model)
        .of_tokens(routes, all_of(routes), [&](size_t, const LayerWork& done, const LayerCost& told) {
          const std::span<const RankWork> ranks = done.ranks;
          for (size_t r = 0; r < kAll; ++r)
            QVERIFY(near(ranks[r].dispatch_out, sums[r].dispatch_out) &&
                    near(ranks[r].dispatch_in, sums[r].dispatch_in) &&
                    near(ranks[r].combine_out, sums[r].combine_out) && near(ranks[r].combine_in, sums[r].combine_in));
          QVERIFY(near(told.dispatch_s, 4 * dispatch) && near(told.combine_s, 8 * combine));
        });
    // By filling, ports share their time: no less than the busiest one's, and no message is lost on the way.
    Cluster costly = cluster_of(2, 4);
    costly.rank_cost = cost;
    const Network ports(costly, 1);
    for (const auto& [sent, row_bytes, closed] :
         {std::tuple(rows, 4., 4 * dispatch), {combined_rows(rows, kAll), 8., 8 * combine}}) {
      const std::vector<NetworkFlow> flows = flows_of(sent, row_bytes, ports);
      const Filling filled = fill(ports.links(), flows);
      QVERIFY(filled.seconds >= closed * (1 - 1e-9));
      std::vector<double> busy(2 * kAll);
      for (const NetworkFlow& f : flows) {
        const double seconds = f.bytes * cost[static_cast<size_t>(f.from) * kAll + static_cast<size_t>(f.to)];
        busy[2 * static_cast<size_t>(f.from)] += seconds, busy[2 * static_cast<size_t>(f.to) + 1] += seconds;
      }
      for (size_t l = 0; l < busy.size(); ++l) QVERIFY(near(filled.link_load[l], busy[l]));
    }
  }

  void equal_costs_between_ranks_are_one_fabric() {
    const Cluster fabric = cluster_of(1, 8);
    Cluster costly = fabric;
    costly.rank_cost.assign(64, 1 / fabric.fabric_bytes_per_s);
    const TokenRoutes routes = drawn(120, 8, true, 17);
    const Network one(fabric, 1), other(costly, 1);
    const Placement p = contiguous_placement(1, kBranches, kBranches, 8);
    const RankRows rows =
        dispatched_rows(routes, all_of(routes), 0, shares_of(p.layers[0], kBranches, 8), Backend::per_rank, one);
    const std::vector<NetworkFlow> a = flows_of(rows, 4, one), b = flows_of(rows, 4, other);
    const Filling by_fabric = fill(one.links(), a), by_costs = fill(other.links(), b);
    QCOMPARE(a.size(), b.size());
    for (size_t f = 0; f < a.size(); ++f)
      QVERIFY(a[f].bytes == b[f].bytes && near(by_fabric.end_s[f], by_costs.end_s[f]));
  }

  void counts_are_sent_like_the_choices_that_they_count() {
    const Network network(cluster_of(2, 2), 1);
    TokenRoutes routes = drawn(90, 4, false, 5);
    for (size_t t = 0; t < routes.size(); ++t)
      if (routes.choice[t * kK + kK - 1] < 0) routes.choice[t * kK + kK - 1] = kBranches - 1;
    std::vector<double> loads(kBranches);
    for (const int32_t c : routes.choice) ++loads[static_cast<size_t>(c)];
    const Placement p = contiguous_placement(1, kBranches, kBranches + 4, 4);
    const std::vector<BranchShares> shares = shares_of(p.layers[0], kBranches, 4);
    for (const Backend b : {Backend::per_expert, Backend::gather})
      for (const ReplicaRule replicas : {ReplicaRule::even, ReplicaRule::nearest}) {
        const RankRows one = dispatched_rows(routes, all_of(routes), 0, shares, b, network, replicas),
                       other = dispatched_rows(loads, kK, shares, b, network, replicas);
        for (size_t i = 0; i < one.size(); ++i) QVERIFY(near(one[i], other[i]));
      }
  }

  void one_hot_gpu_takes_what_its_port_takes() {
    const Cluster cluster = cluster_of(1, 8);
    const Network network(cluster, 1);
    RankRows rows(64);
    for (size_t a = 1; a < 8; ++a) rows[a * 8] = static_cast<double>(10 * a);
    double all = 0;
    for (const double r : rows) all += r;
    QVERIFY(near(fill(network.links(), flows_of(rows, 4, network)).seconds, all * 4 / 100));
  }
};

STORMCELL_TEST(ExchangeTest)

}  // namespace stormcell::testing::exchange_test

#include "exchange_test.moc"
