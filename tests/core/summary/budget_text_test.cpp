// The work of a budget, in words that say what each figure belongs to.
#include "core/summary/budget_text.h"

#include "tests/testing/testing.h"

using namespace stormcell;

class BudgetTextTest : public QObject {
  Q_OBJECT

  static constexpr int64_t kMiB = int64_t{1} << 20;
  static BudgetFigures half() {
    BudgetFigures b;
    b.budget_bytes = 60 * kMiB, b.dense_bytes = 30 * kMiB, b.expert_bytes = 100 * kMiB;
    b.slot_bytes = 40 * kMiB, b.pinned_bytes = 10 * kMiB, b.arena_bytes = 5 * kMiB;
    b.executions = 73, b.readers = 2, b.reads = 286, b.bytes_read = 18 * kMiB, b.evictions = 256,
    b.stall_seconds = 0.0156;
    b.held_bytes = 97 * kMiB, b.held_counted = "process", b.peak_bytes = 99 * kMiB;
    return b;
  }
  static std::string line(const std::vector<BudgetLine>& lines, const std::string& name) {
    for (const BudgetLine& l : lines)
      if (l.name == name) return l.text;
    return "no line " + name;
  }

 private slots:
  void each_line_says_of_what_its_figures_are() {
    const auto lines = budget_lines(half(), {{"", {7, 42.34, 5.0 * kMiB, 12.5, 0.234}}});
    QCOMPARE(lines.size(), size_t{6});
    QCOMPARE(line(lines, "weights of branches"),
             std::string(
                 "100.0 MiB in all as they are laid out; room for 50.0 MiB at a time, of which 10.0 MiB never change "
                 "(residency=pinned) (--weight-budget 60.0 MiB)"));
    QCOMPARE(line(lines, "other weights"), std::string("30.0 MiB, in memory all the time, beside the budget"));
    QCOMPARE(line(lines, "each execution"),
             std::string("reads 42.3 weights of branches, 5.0 MiB of files, and waits "
                         "12.5 ms for weights, 23.4 % of its time (mean of 7 timed in the data's order)"));
    QCOMPARE(line(lines, "all executions"),
             std::string("73, those of the verification too: 286 weights read, 18.0 MiB of files; 256 took the place "
                         "of another; waited 0.0156 s for 2 threads that read, beside those of --threads"));
    QCOMPARE(line(lines, "memory planned"),
             std::string("85.0 MiB: other weights, room for those of branches, and 5.0 MiB of activations and states"));
    QCOMPARE(line(lines, "memory held"),
             std::string("97.0 MiB at most after an execution before the verification, "
                         "with the program and the data, counted by the process; 99.0 MiB at any time before it"));
  }

  void one_batch_has_no_order() {
    const auto timed = [](int64_t executions, int64_t batches) {
      const std::string text =
          line(budget_lines(half(), {{"", {executions, 42, 5.0 * kMiB, 12.5, 0.25}, batches}}), "each execution");
      return text.substr(text.find("(mean of "));
    };
    QCOMPARE(timed(7, 1), std::string("(mean of 7 timed, all of the same batch)"));
    QCOMPARE(timed(7, 2), std::string("(mean of 7 timed in the data's order)"));
    QCOMPARE(timed(1, 1), std::string("(mean of 1 timed in the data's order)"));
  }

  void two_counts_are_not_taken_for_one() {
    // The memory of a control group is more than what is resident in the process, or less: files that are mapped count
    // where they were read.
    BudgetFigures b = half();
    b.held_counted = "control group", b.peak_bytes = 90 * kMiB;
    QVERIFY(
        line(budget_lines(b, {}), "memory held")
            .ends_with("counted by the control group; 90.0 MiB resident in the process only, at any time before it"));
  }

  void a_budget_for_all_of_them_says_so() {
    BudgetFigures b = half();
    b.pinned_bytes = 0, b.slot_bytes = 100 * kMiB, b.peak_bytes = 0, b.held_bytes = 0;
    const auto lines = budget_lines(b, {{"", {7, 0, 0, 0, 0}}});
    QCOMPARE(
        line(lines, "weights of branches"),
        std::string("100.0 MiB in all as they are laid out; there is room for all of them (--weight-budget 60.0 MiB)"));
    QVERIFY(
        line(lines, "each execution")
            .starts_with(
                "reads no weight of a branch, for all that it needs is there, and never waits for weights (mean of 7"));
    QVERIFY(line(lines, "memory held").starts_with("no line"));
  }

  void drawn_weights_are_read_from_no_file() {
    BudgetFigures b = half();
    b.bytes_read = 0;
    const auto lines = budget_lines(b, {{"", {7, 1234.5, 0, 0.0004, 0.0000002}}});
    QVERIFY(line(lines, "each execution")
                .starts_with("draws 1,235 weights of branches and waits under 0.001 ms for weights, under 0.1 % "));
    QVERIFY(line(lines, "all executions").find("286 weights drawn; 256 took") != std::string::npos);
    QCOMPARE(reads_text(1038, 0, 2.5), std::string("1,038 drawn, waited 2.5 s"));
    QCOMPARE(reads_text(1, 2048, 0), std::string("1 read, 2.0 KiB, waited 0 s"));
  }

  void of_two_plans_each_has_its_line_and_one_that_is_wrong_has_none() {
    RunSummaryFigures f;
    f.baseline.emplace().weights_read = WeightsRead{7, 40, 400, 1, 0.5};
    f.optimized.emplace().weights_read = WeightsRead{6, 30, 300, 1, 0.5};
    QCOMPARE(reading_plans(f).size(), size_t{2});
    const auto lines = budget_lines(half(), reading_plans(f));
    QVERIFY(line(lines, "each execution, baseline").starts_with("reads 40 ") &&
            line(lines, "each execution, optimised").starts_with("reads 30 "));
    f.verified.emplace().passed = false;
    QCOMPARE(reading_plans(f).size(), size_t{1});
    f.baseline.reset(), f.verified.reset();
    QCOMPARE(reading_plans(f).at(0).name, std::string());
    QVERIFY(reading_plans(GenerateFigures()).empty());
  }
};

STORMCELL_TEST(BudgetTextTest)
#include "budget_text_test.moc"
