// How soon experts come again, whether a recording drifts, or goes elsewhere than another: by hand, against a slow
// count, against chance.
#include "core/profile/drift.h"
#include "core/profile/reuse.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "core/base/balance.h"
#include "tests/core/profile/decoded_routes.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Blocks of 8 branches, each cell's branch drawn by `draw` of two dice.
std::vector<BlockLoads> drawn_blocks(std::mt19937& random, int cells,
                                     const std::function<uint64_t(uint64_t, uint64_t)>& draw) {
  std::vector<BlockLoads> blocks(12, BlockLoads(8));
  for (BlockLoads& block : blocks)
    for (int c = 0; c < cells; ++c) {
      const uint64_t a = random() % 8, b = random() % 8;
      ++block[draw(a, b)];
    }
  return blocks;
}

std::optional<Drift> drift(const TokenRoutes& routes) {
  return drift_of(blocks_of(routes), std::vector<int32_t>{routes.branches});
}

}  // namespace

class ReuseDriftTest : public QObject {
  Q_OBJECT
 private slots:
  void distances_by_hand() {
    const ReuseDistance r = reuse_distance(decoded({0, 1, 2, 1, 0, 0}, 3));
    QCOMPARE(r.lookups, int64_t{6});
    QCOMPARE(r.first_uses, int64_t{3});
    QVERIFY(r.p50 == 1 && r.p99 == 1);  // 1 after 2: 1; 0 after 1 and 2: 2; 0 at once: 0
    QVERIFY(!reuse_distance(decoded({0, 1, 2}, 3)).p50);
  }

  void distances_are_those_of_a_slow_count() {
    testing::Drawn<std::mt19937> random(6);
    for (int round = 0; round < 20; ++round) {
      std::vector<int32_t> experts(150);
      for (int32_t& e : experts) e = static_cast<int32_t>(random() % 12);
      std::vector<int64_t> slow;
      for (size_t i = 0; i < experts.size(); ++i)
        for (size_t j = i; j-- > 0;)
          if (experts[j] == experts[i]) {
            slow.push_back(static_cast<int64_t>(std::set<int32_t>(experts.begin() + static_cast<std::ptrdiff_t>(j) + 1,
                                                                  experts.begin() + static_cast<std::ptrdiff_t>(i))
                                                    .size()));
            break;
          }
      std::sort(slow.begin(), slow.end());
      const ReuseDistance r = reuse_distance(decoded(experts, 12));
      QCOMPARE(*r.p50, slow[(slow.size() - 1) / 2]);
      QCOMPARE(*r.p90, slow[static_cast<size_t>(.9 * static_cast<double>(slow.size() - 1))]);
    }
  }

  void steady_routing_does_not_drift_and_a_change_does() {
    testing::Drawn<std::mt19937> random(2);
    std::vector<int32_t> steady(640), changed(640);
    for (size_t t = 0; t < steady.size(); ++t) {
      steady[t] = static_cast<int32_t>(std::min(random() % 8, random() % 8));
      changed[t] =
          static_cast<int32_t>(t < 320 ? std::min(random() % 8, random() % 8) : std::max(random() % 8, random() % 8));
    }
    const auto same = drift(decoded(steady, 8)), other = drift(decoded(changed, 8));
    QCOMPARE(same->blocks, int64_t{80});
    QVERIFY2(same->p_value > .05 && same->distance < 2 * same->expected, std::to_string(same->p_value).c_str());
    QVERIFY(other->p_value <= .005 && other->distance > 3 * other->expected);
    QVERIFY(!drift(decoded({0, 1, 2, 3, 0, 1}, 4)));  // one block
  }

  void two_recordings_by_hand() {
    const std::vector<BlockLoads> first(2, {10, 0}), second(2, {0, 10});
    const auto d = drift_between(first, second, std::vector<int32_t>{2});
    QVERIFY(d && d->distance == 1 && d->blocks == 4);
    // Two of the six ways to part four blocks are as far apart, the others not at all.
    QVERIFY(std::abs(d->p_value * 200 - 1 - d->expected * 199) < 1e-6 && d->p_value > .2 && d->p_value < .5);
    const auto same = drift_between(first, first, std::vector<int32_t>{2});
    QVERIFY(same->distance == 0 && same->p_value == 1);
    QVERIFY(!drift_between({{1, 0}}, {{0, 1}}, std::vector<int32_t>{2}));
  }

  void a_recording_of_more_cells_is_no_other_one() {
    testing::Drawn<std::mt19937> random(4);
    const auto low = [](uint64_t a, uint64_t b) { return std::min(a, b); };
    const auto high = [](uint64_t a, uint64_t b) { return std::max(a, b); };
    const auto many = drawn_blocks(random, 200, low), few = drawn_blocks(random, 8, low),
               others = drawn_blocks(random, 8, high);
    const std::vector<int32_t> branches = {8};
    const auto alike = drift_between(many, few, branches), unlike = drift_between(many, others, branches);
    QVERIFY2(alike->p_value > .05, std::to_string(alike->p_value).c_str());
    QVERIFY(unlike->p_value <= .005 && unlike->distance > 3 * unlike->expected);
  }

  void steps_of_two_recordings_are_cut_into_equally_many_blocks() {
    QCOMPARE(blocks_of_each(20, 1000), int64_t{2});
    QCOMPARE(blocks_of_each(1000, 15), int64_t{0});
    QCOMPARE(blocks_of_each(100000, 100000), int64_t{128});
    TokenRoutes routes = decoded(std::vector<int32_t>(20), 1);
    routes.tokens[0].phase = Phase::prefill;
    QVERIFY(decodes_any(routes));
    QVERIFY(judged_steps(routes, false) == 20 && judged_steps(routes, true) == 19);
    QVERIFY((blocks_of(routes, false, 3) == std::vector<BlockLoads>{{7}, {7}, {6}}));
    QVERIFY((blocks_of(routes, true, 2) == std::vector<BlockLoads>{{10}, {9}}));
  }

  void hot_and_cold_sets_by_hand() {
    const std::vector<int64_t> loads = {5, 0, 40, 5, 40, 10};
    QVERIFY((hot_set(loads, .5) == std::vector<int32_t>{2, 4}));
    QVERIFY((hot_set(loads, .9) == std::vector<int32_t>{2, 4, 5}));
    QVERIFY((cold_set(loads, .1) == std::vector<int32_t>{1}));
    QVERIFY(hot_set(std::vector<int64_t>(4), .5).empty() && cold_set(std::vector<int64_t>(4), .1).empty());
  }
};

STORMCELL_TEST(ReuseDriftTest)

}  // namespace stormcell::testing

#include "reuse_drift_test.moc"
