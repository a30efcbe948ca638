// The speed-up of pairs, computed by hand.
#include "core/measuring/paired_speedup.h"

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class PairedSpeedupTest : public QObject {
  Q_OBJECT
 private slots:
  void batches_that_gain_alike_have_the_median_of_all_pairs_by_their_time() {
    // Three visits in four lie at 2 on the short batches, but the long one weighs more than they do together.
    std::vector<PairedVisit> visits;
    for (int32_t round = 0; round < 8; ++round)
      for (int64_t batch = 0; batch < 4; ++batch) {
        const double ratio = (round + batch) % 4 == 0 ? 1 : 2;
        visits.push_back({batch, round, batch == 0 ? 9.0 : 1.0, {ratio, ratio}, 1});
      }
    QCOMPARE(batch_gains(visits), BatchGains::alike);
    QCOMPARE(paired_ratio(visits).value, 2.0);
    QCOMPARE(paired_ratio({}).value, 1.0);
  }

  void batches_that_gain_unlike_and_ran_often_have_a_median_each() {
    // Three of five milliseconds stay, one becomes a half and one a quarter: 5 / 3.75. A weighted median says 1.
    std::vector<PairedVisit> visits;
    for (int32_t round = 0; round < 9; ++round)
      for (const auto& [batch, ratio, ms] : {std::tuple{0, 1.0, 3.0}, {1, 2.0, 1.0}, {2, 4.0, 1.0}}) {
        // One visit of each is disturbed.
        const double second = ms / ratio * (round == batch ? 1.7 : 1);
        visits.push_back({batch, round, ms, {ms, ms}, second});
      }
    QCOMPARE(batch_gains(visits), BatchGains::unlike);
    const Ratio r = paired_ratio(visits);
    QCOMPARE(r.basis, RatioBasis::batches);
    QVERIFY2(std::fabs(r.value - 5 / 3.75) < 1e-12, std::to_string(r.value).c_str());
    QVERIFY(r.ci95[0] <= r.value && r.value <= r.ci95[1]);
  }

  void batches_that_gain_unlike_and_ran_twice_are_summed() {
    // Every third of 60 batches takes a third of its time; every visit is a little off.
    std::vector<PairedVisit> visits;
    for (int64_t batch = 0; batch < 60; ++batch)
      for (int32_t time = 0; time < 2; ++time) {
        const double off = 1 + 0.001 * static_cast<double>((7 * batch + 3 * time) % 11 - 5);
        visits.push_back({batch, static_cast<int32_t>((batch + 30 * time) % 20), 1, {off}, batch % 3 ? 1.0 : 1.0 / 3});
      }
    QCOMPARE(batch_gains(visits), BatchGains::unlike);
    const Ratio r = paired_ratio(visits);
    QCOMPARE(r.basis, RatioBasis::totals);
    QVERIFY2(std::fabs(r.value - 60 / (40 + 20 / 3.0)) < 0.003, std::to_string(r.value).c_str());
  }

  void visits_that_could_not_tell_are_summed_too() {
    // Seven batches once each: nothing says that they gain alike.
    std::vector<PairedVisit> visits;
    for (int64_t batch = 0; batch < 7; ++batch)
      visits.push_back({batch, static_cast<int32_t>(batch), 1, {1, 1}, batch < 3 ? 0.5 : 1.0});
    QCOMPARE(batch_gains(visits), BatchGains::unknown);
    const Ratio r = paired_ratio(visits);
    QVERIFY(r.basis == RatioBasis::totals && std::fabs(r.value - 7 / 5.5) < 1e-12);
    // A single batch gains like itself.
    for (PairedVisit& v : visits) v.batch = 0;
    QCOMPARE(batch_gains(visits), BatchGains::alike);
    QCOMPARE(paired_ratio(visits).value, 1.0);
  }

  void a_few_pairs_that_were_disturbed_change_nothing() {
    std::vector<PairedVisit> visits;
    for (int32_t round = 0; round < 10; ++round) {
      for (int i = 0; i < 3; ++i) visits.push_back({0, round, 1, {1.1 + 0.001 * i}, 1});
      visits.push_back({0, round, 1, {round % 2 ? 1.9 : 0.6}, 1});
    }
    const Ratio r = paired_ratio(visits);
    QVERIFY(std::fabs(r.value - 1.101) < 1e-9 && r.ci95[0] >= 1.1 - 1e-9 && r.ci95[1] <= 1.102 + 1e-9);
  }

  void few_rounds_make_the_interval_wider() {
    // t of six degrees of freedom and the factor sqrt(7 / 6): 2.643 deviations instead of 1.96.
    QVERIFY(std::fabs(tail_of_interval(7) - 0.5 * std::erfc(2.447 * std::sqrt(7.0 / 6) / std::sqrt(2.0))) < 2e-4);
    QVERIFY(std::fabs(tail_of_interval(100000) - 0.025) < 1e-4);
    QVERIFY(tail_of_interval(7) < tail_of_interval(20));
    const Ratio one = paired_ratio({{0, 0, 1, {2}, 1}});
    QVERIFY(one.ci95[0] == one.value && one.ci95[1] == one.value);
  }
};

STORMCELL_TEST(PairedSpeedupTest)

}  // namespace stormcell::testing

#include "paired_speedup_test.moc"
