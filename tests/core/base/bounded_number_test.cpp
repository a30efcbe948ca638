#include <cstdint>

#include "core/base/bounded_number.h"

#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class BoundedNumberTest : public QObject {
  Q_OBJECT
 private slots:
  void the_whole_word_is_the_number() {
    QCOMPARE(bounded_number<int64_t>("--n", "42", {1}), int64_t{42});
    QCOMPARE(bounded_number<uint64_t>("--n", "18446744073709551615", {}), UINT64_MAX);
    QCOMPARE(bounded_number<double>("--x", "0.5", {}), 0.5);
    for (const char* word : {"", "4x", " 4", "4.5", "0x4", "9223372036854775808"})
      QVERIFY2(!complaint([&] { bounded_number<int64_t>("--n", word, {}); }).empty(), word);
    for (const char* word : {"nan", "inf", "-1", "1e999"})
      QVERIFY2(!complaint([&] { bounded_number<double>("--x", word, {}); }).empty(), word);
  }
  void both_ends_belong_to_the_bounds() {
    QCOMPARE(bounded_number<int>("--n", "1", {1, 1024}), 1);
    QCOMPARE(bounded_number<int>("--n", "1024", {1, 1024}), 1024);
    QCOMPARE(complaint([] {
               bounded_number<int>("--n", "1025", {1, 1024});
             }),
             std::string("--n: \"1025\" does not fit (give a whole number from 1 to 1024)"));
    QCOMPARE(complaint([] { bounded_number<int64_t>("--n", "0", {1}); }),
             std::string("--n: \"0\" does not fit (give a whole number from 1 on)"));
    QCOMPARE(complaint([] { bounded_number<double>("--x", "-1", {}); }),
             std::string("--x: \"-1\" does not fit (give a number from 0 on)"));
    QCOMPARE(complaint([] {
               check_bounds("--n", int64_t{5000}, {1, 1024});
             }),
             std::string("--n: \"5000\" does not fit (give a whole number from 1 to 1024)"));
    check_bounds("--n", int64_t{7}, {1, 1024});
  }
};

STORMCELL_TEST(BoundedNumberTest)

}  // namespace stormcell::testing

#include "bounded_number_test.moc"
