// The line that says how a plan equals its model: exactly and numerically.
#include "core/summary/verification_figures.h"
#include "tests/testing/testing.h"

using namespace stormcell;

class EqualityTextTest : public QObject {
  Q_OBJECT
  static Verification verified() {
    Verification v;
    v.passed = true;
    v.batches = 3, v.baseline_batches = 207;
    v.exact.emplace().draws = 4;
    v.exact->equal = true;
    return v;
  }

 private slots:
  void an_equal_plan() {
    Verification v = verified();
    QCOMPARE(equality_text(v, 210), std::string("Equal exactly (4 draws) and numerically (210 of 210 batches)"));
    v.exact->draws = 16, v.exact->branches_without_cells = 2;
    QCOMPARE(equality_text(v, 400),
             std::string("Equal exactly (16 draws, 2 branches without cells) and numerically (210 of 400 batches)"));
    v.passed = false;
    QCOMPARE(equality_text(v, 400),
             std::string("Equal exactly (16 draws, 2 branches without cells), not numerically (210 of 400 batches)"));
  }
  void batches_compared_in_part_count_once() {
    Verification v = verified();
    v.parts = {{0, 8, 128}};
    v.baseline_batches = 5;
    QCOMPARE(equality_text(v, 10), std::string("Equal exactly (4 draws) and numerically (7 of 10 batches)"));
  }
  void an_unequal_plan() {
    Verification v = verified();
    v.passed = false;
    v.exact->equal = false;
    v.exact->first_difference = "scores of router a differ, in draw 1";
    QCOMPARE(equality_text(v, 210), std::string("Not equal exactly: scores of router a differ, in draw 1"));
  }
  void a_plan_that_was_not_proved() {
    Verification v = verified();
    v.exact->equal.reset();
    v.exact->reason = "it needs more time than a proof may take";
    QCOMPARE(equality_text(v, 210),
             std::string("Equal numerically (210 of 210 batches), not proved exactly: it needs more time than a proof "
                         "may take"));
    v.exact.reset();
    QCOMPARE(equality_text(v, 210), std::string());
  }
};
STORMCELL_TEST(EqualityTextTest)
#include "equality_text_test.moc"
