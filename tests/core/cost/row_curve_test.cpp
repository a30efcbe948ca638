// Times over rows: exact on planted laws, never falling, and honest about where they end.
#include "core/cost/row_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

RowCurve curve_of(const std::vector<std::pair<double, double>>& points) {
  std::vector<RowCurve::Point> out;
  for (const auto& [rows, us] : points) out.push_back({rows, us, {out.size()}});
  return RowCurve(std::move(out));
}
bool close(double a, double b) { return std::fabs(a / b - 1) < 1e-12; }

}  // namespace

class RowCurveTest : public QObject {
  Q_OBJECT
 private slots:
  void start_up_and_rate_are_followed_exactly() {
    const auto law = [](double rows) { return 20 + 0.5 * rows; };
    const RowCurve curve = curve_of({{1, law(1)}, {64, law(64)}, {1000, law(1000)}});
    for (const double rows : {1., 2., 63.5, 64., 500., 1000., 2000.})
      QVERIFY2(close(curve.us(rows), law(rows)), qPrintable(QString::number(rows)));
  }

  void between_points_of_a_bend_it_lies_above_and_never_falls() {
    const auto law = [](double rows) { return std::max(30., rows / 4); };
    const RowCurve curve = curve_of({{1, law(1)}, {16, law(16)}, {100, law(100)}, {200, law(200)}, {1600, law(1600)}});
    double before = 0;
    for (double rows = 1; rows <= 3200; ++rows) {
      QVERIFY(curve.us(rows) >= law(rows) * (1 - 1e-12) && curve.us(rows) >= before);
      before = curve.us(rows);
    }
    QVERIFY(curve.from(16) == std::vector<size_t>({1}) && curve.from(150) == std::vector<size_t>({2, 3}));
    QCOMPARE(curve.us(std::numeric_limits<double>::quiet_NaN()), law(1));
    QVERIFY(curve.from(1) == std::vector<size_t>({0}) && curve.from(9999) == std::vector<size_t>({4}));
  }

  void times_that_fall_become_their_mean() {
    const RowCurve curve = curve_of({{1, 10}, {2, 30}, {4, 20}, {8, 10}, {16, 50}});
    for (const double rows : {2., 3., 4., 8.}) QCOMPARE(curve.us(rows), 20.);
    QVERIFY(curve.us(1) == 10 && curve.us(16) == 50 && curve.us(12) == 35);
    testing::Drawn<std::mt19937> random(5);
    for (int round = 0; round < 200; ++round) {
      std::vector<std::pair<double, double>> points, slower;
      for (int i = 0; i < 12; ++i)
        points.push_back({static_cast<double>(1 + random() % 30), static_cast<double>(1 + random() % 100)});
      for (const auto& [rows, us] : points) slower.push_back({rows, 1.3 * us});
      const RowCurve noisy = curve_of(points), after = curve_of(slower);
      for (size_t i = 1; i < noisy.points().size(); ++i) QVERIFY(noisy.points()[i - 1].us <= noisy.points()[i].us);
      for (double rows = 0.5; rows < 80; rows += 0.5) QVERIFY(close(after.us(rows), 1.3 * noisy.us(rows)));
    }
  }

  void equal_rows_are_one_point() {
    const RowCurve curve = curve_of({{8, 10}, {4, 5}, {8, 20}});
    QCOMPARE(curve.points().size(), size_t{2});
    QVERIFY(curve.us(8) == 15 && curve.from(8) == std::vector<size_t>({0, 2}));
  }

  void it_ends_where_nothing_was_measured() {
    const RowCurve flat = curve_of({{64, 10}, {512, 40}}), high = curve_of({{100, 10}, {512, 40}});
    QVERIFY(flat.us(1) == 10 && flat.reaches(1) && !flat.reaches(0.5) && !flat.holds(63) && flat.holds(64));
    QVERIFY(high.us(1) == 10 && high.reaches(50) && !high.reaches(49));
    QVERIFY(flat.reaches(1024) && !flat.reaches(1025) && !flat.holds(513));
    // The slope of two that are near each other would be noise: the last stretch reaches further back.
    QVERIFY(close(curve_of({{100, 10}, {500, 50}, {510, 90}}).us(1000), 90 + 80. / 410 * 490));
  }

  void products_after_each_other_add_up() {
    const RowCurve up = curve_of({{1, 10}, {32, 10}, {128, 40}}), down = curve_of({{4, 20}, {64, 20}, {256, 80}});
    const RowCurve::Term terms[] = {{&up, 2}, {&down, 0.5}};
    const RowCurve both = RowCurve::sum(terms);
    QVERIFY(both.least() == 4 && both.most() == 128);
    for (double rows = 4; rows <= 128; rows += 0.5)
      QVERIFY(close(both.us(rows), 2 * up.us(rows) + 0.5 * down.us(rows)));
    QVERIFY(both.from(4) == std::vector<size_t>({0, 1}));
  }
};

STORMCELL_TEST(RowCurveTest)

}  // namespace stormcell::testing

#include "row_curve_test.moc"
