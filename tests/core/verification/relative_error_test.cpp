// Differences as shares of sizes: outliers measure themselves alone, what is small by chance is measured by the others.
#include "core/verification/relative_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/verification/output_judge.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct Thing {
  double size = 0, difference = 0;
};
RelativeError shown(const std::vector<Thing>& things) {
  RelativeError error;
  for (const Thing& t : things) error.add_size(t.size), error.add_difference(t.difference, t.size);
  return error;
}
bool near(double a, double b) { return std::fabs(a - b) <= 1e-12 * std::max(std::fabs(a), std::fabs(b)); }

/// An output of two values an item, the larger one as told.
OutputValue output_of_items(const std::vector<float>& of_items) {
  OutputValue o{"y", DType::f32, {static_cast<int64_t>(of_items.size()), 2}, {}, {}};
  for (const float y : of_items) o.reals.insert(o.reals.end(), {y, y / 2});
  return o;
}

}  // namespace

class RelativeErrorTest : public QObject {
  Q_OBJECT
 private slots:
  void an_outlier_measures_itself_alone() {
    std::vector<Thing> things(9, {1, 0});
    things.push_back({1e6, 1});
    QVERIFY(near(shown(things).largest(), 1e-6));
    things[3].difference = 0.01;
    QVERIFY(near(shown(things).largest(), 0.01));
    QCOMPARE(shown(things).largest_difference(), 1.0);
  }

  void up_to_half_may_be_outliers() {
    QVERIFY(near(shown({{1, 0.01}, {1, 0}, {1e9, 0}, {1e9, 0}}).largest(), 0.01));
    RelativeError upper(Median::upper);
    for (const double size : {1e-5, 0.2}) upper.add_size(size);
    QCOMPARE(upper.usual_size(), 0.2);
  }

  void sizes_of_one_kind_are_measured_by_the_largest() {
    QVERIFY(near(shown({{1, 0.03}, {2, 0}, {3, 0}}).largest(), 0.01));
  }

  void what_is_small_by_chance_is_measured_by_the_others() {
    QVERIFY(near(shown({{1e-6, 1e-6}, {1, 0}, {1, 0}}).largest(), 1e-6));
    QVERIFY(near(shown({{0, 1e-6}, {2, 0}, {2, 0}}).largest(), 5e-7));
  }

  void of_nothing_but_zeros_the_difference_counts() {
    QCOMPARE(shown({}).largest(), 0.0);
    QCOMPARE(shown({{0, 0.25}, {0, 0}}).largest(), 0.25);
    QVERIFY(std::isinf(shown({{1, 0}, {1, std::numeric_limits<double>::infinity()}}).largest()));
  }

  void many_things_are_measured_as_one_by_one() {
    Random random(3);
    for (int round = 0; round < 200; ++round) {
      std::vector<Thing> things;
      for (int64_t n = random.between(1, 40); n > 0; --n)
        things.push_back({std::exp2(6 * random.normal()), random.chance(0.5) ? std::exp2(8 * random.normal() - 9) : 0});
      const RelativeError error = shown(things);
      const double usual = error.usual_size();
      double expected = 0;
      for (const Thing& t : things) expected = std::max(expected, t.difference / std::max(t.size, usual));
      QVERIFY(near(error.largest(), expected));
      // It is one of the sizes, no smaller than the lower median and less than eight times as large.
      std::sort(things.begin(), things.end(), [](const Thing& a, const Thing& b) { return a.size < b.size; });
      const double median = things[(things.size() - 1) / 2].size;
      QVERIFY(usual >= median && usual < 8 * median);
      QVERIFY(std::any_of(things.begin(), things.end(), [&](const Thing& t) { return t.size == usual; }));
    }
  }

  void an_outlier_among_the_outputs_does_not_hide_what_is_wrong_with_the_others_data() {
    QTest::addColumn<bool>("one_batch");
    QTest::newRow("of another batch") << false;
    QTest::newRow("of the same batch") << true;
  }
  void an_outlier_among_the_outputs_does_not_hide_what_is_wrong_with_the_others() {
    QFETCH(const bool, one_batch);
    OutputJudge judge;
    const std::vector<float> first = {1e6F, 1, 1}, second = {1, 1, 1};
    std::vector<float> wrong = second;
    wrong[1] = 1.01F;
    if (one_batch) {
      std::vector<float> both = first, ours = first;
      both.insert(both.end(), second.begin(), second.end()), ours.insert(ours.end(), wrong.begin(), wrong.end());
      judge.add({output_of_items(ours)}, {output_of_items(both)}, {}, 6);
    } else {
      judge.add({output_of_items(first)}, {output_of_items(first)}, {}, 3);
      judge.add({output_of_items(wrong)}, {output_of_items(second)}, {}, 3);
    }
    QCOMPARE(judge.differences().size(), size_t{1});
    QVERIFY2(std::fabs(judge.differences()[0].max_rel_diff - 0.01) < 1e-6,
             qPrintable(QString::number(judge.differences()[0].max_rel_diff)));
  }

  void items_whose_outputs_are_small_are_no_errors() {
    // One number an item, which may be near 0 by chance.
    OutputJudge judge;
    const OutputValue reference{"y", DType::f32, {4}, {1e-6F, 0.5F, -0.8F, 1}, {}};
    OutputValue ours = reference;
    ours.reals[0] += 1e-6F;
    judge.add({ours}, {reference}, {}, 4);
    QVERIFY(judge.differences()[0].max_rel_diff < 1e-5);
  }
};

STORMCELL_TEST(RelativeErrorTest)

}  // namespace stormcell::testing

#include "relative_error_test.moc"
