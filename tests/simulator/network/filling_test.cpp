// Messages that share links: against sums by hand, an independent brute force, and what fairness means.
#include "simulator/network/filling.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::filling_test {
namespace {

bool near(double a, double b, double share = 1e-9) {
  return std::abs(a - b) <= share * std::max({1e-12, std::abs(a), std::abs(b)});
}

Cluster cluster_of(int32_t nodes, int32_t gpus_per_node) {
  Cluster c;
  c.nodes = nodes, c.gpus_per_node = gpus_per_node, c.fabric_bytes_per_s = 100, c.network_bytes_per_s = 10;
  return c;
}

std::vector<NetworkFlow> random_flows(const Network& network, size_t count, uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  std::vector<NetworkFlow> flows;
  const auto ranks = static_cast<uint32_t>(network.ranks());
  while (flows.size() < count) {
    const auto from = static_cast<int32_t>(random() % ranks), to = static_cast<int32_t>(random() % ranks);
    if (from != to) flows.push_back(network.flow(from, to, 1 + static_cast<double>(random() % 1000)));
  }
  return flows;
}

/// Rates rise by small steps, one flow after the other, as long as all of its links have room.
std::vector<double> poured(const std::vector<Link>& links, const std::vector<NetworkFlow>& flows,
                           const std::vector<double>& left, double drop) {
  std::vector<double> rates(flows.size()), room;
  for (const Link& l : links) room.push_back(l.per_s);
  std::vector<bool> stuck(flows.size());
  for (bool any = true; any;) {
    any = false;
    for (size_t f = 0; f < flows.size(); ++f) {
      if (stuck[f] || left[f] <= 0) continue;
      bool fits = true;
      for (const size_t l : flows[f].links) fits = fits && room[l] >= drop;
      if (!fits) {
        stuck[f] = true;
        continue;
      }
      any = true, rates[f] += drop;
      for (const size_t l : flows[f].links) room[l] -= drop;
    }
  }
  return rates;
}

/// By such rates, until the last message has come.
double poured_seconds(const std::vector<Link>& links, const std::vector<NetworkFlow>& flows, double drop) {
  std::vector<double> left;
  for (const NetworkFlow& f : flows) left.push_back(f.bytes);
  double now = 0;
  while (std::any_of(left.begin(), left.end(), [](double b) { return b > 0; })) {
    const std::vector<double> rates = poured(links, flows, left, drop);
    double next = 1e300;
    for (size_t f = 0; f < flows.size(); ++f)
      if (left[f] > 0) next = std::min(next, left[f] / rates[f]);
    now += next;
    for (size_t f = 0; f < flows.size(); ++f) {
      left[f] -= rates[f] * next;
      if (left[f] < 1e-9) left[f] = 0;
    }
  }
  return now;
}

}  // namespace

class FillingTest : public QObject {
  Q_OBJECT
 private slots:
  void two_messages_into_one_port_by_hand() {
    const Network network(cluster_of(1, 3), 1);
    // Into GPU 2 at 50 each: the smaller one ends after 2 s, the other has 100 bytes left for the whole port.
    const Filling f = fill(network.links(), std::vector{network.flow(0, 2, 100), network.flow(1, 2, 200)});
    QVERIFY(near(f.end_s[0], 2) && near(f.end_s[1], 3) && near(f.seconds, 3));
    QCOMPARE(f.intervals.size(), size_t{2});
    QVERIFY(near(f.intervals[0].end_s, 2) && near(f.intervals[1].begin_s, 2));
  }

  void equal_messages_between_all_take_what_the_busiest_port_takes() {
    for (const int32_t nodes : {1, 2, 4}) {
      const Network network(cluster_of(nodes, 4), 1);
      std::vector<NetworkFlow> flows;
      for (int32_t a = 0; a < network.ranks(); ++a)
        for (int32_t b = 0; b < network.ranks(); ++b)
          if (a != b) flows.push_back(network.flow(a, b, 60));
      const double fabric = 3 * 60 / 100., remote = (network.ranks() - 4) * 60 / 10.;
      QVERIFY(near(fill(network.links(), flows).seconds, std::max(fabric, remote)));
    }
  }

