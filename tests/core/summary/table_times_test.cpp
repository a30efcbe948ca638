// Times beside each other have one unit.
#include "core/summary/table_times.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class TableTimesTest : public QObject {
  Q_OBJECT
 private slots:
  void the_longest_time_says_the_unit() {
    const TableTimes ms({0.02, 0.1}), us({0.02, -0.0999}), none(std::vector<double>{});
    QVERIFY(ms.unit() == "ms" && us.unit() == "us" && none.unit() == "ms");
    QVERIFY(!ms.in_us() && us.in_us() && !none.in_us());
    QCOMPARE(ms.text(0.02), std::string("0.0200"));
    QCOMPARE(us.text(0.02), std::string("20.0"));
    QCOMPARE(us.text(-0.00035), std::string("-0.350"));
  }

  void nothing_has_an_exponent() {
    const TableTimes ms({1., 2.});
    QCOMPARE(ms.text(3.5e-6), std::string("0.00000350"));
    QCOMPARE(ms.text(1e-10), std::string("0"));
    QCOMPARE(ms.text(1.5e6), std::string("1500000"));
    QCOMPARE(ms.text(std::optional<double>()), std::string("-"));
    QCOMPARE(ms.text(std::numeric_limits<double>::infinity()), std::string("inf"));
  }
};

STORMCELL_TEST(TableTimesTest)

}  // namespace stormcell::testing

#include "table_times_test.moc"
