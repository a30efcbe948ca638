// The counts of a test program themselves.
#include "tests/testing/counts.h"

#include <random>

#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

using stormcell::testing::Counts;
using stormcell::testing::fallen;

class CountsTest : public QObject {
  Q_OBJECT
 private slots:
  void what_was_named_and_drawn_is_counted();
  void parts_count_as_the_whole();
  void a_count_that_falls_is_named_data();
  void a_count_that_falls_is_named();
};

void CountsTest::what_was_named_and_drawn_is_counted() {
  const Counts before = stormcell::testing::counts_so_far();
  const stormcell::testing::Random random(1);
  const stormcell::testing::Drawn<std::mt19937> other(2);
  stormcell::testing::reference_path("byte-pairs");
  stormcell::testing::reference_path("byte-pairs");
  stormcell::testing::reference_path("no such file");
  const Counts after = stormcell::testing::counts_so_far();
  QCOMPARE(after.drawn - before.drawn, 2);
  QVERIFY(after.fixtures - before.fixtures >= 1);
  QVERIFY(after.fixture_bytes - before.fixture_bytes >= 1000);
}

void CountsTest::parts_count_as_the_whole() {
  stormcell::testing::reference_path("byte-pairs");
  const Counts here = stormcell::testing::counts_so_far();
  const std::string part = stormcell::testing::part_text(5);
  const Counts both = stormcell::testing::counts_of_parts({part, "functions 7\ndrawn 3\n", part});
  QCOMPARE(both.functions, int64_t{17});
  QCOMPARE(both.drawn, 2 * here.drawn + 3);
  // A fixture that both named is one.
  QVERIFY(here.fixtures > 0);
  QCOMPARE(both.fixtures, here.fixtures);
  QCOMPARE(both.fixture_bytes, here.fixture_bytes);
}

void CountsTest::a_count_that_falls_is_named_data() {
  QTest::addColumn<QString>("table");
  QTest::addColumn<QString>("found");
  QTest::newRow("nothing fell") << "# a comment\ncounts test_a functions 5 drawn 7 fixtures 0 fixture_bytes 9\n"
                                << "";
  QTest::newRow("more than before") << "counts test_a functions 4 drawn 0\n"
                                    << "";
  QTest::newRow("one function less") << "counts test_a functions 6 drawn 7\n"
                                     << "functions fell from 6 to 5\n";
  QTest::newRow("two counts") << "counts test_a drawn 8 fixture_bytes 10\n"
                              << "drawn fell from 8 to 7\nfixture_bytes fell from 10 to 9\n";
  QTest::newRow("an unknown count") << "counts test_a fuctions 6\n"
                                    << "the row has \"fuctions\", which is not a count with a number\n";
  QTest::newRow("no number") << "counts test_a drawn many\n"
                             << "the row has \"drawn\", which is not a count with a number\n";
  QTest::newRow("another program") << "counts test_ab functions 6\n"
                                   << "test_a has no row\n";
}
void CountsTest::a_count_that_falls_is_named() {
  QFETCH(QString, table);
  QFETCH(QString, found);
  const Counts counts{.functions = 5, .drawn = 7, .fixtures = 0, .fixture_bytes = 9};
  QCOMPARE(QString::fromStdString(fallen(counts, "test_a", table.toStdString())), found);
  QCOMPARE(stormcell::testing::to_text(counts, "test_a"),
           std::string("counts test_a functions 5 drawn 7 fixtures 0 fixture_bytes 9"));
}

STORMCELL_TEST(CountsTest)
#include "counts_test.moc"
