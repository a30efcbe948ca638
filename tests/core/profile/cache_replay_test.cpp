// Caches and guesses on choices that are small enough to follow by hand.
#include "core/profile/cache_replay.h"

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "core/profile/predictability.h"
#include "tests/core/profile/decoded_routes.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

int64_t hits(const TokenRoutes& routes, CachePolicy policy, int64_t budget) {
  return replay_cache(routes, policy, budget).all.hits;
}

/// Hits of a cache of so many equal entries, from the reference (preloading.md, section 11).
struct GoldenString {
  std::string_view keys;
  int64_t capacity, lru, lfu, belady;
};
constexpr GoldenString kStrings[] = {
    {"ABCABDABC", 2, 0, 1, 2},
    {"ABCABDABC", 3, 4, 4, 4},
    {"ABCDABCDABCD", 3, 0, 0, 6},
    {"ABCDABCDABCD", 4, 8, 8, 8},
    {"70120304230321201701", 3, 8, 9, 11},
    {"AABACADBBCAA", 2, 5, 6, 6},
    {"ABABCDCDABAB", 2, 6, 4, 6},
    {"AAAABCBCBCBCBC", 2, 11, 5, 11},
};

/// One token a step, and one layer: the keys in the order of their first use are experts 0, 1, ...
TokenRoutes routes_of(std::string_view keys) {
  std::vector<int32_t> experts;
  std::map<char, int32_t> numbers;
  for (const char key : keys)
    experts.push_back(numbers.try_emplace(key, static_cast<int32_t>(numbers.size())).first->second);
  return decoded(experts, static_cast<int32_t>(numbers.size()));
}

/// The same rules once more, without a heap: each victim is looked for among all that is resident, by its list of uses.
CacheCount plainly_replayed(const TokenRoutes& routes, CachePolicy policy, int64_t budget) {
  using Key = std::pair<int32_t, int32_t>;  // layer, expert
  struct Used {
    int64_t at, call;
  };
  std::map<Key, std::vector<Used>> uses;
  std::vector<std::vector<Key>> calls;  // with repetitions
  int64_t number = 0;
  for (size_t first = 0, end = 0; first < routes.size(); first = end) {
    while (end < routes.size() && routes.tokens[end].step == routes.tokens[first].step) ++end;
    for (int32_t layer = 0; layer < routes.layers; ++layer) {
      std::vector<Key>& call = calls.emplace_back();
      for (size_t t = first; t < end; ++t)
        for (const int32_t expert : routes.at(t, layer))
          if (expert >= 0) {
            call.emplace_back(layer, expert);
            uses[{layer, expert}].push_back({number++, std::ssize(calls) - 1});
          }
    }
  }
  std::set<Key> resident;
  CacheCount count;
  int64_t bytes = 0;
  for (int64_t c = 0; c < std::ssize(calls); ++c) {
    const std::set<Key> wanted(calls[c].begin(), calls[c].end());
    for (const Key& key : wanted) {
      ++count.lookups;
      if (resident.contains(key)) {
        ++count.hits;
        continue;
      }
      count.missed_bytes += routes.branch_bytes[key.first], bytes += routes.branch_bytes[key.first];
      resident.insert(key);
    }
    // The larger, the sooner it goes.
    const auto rank = [&](const Key& key) {
      int64_t past = 0, last = -1, next = std::numeric_limits<int64_t>::max();
      if (policy == CachePolicy::wait) {
        // A layer is visited once a step, its last time at or before this call.
        double chance = 0;
        for (int64_t visit = key.first; visit <= c; visit += routes.layers) {
          const bool used = std::find(calls[visit].begin(), calls[visit].end(), key) != calls[visit].end();
          chance = .93 * chance + (used ? 1 - .93 : 0);
        }
        for (const Used& use : uses[key])
          if (use.call <= c) last = use.at;
        int32_t until = 0;
        while ((c + 1 + until) % routes.layers != key.first) ++until;
        return std::pair(static_cast<double>(until) / routes.layers + 1 / std::max(chance, .001) - 1, -last);
      }
      for (const Used& use : uses[key]) {
        if (use.call <= c) ++past, last = use.at;
        if (use.call > c) next = std::min(next, use.call);
      }
      return policy == CachePolicy::lru   ? std::pair(-static_cast<double>(last), int64_t{0})
             : policy == CachePolicy::lfu ? std::pair(-static_cast<double>(past), -last)
                                          : std::pair(static_cast<double>(next), -last);
    };
    while (bytes > budget) {
      const Key* victim = nullptr;
      for (const Key& key : resident)
        if (!wanted.contains(key) && (!victim || rank(key) > rank(*victim))) victim = &key;
      if (!victim) break;
      bytes -= routes.branch_bytes[victim->first];
      resident.erase(Key(*victim));
    }
  }
  return count;
}

