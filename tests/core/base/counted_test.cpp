#include "core/base/counted.h"

#include "tests/testing/testing.h"

using namespace stormcell;

class CountedTest : public QObject {
  Q_OBJECT

 private slots:
  void digits_stand_in_groups_of_three() {
    QCOMPARE(with_commas(0), std::string("0"));
    QCOMPARE(with_commas(999), std::string("999"));
    QCOMPARE(with_commas(1000), std::string("1,000"));
    QCOMPARE(with_commas(1234567), std::string("1,234,567"));
    QCOMPARE(with_commas(-999), std::string("-999"));
    QCOMPARE(with_commas(-1000), std::string("-1,000"));
    QCOMPARE(with_commas(INT64_MIN), std::string("-9,223,372,036,854,775,808"));
  }

  void one_is_one_and_all_else_are_many() {
    QCOMPARE(counted(1, "batch"), std::string("1 batch"));
    for (const int64_t n : {0, 2, 210}) QCOMPARE(counted(n, "batch"), std::to_string(n) + " batches");
    QCOMPARE(counted(12345, "cell"), std::string("12,345 cells"));
    QCOMPARE(counted(1, "tensor that nothing reads", "tensors that nothing reads"),
             std::string("1 tensor that nothing reads"));
    QCOMPARE(counted(2, "tensor that nothing reads", "tensors that nothing reads"),
             std::string("2 tensors that nothing reads"));
  }

  void nouns_are_spelt_as_in_english() {
    const std::pair<const char*, const char*> rules[] = {
        {"branch", "branches"}, {"mesh", "meshes"}, {"pass", "passes"},  {"box", "boxes"},
        {"entry", "entries"},   {"key", "keys"},    {"route", "routes"}, {"y", "ys"}};
    for (const auto& [one, many] : rules) QCOMPARE(noun_for(2, one), std::string(many));
  }
};

STORMCELL_TEST(CountedTest)

#include "counted_test.moc"
