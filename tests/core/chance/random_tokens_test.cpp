// Random tokens are told from text-like ones, by ids and by choices, also where routers are skewed.
#include "core/chance/random_tokens.h"

#include <QTest>
#include <cmath>
#include <random>

#include "tests/core/chance/even_routers.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using RandomEngine = Drawn<std::mt19937_64>;

/// Frequent ids are as frequent as words: the id of rank r as 1 / r.
int32_t word(RandomEngine& random, int32_t vocabulary) {
  const double u = static_cast<double>(random() >> 11) * 0x1p-53;
  return static_cast<int32_t>(std::exp(u * std::log(vocabulary))) - 1;
}

/// Requests of 100 tokens. `stays`: the share of tokens that choose as the one before.
TokenRoutes routed(RandomEngine& random, int requests, double hot, double stays) {
  TokenRoutes routes;
  routes.layers = 2, routes.branches = 16, routes.k = 2, routes.branch_bytes = {1, 1};
  SkewedRouter router(routes.branches, routes.k, hot);
  for (int r = 0; r < requests; ++r)
    for (int32_t t = 0; t < 100; ++t) {
      routes.tokens.push_back({r, r, t, Phase::prefill});
      const bool again = t > 0 && static_cast<double>(random() >> 11) * 0x1p-53 < stays;
      const int64_t before = std::ssize(routes.choice) - 4;
      for (int64_t i = 0; again && i < 4; ++i) routes.choice.push_back(routes.choice[before + i]);
      for (int layer = 0; !again && layer < 2; ++layer)
        for (const int32_t branch : router.draw(random)) routes.choice.push_back(branch);
    }
  return routes;
}

}  // namespace

class RandomTokensTest : public QObject {
  Q_OBJECT
 private slots:
  void uniform_ids_look_random_and_words_do_not() {
    RandomEngine random(31);
    int uniform = 0, words = 0;
    for (int round = 0; round < 100; ++round) {
      std::vector<std::vector<int32_t>> even(4, std::vector<int32_t>(200)), text = even;
      for (auto& request : even)
        for (int32_t& id : request) id = static_cast<int32_t>(random() % 32000);
      for (auto& request : text)
        for (int32_t& id : request) id = word(random, 32000);
      const RandomTokens a = random_tokens_of(even), b = random_tokens_of(text);
      QVERIFY(a.looks_random && b.looks_random && a.tokens == 800);
      uniform += *a.looks_random, words += *b.looks_random;
    }
    QVERIFY2(uniform >= 97 && words == 0, (std::to_string(uniform) + " " + std::to_string(words)).c_str());
  }

  void a_sentence_that_is_said_again_is_not_random() {
    RandomEngine random(33);
    std::vector<int32_t> ids(400);
    for (size_t i = 0; i < ids.size(); ++i) ids[i] = i < 200 ? static_cast<int32_t>(random() % 32000) : ids[i - 200];
    const RandomTokens judged = random_tokens_of({ids});
    QVERIFY(judged.looks_random == false && *judged.repeated > 4 && *judged.related > 4);
  }

  void unrelated_choices_look_random_also_from_a_skewed_router() {
    RandomEngine random(35);
    int even = 0, skewed = 0, related = 0;
    for (int round = 0; round < 100; ++round) {
      even += random_tokens_of(routed(random, 10, 0, 0)).looks_random == true;
      skewed += random_tokens_of(routed(random, 10, 6, 0)).looks_random == true;
      related += random_tokens_of(routed(random, 10, 0, .3)).looks_random == true;
    }
    const std::string text =
        std::to_string(even) + " " + std::to_string(skewed) + " " + std::to_string(related) + " of 100";
    QVERIFY2(even >= 97 && skewed >= 97 && related == 0, text.c_str());
  }

  void few_tokens_are_not_judged() {
    RandomEngine random(37);
    QVERIFY(!random_tokens_of(routed(random, 2, 0, 0)).looks_random);
    QVERIFY(!random_tokens_of({std::vector<int32_t>(100, 1)}).looks_random);
    TokenRoutes same = routed(random, 10, 0, 0);
    for (int64_t i = 0; i < std::ssize(same.choice); ++i) same.choice[i] = i % 2 != 0;
    QVERIFY(!random_tokens_of(same).looks_random);
  }
};

STORMCELL_TEST(RandomTokensTest)

}  // namespace stormcell::testing

#include "random_tokens_test.moc"
