// Texts that the host ended, and tokens that were drawn, judged by hand.
#include <QString>

#include "core/bench/ready_plan.h"
#include "core/verification/verify_decoded.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

Observed by_hand(const std::vector<int32_t>& tokens, std::vector<float> logits) {
  Observed o;
  o.outputs = {{std::string(kGenerated), DType::i32, {4}, {}, tokens},
               {std::string(kLogits), DType::f32, {4, 3}, std::move(logits), {}}};
  return o;
}
QString said(const DecodedVerification& v) {
  QString text = QString::fromStdString(v.text) + "; ";
  for (const std::string& reason : v.reasons) text += QString::fromStdString(reason) + "; ";
  return text;
}
Batch two_sequences() {
  Batch batch;
  batch.items = {10, 11};
  return batch;
}

const std::vector<float> kClear = {9, 1, 0, 1, 8, 0, 0, 1, 7, 6, 1, 0};  // tokens 0 1 | 2 0

}  // namespace

class EndedTextsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_text_that_the_host_ended_counts_up_to_there() {
    const std::vector<int32_t> expected = {0, 1, 2, 0}, ours = {0, -1, 2, 0};
    const std::vector<int64_t> stopped = {1, kNotStopped};
    const auto judged = [&](std::span<const int64_t> where) {
      DecodedJudge judge(1e-4, Arithmetic::f32, 2);
      judge.add(two_sequences(), by_hand(expected, kClear), by_hand(expected, kClear), by_hand(expected, kClear), ours,
                where);
      return judge.verdict();
    };
    const DecodedVerification v = judged(stopped);
    QVERIFY2(v.passed, qPrintable(said(v)));
    QCOMPARE(v.compared, int64_t{3});
    QCOMPARE(v.equal, int64_t{2});
    QVERIFY(!judged({}).passed);
    // A token before its end is wrong as ever.
    DecodedJudge wrong(1e-4, Arithmetic::f32, 2);
    wrong.add(two_sequences(), by_hand(expected, kClear), by_hand(expected, kClear), by_hand(expected, kClear),
              {2, -1, 2, 0}, stopped);
    QVERIFY(!wrong.verdict().passed);
  }

  void a_draw_that_differs_has_to_be_a_near_tie() {
    const SamplingRule rule{3, 0.5, 2, 1};
    const TokenChoice choice(rule);
    const std::span<const float> all(kClear);
    std::vector<int32_t> expected;  // of sequences 10 and 11, two turns each
    for (int64_t s = 0; s < 2; ++s)
      for (int64_t t = 0; t < 2; ++t)
        expected.push_back(choice.token(all.subspan(static_cast<size_t>(6 * s + 3 * t), 3), {10 + s, t}));
    const auto judged = [&](const std::vector<int32_t>& ours) {
      DecodedJudge judge(1e-4, Arithmetic::f32, 2, "the oracle", NonFinite::refused, choice);
      judge.add(two_sequences(), by_hand(expected, kClear), by_hand(expected, kClear), by_hand(expected, kClear), ours);
      return judge.verdict();
    };
    QVERIFY2(judged(expected).passed, qPrintable(said(judged(expected))));
    std::vector<int32_t> other = expected;
    other[0] = (other[0] + 1) % 3;
    QVERIFY(!judged(other).passed);
  }
};
STORMCELL_TEST(EndedTextsTest)

}  // namespace stormcell::testing
#include "ended_texts_test.moc"
