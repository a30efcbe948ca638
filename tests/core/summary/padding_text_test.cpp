#include "core/summary/padding_text.h"

#include "tests/testing/testing.h"

using namespace stormcell;

class PaddingTextTest : public QObject {
  Q_OBJECT

  static RunSummaryFigures padded() {
    RunSummaryFigures f;
    f.dataset.cells = f.dataset.cells_as_given = 83786;
    f.dataset.cells_without_padding = 45336, f.dataset.cells_by_length = 47012;
    return f;
  }

 private slots:
  void what_padding_costs_is_counted() {
    QCOMPARE(
        padding_text(padded()),
        std::string(
            "46 % of the cells as given are padding (83,786 cells, 45,336 of them real); batches of like length would "
            "compute 47,012, 3.6 % padding"));
  }
  void batches_of_like_length_say_so() {
    RunSummaryFigures f = padded();
    f.dataset.by_length = true, f.dataset.cells = f.dataset.cells_by_length;
    QVERIFY(padding_text(f).ends_with("batches of like length compute 47,012, 3.6 % padding (this run)"));
  }
  void a_speed_is_told_only_where_it_was_measured() {
    RunSummaryFigures f = padded();
    f.passes.push_back({"unpad", true, "padding is not computed"});
    QVERIFY(padding_text(f).ends_with("; Skip padding computes the real ones alone"));
    f.passes[0].speedup_own = 1.584, f.passes[0].speedup_own_ci95 = {{1.5, 1.66}};
    QVERIFY(padding_text(f).ends_with("real ones alone: 1.58x the speed [1.5, 1.66], measured"));
    // An interval that holds 1 tells neither a gain nor a loss.
    f.passes[0].speedup_own = 1.27, f.passes[0].speedup_own_ci95 = {{0.189, 2.9}};
    QVERIFY(padding_text(f).ends_with("real ones alone: no measurable difference in speed [0.189, 2.9]"));
    f.passes[0].applied = false, f.passes[0].speedup_own = {};
    QVERIFY(padding_text(f).find("unpad") == std::string::npos);
  }
  void a_plan_computes_no_padding_where_a_pass_that_leaves_it_out_stayed() {
    RunSummaryFigures f = padded();
    QVERIFY(!leaves_padding_out(f));
    f.passes.push_back({"dead-path", true, "applied"});
    f.passes.push_back({"skip", true, "applied"});
    f.passes.back().leaves_padding_out = false;
    QVERIFY(!leaves_padding_out(f));
    f.passes.back().leaves_padding_out = true;
    QVERIFY(leaves_padding_out(f));
    QVERIFY(padding_text(f).ends_with("; skip computes the real ones alone"));
    f.passes.back().left_out = true;
    QVERIFY(!leaves_padding_out(f));
    f.passes.back().left_out = f.passes.back().applied = false;
    QVERIFY(!leaves_padding_out(f));
    // An older run does not say.
    f.passes.push_back({"unpad", true, "padding is not computed"});
    f.passes.erase(f.passes.end() - 2);
    QVERIFY(leaves_padding_out(f));
  }
  void nothing_is_said_of_what_is_not_known_or_not_padded() {
    RunSummaryFigures f = padded();
    f.dataset.cells_as_given = 0;
    QCOMPARE(padding_text(f), std::string());
    f.dataset.cells_as_given = f.dataset.cells_by_length = f.dataset.cells_without_padding;
    QCOMPARE(padding_text(f), std::string());
  }
};

STORMCELL_TEST(PaddingTextTest)
#include "padding_text_test.moc"