/// Steps of one to three tokens through three layers whose experts are unequally large; some choices are missing.
TokenRoutes drawn_routes(std::mt19937& random) {
  TokenRoutes routes;
  routes.layers = 3, routes.branches = 6, routes.k = 2, routes.branch_bytes = {10, 7, 13};
  for (int64_t step = 0; step < 25; ++step) {
    const int64_t tokens = 1 + static_cast<int64_t>(random() % 3);
    for (int64_t t = 0; t < tokens; ++t) {
      routes.tokens.push_back({t, step, static_cast<int32_t>(step), step < 3 ? Phase::prefill : Phase::decode});
      for (int32_t layer = 0; layer < routes.layers; ++layer) {
        const auto one = static_cast<int32_t>(std::min(random() % 6, random() % 6));
        const auto other = static_cast<int32_t>(random() % 6);
        routes.choice.push_back(one);
        routes.choice.push_back(other == one || random() % 5 == 0 ? -1 : other);
      }
    }
  }
  return routes;
}

}  // namespace

class CacheReplayTest : public QObject {
  Q_OBJECT
 private slots:
  void policies_are_found_by_their_words() {
    for (const CachePolicy policy : {CachePolicy::lru, CachePolicy::lfu, CachePolicy::belady, CachePolicy::wait})
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

  void golden_strings_have_their_hits() {
    for (const GoldenString& g : kStrings) {
      const TokenRoutes routes = routes_of(g.keys);
      QCOMPARE(hits(routes, CachePolicy::lru, 10 * g.capacity), g.lru);
      QCOMPARE(hits(routes, CachePolicy::lfu, 10 * g.capacity), g.lfu);
      QCOMPARE(hits(routes, CachePolicy::belady, 10 * g.capacity), g.belady);
    }
  }

  void every_policy_is_that_of_a_plain_search_for_victims() {
    std::mt19937 random(17);
    for (int round = 0; round < 20; ++round) {
      const TokenRoutes routes = drawn_routes(random);
      std::vector<CacheCase> cases;
      for (const int64_t budget : {0, 20, 55, 100, 180})
        for (const CachePolicy policy : {CachePolicy::lru, CachePolicy::lfu, CachePolicy::belady, CachePolicy::wait})
          cases.push_back({policy, budget});
      const std::vector<CacheReplay> replays = replay_caches(routes, cases);
      QCOMPARE(replays.size(), cases.size());
      for (size_t i = 0; i < cases.size(); ++i) {
        const CacheCount plain = plainly_replayed(routes, cases[i].policy, cases[i].budget_bytes);
        QCOMPARE(replays[i].all.lookups, plain.lookups);
        QCOMPARE(replays[i].all.hits, plain.hits);
        QCOMPARE(replays[i].all.missed_bytes, plain.missed_bytes);
        QVERIFY(replays[i].decode.lookups < replays[i].all.lookups);
      }
    }
  }

  void a_scan_of_more_keys_than_fit_is_lost_on_lru_and_not_on_belady() {
    // Belady hits, of n keys in turn through C < n entries, (C - 1) / (n - 1) in the long run.
    std::vector<int32_t> experts(5000);
    for (size_t i = 0; i < experts.size(); ++i) experts[i] = static_cast<int32_t>(i % 5);
    const TokenRoutes scan = decoded(experts, 5);
    QCOMPARE(hits(scan, CachePolicy::lru, 30), int64_t{0});
    const auto share = static_cast<double>(hits(scan, CachePolicy::belady, 30)) / 5000.;
    QVERIFY2(share > .495 && share < .505, std::to_string(share).c_str());
  }

  void demand_is_that_of_steps_that_decode() {
    // A prompt of two tokens takes experts 0 and 1, then one token a step takes 2, 0 and 2.
    TokenRoutes routes = decoded({0, 1, 2, 0, 2});
    routes.tokens[0].phase = routes.tokens[1].phase = Phase::prefill;
    routes.tokens[1].step = 0;
    const CacheDemand demand = cache_demand(routes);
    QVERIFY(demand.decode);
    QCOMPARE(demand.tokens, int64_t{3});
    QCOMPARE(demand.steps, int64_t{3});
    QCOMPARE(demand.bytes, int64_t{30});
    QCOMPARE(demand.step_bytes, int64_t{10});
    QCOMPARE(demand.used_bytes, int64_t{30});
    for (auto& token : routes.tokens) token.phase = Phase::forward;
    const CacheDemand all = cache_demand(routes);
    QVERIFY(!all.decode);
    QCOMPARE(all.tokens, int64_t{5});
    QCOMPARE(all.steps, int64_t{4});
    QCOMPARE(all.bytes, int64_t{50});
  }

  void no_policy_beats_belady() {
    testing::Drawn<std::mt19937> random(3);
    for (int round = 0; round < 30; ++round) {
      std::vector<int32_t> experts(200);
      for (int32_t& e : experts) e = static_cast<int32_t>(std::min(random() % 8, random() % 8));
      const TokenRoutes routes = decoded(experts, 8);
      for (const int64_t budget : {10, 30, 50})
        for (const CachePolicy policy : {CachePolicy::lru, CachePolicy::lfu, CachePolicy::wait})
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
