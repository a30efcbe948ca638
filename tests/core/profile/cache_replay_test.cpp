// Caches and guesses on choices that are small enough to follow by hand.
#include "core/profile/cache_replay.h"

#include <random>

#include "core/profile/predictability.h"
#include "tests/core/profile/decoded_routes.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

int64_t hits(const TokenRoutes& routes, CachePolicy policy, int64_t budget) {
  return replay_cache(routes, policy, budget).all.hits;
}

}  // namespace

class CacheReplayTest : public QObject {
  Q_OBJECT
 private slots:
  void policies_are_found_by_their_words() {
    for (const CachePolicy policy : {CachePolicy::lru, CachePolicy::lfu, CachePolicy::belady})
      QVERIFY(cache_policy(to_text(policy)) == policy);
    QVERIFY(to_text(CachePolicy::belady) == "belady" && !cache_policy("") && !cache_policy("random"));
  }
  void the_least_recent_goes() { QCOMPARE(hits(decoded({0, 1, 0, 2, 0, 1}), CachePolicy::lru, 20), int64_t{2}); }
  void the_least_used_goes() { QCOMPARE(hits(decoded({0, 0, 1, 2, 0, 1}), CachePolicy::lfu, 20), int64_t{2}); }
  void what_is_used_farthest_ahead_goes() {
    const TokenRoutes round = decoded({0, 1, 2, 0, 1, 2, 0, 1, 2}, 3);
    QCOMPARE(hits(round, CachePolicy::lru, 20), int64_t{0});
    QCOMPARE(hits(round, CachePolicy::belady, 20), int64_t{3});
  }

  void a_call_keeps_what_it_used_whatever_the_budget() {
    TokenRoutes routes = decoded({0, 1, 0, 1});
    for (auto& token : routes.tokens) token.step = 0;
    const CacheReplay one = replay_cache(routes, CachePolicy::lru, 0);
    QCOMPARE(one.all.lookups, int64_t{2});
    QCOMPARE(one.all.hits, int64_t{0});
    QCOMPARE(hits(decoded({0, 0, 0}), CachePolicy::lru, 0), int64_t{2});
  }

  void no_policy_beats_belady() {
    testing::Drawn<std::mt19937> random(3);
    for (int round = 0; round < 30; ++round) {
      std::vector<int32_t> experts(200);
      for (int32_t& e : experts) e = static_cast<int32_t>(std::min(random() % 8, random() % 8));
      const TokenRoutes routes = decoded(experts, 8);
      for (const int64_t budget : {10, 30, 50})
        for (const CachePolicy policy : {CachePolicy::lru, CachePolicy::lfu})
          QVERIFY(hits(routes, policy, budget) <= hits(routes, CachePolicy::belady, budget));
    }
  }

  void recalls_are_shares_of_the_choices() {
    const TokenRoutes routes = decoded({1, 1, 2, 1});
    const Predictability p = predictability(routes);
    QCOMPARE(*p.temporal_lag1, 1. / 3);
    QCOMPARE(*p.static_in_sample, 3. / 4);
    QVERIFY(!p.static_from_prompt && !p.transition_held_out);
    QVERIFY(!temporal_recall(decoded({1}), 1));
  }
};

STORMCELL_TEST(CacheReplayTest)

}  // namespace stormcell::testing

#include "cache_replay_test.moc"