  void an_uplink_that_carries_half_takes_twice_as_long() {
    std::vector<double> seconds;
    for (const double over : {1., 2., 4.}) {
      const Network network(cluster_of(2, 4), over);
      std::vector<NetworkFlow> flows;
      for (int32_t a = 0; a < 4; ++a)
        for (int32_t b = 4; b < 8; ++b) flows.push_back(network.flow(a, b, 10));
      seconds.push_back(fill(network.links(), flows).seconds);
    }
    QVERIFY(near(seconds[1], 2 * seconds[0]) && near(seconds[2], 4 * seconds[0]));
  }

  void shares_are_those_of_a_brute_force() {
    for (uint32_t seed = 0; seed < 4; ++seed) {
      const Network network(cluster_of(2, 3), seed % 2 ? 2 : 1);
      const std::vector<NetworkFlow> flows = random_flows(network, 12, seed);
      const double expected = poured_seconds(network.links(), flows, 5e-4),
                   seconds = fill(network.links(), flows).seconds;
      QVERIFY2(near(seconds, expected, 1e-3), (std::to_string(seconds) + " " + std::to_string(expected)).c_str());
    }
  }

  // A flow could have more only at the cost of one that has no more: on one of its links, which is full, its rate is
  // the largest.
  void every_flow_is_held_by_a_full_link_where_none_is_faster() {
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const Network network(cluster_of(3, 4), 1.5);
      const std::vector<NetworkFlow> flows = random_flows(network, 60, seed);
      std::vector<size_t> all(flows.size());
      std::iota(all.begin(), all.end(), size_t{0});
      const std::vector<double> rates = fair_rates(network.links(), flows, all);
      std::vector<double> used(network.links().size()), most(used.size());
      for (size_t f = 0; f < flows.size(); ++f)
        for (const size_t l : flows[f].links) used[l] += rates[f], most[l] = std::max(most[l], rates[f]);
      for (size_t l = 0; l < used.size(); ++l) QVERIFY(used[l] <= network.links()[l].per_s * (1 + 1e-9));
      for (size_t f = 0; f < flows.size(); ++f)
        QVERIFY(std::any_of(flows[f].links.begin(), flows[f].links.end(), [&](size_t l) {
          return near(used[l], network.links()[l].per_s) && near(rates[f], most[l]);
        }));
    }
  }

  void what_is_sent_arrives_once() {
    const Network network(cluster_of(2, 4), 2);
    const std::vector<NetworkFlow> flows = random_flows(network, 80, 3);
    std::vector<double> bytes(network.links().size());
    for (const NetworkFlow& f : flows)
      for (const size_t l : f.links) bytes[l] += f.bytes;
    const Filling filling = fill(network.links(), flows);
    double end = 0;
    for (const double e : filling.end_s) end = std::max(end, e);
    QVERIFY(near(end, filling.seconds));
    for (size_t l = 0; l < bytes.size(); ++l) {
      double carried = 0;
      for (const FillingInterval& i : filling.intervals)
        carried += i.link_share[l] * network.links()[l].per_s * (i.end_s - i.begin_s);
      QVERIFY(near(filling.link_load[l], bytes[l]) && near(carried, bytes[l]));
      // No port is faster than it is.
      QVERIFY(filling.seconds * network.links()[l].per_s >= bytes[l] * (1 - 1e-9));
    }
  }

  void nothing_to_send_takes_no_time() {
    const Network network(cluster_of(1, 2), 1);
    QCOMPARE(fill(network.links(), std::vector<NetworkFlow>{}).seconds, 0.);
    const Filling f = fill(network.links(), std::vector{network.flow(0, 1, 0)});
    QVERIFY(f.seconds == 0 && f.end_s[0] == 0 && f.intervals.empty());
  }
};

STORMCELL_TEST(FillingTest)

}  // namespace stormcell::testing::filling_test

#include "filling_test.moc"
