// The report claims no speed and no equality that was not measured and verified.
#include "core/summary/results.h"
#include "tests/core/report/figure_pages.h"
#include "tests/testing/testing.h"

namespace stormcell {

class ReportVerdictTest : public QObject, private testing::FigurePages {
  Q_OBJECT
 private slots:
  void times_without_a_ratio_have_a_remark_and_no_bars_beside_each_other() {
    RunSummaryFigures f = some_figures();
    const auto operators = [this](const RunSummaryFigures& of) {
      const std::string html = page(of, testing::two_stacks());
      const size_t begin = html.find("<section id=\"operators\"");
      return html.substr(begin, html.find("</section>", begin) - begin);
    };
    const std::string stated = operators(f);
    QVERIFY(has(stated, "<rect class=\"bar\"") && has(stated, "<rect class=\"bar2\""));
    f.speedup.reset(), f.speedup_ci95.reset();
    f.withheld = SpeedupWithheld{WithheldReason::others_at_work, 0.5};
    for (OperatorTime& o : f.baseline_operators) o.batches = 1;
    const std::string none = operators(f);
    QVERIFY(!has(none, "<rect class=\"bar\"") && has(none, "<rect class=\"bar2\""));
    QVERIFY(has(none, "no ratio: not measured well enough") && has(none, "Mean over 1 recorded batch,"));
    QVERIFY(has(page(f, testing::two_stacks()), "executions; no ratio: not measured well enough"));
  }

  /// Costs of exits are the optimised plan's, those of items the model's own order's: no two figures stand side by side
  /// as if they were one.
  void operations_say_of_which_plan_they_are() {
    RunSummaryFigures f = some_figures();
    f.exits = ExitCurve{"accuracy", "share", "picture", 1000, {0.9}};
    f.exits->exits = {{"exits.0.router", 0.4375, 800, 0.99, 0.97}, {"", 1, 200, 0.95, 0.985}};
    f.exits->exits[0].baseline_cost = 0.625;
    f.exits->chosen = {0.9, 0.55, 0.982, {}, {800, 200}};
    f.exits->curve = {{0, 0.4375, 0.97, {}, {1000, 0}}, {2, 1, 0.985, {}, {0, 1000}}};
    f.exits->plan = CurvePlan::optimized;
    ItemCostFigures& c = f.item_costs.emplace();
    c.item = "picture", c.items = 1000, c.operations = 7e6, c.operations_of_all = 1e7, c.share = 0.7,
    c.quartiles = {0.6, 0.7, 0.8};
    const std::string html = QString::fromStdString(page(f, testing::two_stacks())).replace("&#39;", "'").toStdString();
    QVERIFY(has(
        html,
        "<dt>Operations spent</dt><dd>55.0 %<small>of the operations of the whole network as the optimised plan runs, "
        "counted over 1,000 pictures</small>"));
    QVERIFY(has(html, ">operations as the optimised plan runs</th>") &&
            has(html, ">operations in the model's own order</th>"));
    QVERIFY(has(html, "Operations of the baseline's routing, in the model's own order"));
    QVERIFY(
        has(html, "counted in the model's own order, where costs of exits are those of the optimised plan, by what"));
  }

  void a_proof_says_why_it_failed_what_follows_from_a_flip_and_what_the_format_costs() {
    RunSummaryFigures f = some_figures();
    Verification& v = *f.verified;
    v.passed = false;
    v.reasons = {"the scores of router moe differ by 0.004 of the largest score, the tolerance is 0.0001"};
    v.flips = v.explained_flips = 1, v.consequences = 3;
    v.format = FormatCost{"bf16", 7e-3, 5e-2, true, {}, 0.42, 5760, 99};
    v.parts = {{0, 8, 128}};
    Flip near, later;
    near.router = later.router = "moe", near.explained = true, later.follows = true, later.ours = -1,
    later.above = "exit=1";
    v.listed = {near, later};
    const std::string html = page(f, testing::two_stacks());
    for (const char* words :
         {"the scores of router moe differ", "1 routing choice differs, a near tie; 3 more follow from that",
          "8 of 128 pictures of batch 0", "What bf16 costs", "0.42 running freely, where 99 of 5,760 routing choices",
          "consequence", "below exit=1"})
      QVERIFY2(has(html, words), words);
  }

