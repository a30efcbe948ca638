// Drawn tokens: the tokens of the Python reference, by the device's kernel, the oracle's and the judge; and how near a
// tie is.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>

#include "core/cpu/kernels/sample.h"
#include "core/oracle/reference/sample.h"
#include "core/verification/token_choice.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

nlohmann::json sampling_cases() {
  std::ifstream file(reference_path("sampling/cases.json"));
  return nlohmann::json::parse(file);
}

/// As tests/reference/make_sampling.py makes them.
std::vector<float> logits_of(uint64_t salt, int64_t count, int64_t span) {
  std::vector<float> logits;
  for (int64_t i = 0; i < count; ++i) {
    const auto place = static_cast<int64_t>(mixed_bits(salt * 1000003 + static_cast<uint64_t>(i)) %
                                            static_cast<uint64_t>(128 * span + 1));
    logits.push_back(static_cast<float>(place - 64 * span) / 64.0F);
  }
  return logits;
}

int32_t by_kernel(const std::vector<float>& logits, const SamplingRule& rule, TokenPlace place) {
  std::vector<int32_t> order(logits.size());
  return cpu::sampled_token(
      logits, rule, draw_key(rule.seed, static_cast<int32_t>(place.item), static_cast<int32_t>(place.turn)), order);
}

}  // namespace

class SamplingTest : public QObject {
  Q_OBJECT
 private slots:
  void draws_are_those_of_the_reference() {
    const nlohmann::json file = sampling_cases();
    for (const nlohmann::json& number : file["gumbel"])
      QVERIFY(std::fabs(gumbel(number[0].get<uint64_t>(), number[1].get<int32_t>()) - number[2].get<double>()) < 1e-12);
    for (const nlohmann::json& c : file["cases"]) {
      const SamplingRule rule{c["seed"].get<uint64_t>(), c["temperature"].get<double>(), c["top_k"].get<int64_t>(),
                              c["top_p"].get<double>()};
      const TokenPlace place{c["item"].get<int64_t>(), c["turn"].get<int64_t>()};
      const std::vector<float> logits =
          logits_of(c["salt"].get<uint64_t>(), c["count"].get<int64_t>(), c["span"].get<int64_t>());
      const auto token = c["token"].get<int32_t>();
      QVERIFY2(by_kernel(logits, rule, place) == token, c.dump().c_str());
      QVERIFY2(TokenChoice(rule).token(logits, place) == token, c.dump().c_str());
      QCOMPARE(TokenChoice(rule).margin(logits, token, token, place), 0.0);
    }
    QCOMPARE(file["cases"].size(), size_t{400});
  }

  void tokens_come_as_often_as_they_are_probable() {
    const std::vector<float> logits = {0, 1, 2, -1, NAN};
    const SamplingRule rule{11, 0.5, 3, 1};
    std::vector<double> weights = {std::exp(0.0), std::exp(2.0), std::exp(4.0)};  // of the three largest
    const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
    constexpr int kDraws = 20000;
    std::vector<int> count(5);
    for (int turn = 0; turn < kDraws; ++turn) ++count[static_cast<size_t>(by_kernel(logits, rule, {3, turn}))];
    for (size_t i = 0; i < 3; ++i) {
      const double share = weights[i] / sum, error = std::sqrt(share * (1 - share) / kDraws);
      QVERIFY2(std::fabs(count[i] / double{kDraws} - share) < 5 * error, std::to_string(i).c_str());
    }
    QCOMPARE(count[3] + count[4], 0);
  }

  void one_candidate_is_the_largest_logit() {
    for (uint64_t salt = 0; salt < 50; ++salt) {
      const std::vector<float> logits = logits_of(salt, 40, 4);
      const int32_t greedy = TokenChoice().token(logits, {});
      QCOMPARE(by_kernel(logits, {salt, 1, 1, 1}, {1, 2}), greedy);
      QCOMPARE(by_kernel(logits, {salt, 1, 0, 1e-9}, {1, 2}), greedy);
    }
  }

  /// Whatever error a margin says is enough is enough, and half of it is not: by moving each logit against the chosen
  /// token and for the other one.
  void a_margin_is_the_error_that_changes_the_token() {
    int changed = 0;
    for (uint64_t salt = 0; salt < 200; ++salt) {
      const std::vector<float> logits = logits_of(salt, 12, 4);
      const SamplingRule rule{salt, 0.8, 0, 1};
      const TokenPlace place{static_cast<int64_t>(salt % 5), 3};
      const TokenChoice choice(rule);
      const int32_t chosen = choice.token(logits, place);
      for (int32_t other = 0; other < 12; ++other) {
        if (other == chosen) continue;
        const double margin = choice.margin(logits, chosen, other, place);
        QVERIFY(std::isfinite(margin) && margin > 0);
        const auto with = [&](double error) {
          std::vector<float> moved = logits;
          for (float& logit : moved) logit -= static_cast<float>(error / 2);
          moved[static_cast<size_t>(other)] = logits[static_cast<size_t>(other)] + static_cast<float>(error / 2);
          return choice.token(moved, place);
        };
        QVERIFY(with(margin * 0.9) != other);
        QCOMPARE(with(margin * 1.01 + 1e-5), other);
        ++changed;
      }
    }
    QCOMPARE(changed, 200 * 11);
  }

  void a_token_beside_the_candidates_is_as_far_as_the_border() {
    const std::vector<float> logits = {5, 4.999F, 1, 0};
    const auto margin = [&](const SamplingRule& rule, int32_t other) {
      const TokenChoice choice(rule);
      return choice.margin(logits, choice.token(logits, {}), other, {});
    };
    QCOMPARE(by_kernel(logits, {0, 1, 1, 1}, {}), 0);
    QVERIFY(margin({0, 1, 1, 1}, 1) < 0.01);  // rounding may exchange the two
    QVERIFY(margin({0, 1, 1, 1}, 2) > 3.9);
    // The first two have 0.973 of the probability together.
    QVERIFY(margin({0, 1, 0, 0.9}, 2) > 0.5);
    QVERIFY(std::isinf(margin({0, 1, 1, 1}, 4)));
  }
};
STORMCELL_TEST(SamplingTest)

}  // namespace stormcell::testing
#include "sampling_test.moc"
