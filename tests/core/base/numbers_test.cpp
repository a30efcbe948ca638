#include <QTest>  // moc cannot read <compare> where it is the first header of all

#include "core/base/numbers.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {

class NumbersTest : public QObject {
  Q_OBJECT
 private slots:
  void sizes_are_read() {
    const auto bytes = [](std::string_view text) { return parse_bytes(text).value_or(Bytes(-1)).value; };
    QCOMPARE(bytes("0"), int64_t{0});
    QCOMPARE(bytes("4096"), int64_t{4096});
    QCOMPARE(bytes("12B"), int64_t{12});
    QCOMPARE(bytes("1.5kB"), int64_t{1500});
    QCOMPARE(bytes("679MB"), int64_t{679000000});
    QCOMPARE(bytes("4 GB"), int64_t{4000000000});
    QCOMPARE(bytes("2KiB"), int64_t{2048});
    QCOMPARE(bytes("0.5MiB"), int64_t{1} << 19);
    QCOMPARE(bytes("4000MiB"), int64_t{4000} << 20);
    QCOMPARE(bytes("3GiB"), int64_t{3} << 30);
    QCOMPARE(bytes("1TiB"), int64_t{1} << 40);
    for (const char* wrong :
         {"", "GB", "-1", "1e3", "4G", "4gb", "1 GB ", "1  GB", "nan", "inf", "0x10", "9999999999TiB", "4GBs"})
      QVERIFY2(!parse_bytes(wrong), wrong);
  }
};
STORMCELL_TEST(NumbersTest)

}  // namespace stormcell::testing
#include "numbers_test.moc"