  void too_little_compared_is_not_called_a_difference() {
    RunSummaryFigures f = some_figures();
    f.verified->passed = false;
    f.verified->reasons = {"inconclusive: 3 of 24 tokens could be compared"};
    const std::string html = page(f, testing::two_stacks());
    QVERIFY(has(html, "Not verified: too little could be compared with the reference."));
    QVERIFY(has(html, "inconclusive: 3 of 24 tokens") && !has(html, "differ from the reference") &&
            !has(html, "Verification failed"));
    f.verified->reasons.emplace_back("output y differs by 0.3");
    const std::string wrong = page(f, testing::two_stacks());
    QVERIFY(has(wrong, "Not verified: the outputs differ from the reference.") && has(wrong, "Verification failed"));
  }

  void without_verification_there_is_no_speed_up() {
    for (const bool failed : {false, true}) {
      RunSummaryFigures f = some_figures();
      if (failed)
        f.verified->passed = false;
      else
        f.verified.reset();
      const std::string html = page(f, testing::two_stacks());
      QCOMPARE(flaw(html), QString());
      QVERIFY(has(html, "Not verified"));
      for (const char* text : {"1.94 ×", "1.38 ×", "1.81 to", "times as fast"}) QVERIFY2(!has(html, text), text);
    }
  }

  void a_speed_up_that_was_not_measured_well_enough_is_not_stated() {
    RunSummaryFigures f = some_figures();
    f.routing_speedup = 2.125, f.routing_speedup_ci95 = {{2.0, 2.25}};
    f.dense = f.baseline;
    f.other_load = 0.5;
    const std::string html = page(f, testing::two_stacks());
    QCOMPARE(flaw(html), QString());
    for (const char* text : {"1.94 ×", "1.38 ×", "1.81 to", "2.12 ×", "times as fast"}) QVERIFY2(!has(html, text), text);
    QVERIFY(has(
        html,
        "<h1>The same result; the speed-up was not measured well enough: other processes took 50 % of the processors"));
    QVERIFY(has(html, "<dt>Speed-up</dt><dd>not measured well enough<small>other processes took 50 %"));
    QVERIFY(has(html, "The speed-up of passes was not measured well enough: "));
  }

  void a_speed_up_that_cannot_be_told_from_none_is_not_called_one() {
    RunSummaryFigures f = some_figures();
    f.speedup = 1.0625;
    f.speedup_ci95 = {0.9375, 1.1875};
    QVERIFY(has(page(f, testing::two_stacks()), "No measurable difference"));
    f.speedup = 0.8125;
    f.speedup_ci95 = {0.75, 0.875};
    QVERIFY(has(page(f, testing::two_stacks()), "Slower than the baseline"));
  }

  void headline_and_tile_give_the_same_figure_and_say_which() {
    RunSummaryFigures f = some_figures();
    f.verb = "run";
    f.optimized.reset(), f.speedup.reset(), f.speedup_ci95.reset();
    f.baseline->latency_ms.mean = 10.5;
    const std::string mean = page(f, testing::two_stacks());
    QVERIFY(has(mean, "<h1>10.5 ms a batch (mean), verified.</h1>") &&
            has(mean, "<dd>10.5 ms<small>mean of 20 executions</small>"));
    f.baseline->latency_ms.mean = 0;  // as older versions wrote it
    const std::string median = page(f, testing::two_stacks());
    QVERIFY(has(median, "<h1>8.25 ms a batch (median), verified.</h1>") &&
            has(median, "<dd>8.25 ms<small>median of 20 executions</small>"));
  }

  void what_a_pass_brought_itself_stands_in_the_table() {
    RunSummaryFigures f = some_figures();
    f.passes[0].speedup_own = 1.4125, f.passes[0].speedup_own_ci95 = {{1.3875, 1.4425}};
    const std::string all = tables(page(f, testing::two_stacks()));
    QVERIFY(has(all, ">its own<") && has(all, ">1.41 ×<") && has(all, ">1.39 to 1.44<"));
  }

  void without_a_pass_that_applied_there_is_nothing_to_compare() {
    RunSummaryFigures f = some_figures();
    f.optimized.reset();
    f.speedup.reset();
    f.speedup_ci95.reset();
    for (PassReport& pass : f.passes) pass.applied = false;
    QVERIFY(has(page(f, testing::two_stacks()), "No pass applied"));
  }
};

STORMCELL_TEST(ReportVerdictTest)

}  // namespace stormcell

#include "report_verdict_test.moc"
