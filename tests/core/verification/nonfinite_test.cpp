// A value that is not finite verifies nothing, unless it is allowed and the same on both sides.
#include "core/verification/nonfinite.h"

#include <cmath>
#include <limits>

#include "core/verification/judge.h"
#include "tests/core/verification/routing_judge_cases.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr float kNaN = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

/// Two items of three values.
OutputValue output(std::vector<float> reals) { return {"logits", DType::f32, {2, 3}, std::move(reals), {}}; }

Verification verdict(const OutputValue& ours, const OutputValue& reference, NonFinite policy,
                     std::vector<int32_t> real = {}) {
  Judge judge(1e-4, Arithmetic::f32, policy);
  Observed r, p;
  r.outputs = {reference}, p.outputs = {ours};
  r.items = 2;
  if (!real.empty()) r.real["logits"] = std::move(real);
  judge.add(7, r, p, nullptr);
  return judge.verdict();
}

Verification routed(const Decisions& reference, const Decisions& ours, NonFinite policy = NonFinite::refused) {
  RoutingJudge judge(Arithmetic::f32, policy);
  judge.add(7, reference, ours, &ours);
  Verification v;
  judge.judge(v);
  return v;
}

}  // namespace

class NonFiniteTest : public QObject {
  Q_OBJECT
 private slots:
  void an_output_that_is_not_finite_is_refused_on_either_side_data() {
    QTest::addColumn<float>("ours");
    QTest::addColumn<float>("reference");
    QTest::addColumn<QString>("told");
    QTest::newRow("NaN beside NaN") << kNaN << kNaN << "NaN at element [1, 1] of batch 7, where the reference has NaN";
    QTest::newRow("infinity beside infinity") << kInfinity << kInfinity << "infinity at element [1, 1] of batch 7";
    QTest::newRow("NaN beside a number") << kNaN << 4.5F
                                         << "NaN at element [1, 1] of batch 7, where the reference has 4.5";
    QTest::newRow("a number beside NaN") << 4.5F << kNaN
                                         << "4.5 at element [1, 1] of batch 7, where the reference has NaN";
    QTest::newRow("minus infinity") << -kInfinity << kInfinity
                                    << "-infinity at element [1, 1] of batch 7, where the reference has infinity";
  }
  void an_output_that_is_not_finite_is_refused_on_either_side() {
    QFETCH(const float, ours);
    QFETCH(const float, reference);
    QFETCH(const QString, told);
    const Verification v =
        verdict(output({1, 2, 3, 4, ours, 6}), output({1, 2, 3, 4, reference, 6}), NonFinite::refused);
    QVERIFY(!v.passed && std::isinf(v.max_abs_diff) && std::isinf(v.max_rel_diff));
    QCOMPARE(v.reasons.size(), size_t{1});
    QVERIFY2(reasons_of(v).startsWith("output logits is not finite: " + told), qPrintable(reasons_of(v)));
    QVERIFY(!v.what_to_do.empty());
  }

  void the_same_is_allowed_and_counted_and_nothing_else() {
    const OutputValue both = output({1, kNaN, kInfinity, 4, -kInfinity, 6});
    const Verification v = verdict(both, both, NonFinite::allowed);
    QVERIFY2(v.passed, qPrintable(reasons_of(v)));
    QCOMPARE(v.nonfinite, int64_t{3});
    QCOMPARE(v.max_abs_diff, 0.0);
    for (const float other : {1.0F, kNaN, kInfinity}) {
      OutputValue ours = both;
      ours.reals[4] = other;
      QVERIFY(!verdict(ours, both, NonFinite::allowed).passed);
    }
  }

  void padding_may_hold_anything() {
    QVERIFY(
        verdict(output({1, 2, 3, kNaN, kNaN, kNaN}), output({1, 2, 3, kNaN, 5, 6}), NonFinite::refused, {1, 0}).passed);
  }

  void a_maximum_does_not_pass_over_a_difference_that_is_no_number() {
    RelativeError error;
    error.add_size(1);
    error.add_difference(std::numeric_limits<double>::quiet_NaN(), 1);
    error.add_difference(0, 1);
    QVERIFY(std::isinf(error.largest()) && std::isinf(error.largest_difference()));
  }

  void weights_and_scores_of_a_router_that_are_no_numbers_are_refused() {
    JudgedDecision r = decision("moe", top(1), 4, std::vector<int32_t>(20, 1));
    add_scores(r);
    QVERIFY(routed({r}, {replayed(r)}).reasons.empty());
    JudgedDecision weights = r;
    weights.weight[5] = kNaN;
    for (const NonFinite policy : {NonFinite::refused, NonFinite::allowed}) {
      const Verification same = routed({weights}, {replayed(weights)}, policy),
                         other = routed({weights}, {replayed(r)}, policy);
      QCOMPARE(same.reasons.empty(), policy == NonFinite::allowed);
      QVERIFY2(reasons_of(other).contains(
                   "router moe is not finite: 0.5 at the weight of cell 5 of batch 7, where the reference has NaN"),
               qPrintable(reasons_of(other)));
    }
    JudgedDecision scores = r;
    scores.scores[4 * 3 + 2] = kNaN;
    const Verification v = routed({scores}, {replayed(scores)});
    QVERIFY2(reasons_of(v).contains("router moe is not finite: NaN at the scores of cell 3"),
             qPrintable(reasons_of(v)));
    JudgedDecision margin = replayed(r);
    margin.margin[2] = kNaN;
    QVERIFY(reasons_of(routed({r}, {margin})).contains("NaN at the margin of cell 2"));
  }

  // The choices that a router computes from NaN: every score the lowest, every margin 0.
  void flips_are_not_explained_where_no_score_has_a_size() {
    JudgedDecision r = decision("moe", top(1), 4, std::vector<int32_t>(20, 0));
    r.margin.assign(20, 0);
    JudgedDecision p = replayed(r);
    p.margin.assign(20, 0);
    p.free_choice[3] = 2;
    Verification v = routed({r}, {p});
    QCOMPARE(v.flips, int64_t{1});
    QCOMPARE(v.explained_flips, int64_t{0});
    QVERIFY(!v.reasons.empty());
  }
};
STORMCELL_TEST(NonFiniteTest)

}  // namespace stormcell::testing
#include "nonfinite_test.moc"
