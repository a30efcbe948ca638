// Which passes stay in a plan, and what is said about those that do not.
#include "core/measuring/leave_out.h"

#include "core/bench/pass_report.h"
#include "core/exits/exit_thresholds.h"
#include "core/measuring/gains.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

Contribution contribution(const char* pass, double value, double low, double high, PlanBytes without = {1000, 1000},
                          PlanBytes with = {1000, 1000}) {
  return {pass, {value, {low, high}}, without, with};
}
std::vector<std::string> names(const std::vector<LeftOut>& list) {
  std::vector<std::string> all;
  for (const LeftOut& pass : list) all.push_back(pass.pass);
  return all;
}
using Names = std::vector<std::string>;

}  // namespace

class LeaveOutTest : public QObject {
  Q_OBJECT
 private slots:
  void what_loses_and_saves_no_memory_is_left_out() {
    const Contribution total = contribution("all passes", 1.05, 1.02, 1.08);
    const std::vector<LeftOut> lost = passes_to_leave_out(
        {contribution("dead-path", 0.973, 0.936, 0.995), contribution("horizontal-fusion", 0.99, 0.97, 1.01),
         contribution("vertical-fusion", 1.08, 1.05, 1.1)},
        total);
    QCOMPARE(names(lost), (Names{"dead-path"}));
    QCOMPARE(lost[0].reason,
             std::string("left out: 0.973 [0.936, 0.995] of the speed without it, and no memory saved"));
    QCOMPARE(lost[0].reason_without_speeds,
             std::string("left out: no gain was seen, and the cost was not measured well enough, and no memory saved"));
  }

  void held_out_cells_are_counted_by_what_a_pass_takes_for_granted() {
    const std::vector<ConstantClaim> one = {{"moe", {2}}}, two = {{"moe", {2}}, {"exit", {}, 1, true}},
                                     pair = {{"moe", {0, 1}, 2}};
    const auto told = [](const std::vector<ConstantClaim>& claims,
                         const std::map<std::string, RouterLoad, std::less<>>& loads) {
      PassReport report;
      report.reason = "applied";
      add_held_out(claims, {loads}, report);
      return report;
    };
    const PassReport none = told(one, {{"moe", {{0, 0, 500}, 500, 3}}});
    QCOMPARE(none.reason, std::string("applied; 0 of 500 held-out cells otherwise, at most 0.6 % at 95 %"));
    QVERIFY(none.held_out.size() == 1 && none.held_out[0].router == "moe" && none.held_out[0].cells == 500 &&
            none.held_out[0].otherwise == 0);
    QCOMPARE(told(one, {{"moe", {{1, 2, 497}, 500, 3}}}).reason,
             std::string("applied; moe: 3 of 500 held-out cells otherwise, at most 1.6 % at 95 %"));
    // A cell that capacity dropped went otherwise.
    QCOMPARE(told(one, {{"moe", {{0, 0, 497}, 500, 3}}}).held_out[0].otherwise, int64_t{3});
    // Among several routers the one that says least for the pass; where padding is left out, real cells alone.
    const RouterLoad exit{{0, 3}, 503, 3, {0, 0}, 40};
    QCOMPARE(told(two, {{"moe", {{0, 0, 500}, 500, 3}}, {"exit", exit}}).reason,
             std::string("applied; 0 of 40 held-out cells otherwise, at most 7.3 % at 95 %"));
    QCOMPARE(told(two, {{"moe", {{0, 1, 499}, 500, 3}}, {"exit", exit}}).reason,
             std::string("applied; moe: 1 of 500 held-out cells otherwise, at most 0.95 % at 95 %"));
    // With several branches a cell the loads give no more than a lower bound.
    QCOMPARE(told(pair, {{"moe", {{90, 95, 15}, 100, 3}}}).reason,
             std::string("applied; moe: at least 10 of 100 held-out cells otherwise"));
    QCOMPARE(told(one, {{"moe", {{0, 0, 0}, 0, 3}}}).reason, std::string("applied; no held-out cell came to them"));
    QCOMPARE(told(one, {{"moe", {{0, 0, 0}, 0, 0}}}).reason, std::string("applied; no batch was held out"));
    QCOMPARE(told({}, {{"moe", {{0, 0, 0}, 0, 0}}}).reason, std::string("applied"));
  }

  void a_speed_up_of_a_plan_that_computes_something_else_is_withheld_and_that_is_said() {
    std::vector<PassReport> passes(2);
    passes[0].name = "dead-path", passes[1].name = "unpad";
    passes[0].reason = passes[1].reason = "applied";
    passes[1].speedup_cumulative = 9;
    Gains gains(3);
    const auto ratio = [](double value, double low, double high, int64_t pairs = 8) {
      return Ratio{.value = value, .ci95 = {low, high}, .pairs = pairs, .batches = 3};
    };
    for (PassReport& r : passes) {
      const std::string wrong = r.name == "unpad" ? "output y differs" : "";
      gains.set(r, ratio(1.2, 1.1, 1.3), "", r.speedup_alone, r.speedup_alone_ci95);
      gains.set(r, ratio(1.5, 1.4, 1.6), wrong, r.speedup_cumulative, r.speedup_cumulative_ci95);
    }
    // A gain from too few pairs is not stated; the plan is not at fault.
    gains.set(passes[0], ratio(1.7, 1.6, 1.8, 7), "", passes[0].speedup_own, passes[0].speedup_own_ci95);
    QVERIFY(!passes[0].speedup_own && passes[0].withheld->reason == WithheldReason::few_pairs &&
            passes[0].withheld->measured == 7);
    std::vector<std::string> warnings;
    gains.tell(passes, warnings);
    QCOMPARE(passes[0].speedup_cumulative.value(), 1.5);
    QCOMPARE(passes[0].reason, std::string("applied"));
    QCOMPARE(passes[1].speedup_alone.value(), 1.2);
    QVERIFY(!passes[1].speedup_cumulative && !passes[1].speedup_cumulative_ci95);
    QVERIFY2(passes[1].reason.ends_with("differs from the baseline: output y differs)"), passes[1].reason.c_str());
    QCOMPARE(warnings.size(), size_t{1});
    QVERIFY2(warnings[0].starts_with("pass unpad has no speed-up"), warnings[0].c_str());
  }

  /// A target has two stated gains. If batches gain alike in one of them but not in the other, 3 of 12 batches are too
  /// few for the other.
  void each_gain_of_a_target_is_withheld_for_its_own_reason() {
    struct Row {
      const char* name;
      RatioBasis of_thresholds, over_model;
      int64_t pairs;
      bool states_thresholds, states_over_model;
    };
    const std::vector<Row> rows = {
        {"both alike", RatioBasis::all_pairs, RatioBasis::all_pairs, 9, true, true},
        {"thresholds unlike", RatioBasis::totals, RatioBasis::all_pairs, 9, false, true},
        {"over the model unlike", RatioBasis::all_pairs, RatioBasis::batches, 9, true, false},
        {"both unlike", RatioBasis::totals, RatioBasis::totals, 9, false, false},
        {"few pairs", RatioBasis::all_pairs, RatioBasis::all_pairs, 7, false, false}};
    for (const Row& row : rows) {
      const auto ratio = [&](double value, RatioBasis basis) {
        return Ratio{
            .value = value, .ci95 = {value - 0.1, value + 0.1}, .basis = basis, .pairs = row.pairs, .batches = 3};
      };
      ExitTarget t;
      state_target_gains(ratio(1.5, row.of_thresholds), ratio(2, row.over_model), 12, t);
      QVERIFY2(t.speedup == (row.states_thresholds ? std::optional(1.5) : std::nullopt), row.name);
      QVERIFY2(t.speedup_over_model == (row.states_over_model ? std::optional(2.0) : std::nullopt), row.name);
      QVERIFY2(t.speedup_ci95.has_value() == row.states_thresholds && t.withheld.has_value() != row.states_thresholds,
               row.name);
      QVERIFY2(t.speedup_over_model_ci95.has_value() == row.states_over_model, row.name);
      QVERIFY2(t.over_model_withheld.has_value() != row.states_over_model, row.name);
    }
  }

  void what_saves_memory_stays_and_says_what_it_costs() {
    const Contribution saves =
        contribution("dead-path", 0.973, 0.936, 0.995, {100 << 20, 1 << 20}, {97 << 20, 1 << 20});
    QVERIFY(passes_to_leave_out({saves}, saves).empty());
    QCOMPARE(why_kept(saves, false).text,
             std::string(" (kept for 3.0 MiB of memory less: 0.973 [0.936, 0.995] of the speed without it)"));
    QCOMPARE(why_kept(contribution("dead-path", 0.973, 0.936, 0.995), true).text,
             std::string(" (kept by --keep-all: 0.973 [0.936, 0.995] of the speed without it, and no memory saved)"));
    QCOMPARE(why_kept(contribution("dead-path", 0.99, 0.97, 1.01), true).text, std::string());
    // The text that is shown if the speeds are withheld.
    QCOMPARE(
        why_kept(saves, false).without_speeds,
        std::string(" (kept for 3.0 MiB of memory less: no gain was seen, and the cost was not measured well enough)"));
    QCOMPARE(why_kept(contribution("dead-path", 0.99, 0.97, 1.01), true).without_speeds, std::string());
  }

  /// Whoever takes memory owes a gain that can be measured.
  void what_gains_nothing_for_more_memory_is_left_out() {
    const PlanBytes without{1 << 20, 100 << 20}, with{1 << 20, 164 << 20}, little{1 << 20, (100 << 20) + 1000};
    const Contribution total = contribution("all passes", 1.05, 1.02, 1.08);
    const auto lost = [&](double low, double high, PlanBytes bytes) {
      return passes_to_leave_out({contribution("dead-path", 0.999, low, high, without, bytes)}, total);
    };
    QCOMPARE(names(lost(0.98, 1.01, with)), (Names{"dead-path"}));
    QCOMPARE(lost(0.98, 1.01, with)[0].reason,
             std::string("left out: 0.999 [0.980, 1.010] of the speed without it, and 64.0 MiB of memory more"));
    QCOMPARE(names(lost(0.9, 0.98, with)), (Names{"dead-path"}));
    QVERIFY(lost(0.9, 1.1, with).empty());  // a short measurement: a tenth more is not excluded
    QVERIFY(lost(1.001, 1.02, with).empty() && lost(0.98, 1.01, little).empty() && lost(0.98, 1.01, without).empty());
    // Weights that are not needed are worth activations.
    QVERIFY(passes_to_leave_out({contribution("dead-path", 0.999, 0.98, 1.01, {90 << 20, 1 << 20}, {9 << 20, 2 << 20})},
                                total)
                .empty());
    const Contribution kept = contribution("dead-path", 0.999, 0.98, 1.01, without, with);
    QCOMPARE(why_kept(kept, true).text,
             std::string(
                 " (kept by --keep-all: 0.999 [0.980, 1.010] of the speed without it, and 64.0 MiB of memory more)"));
    QCOMPARE(why_kept(kept, false).text, std::string());
  }

  void less_than_a_hundredth_is_no_memory_saved() {
    QCOMPARE(saved_bytes({100000, 1000}, {99500, 1000}), int64_t{0});
    QCOMPARE(saved_bytes({100000, 1000}, {99000, 1000}), int64_t{1000});
    QCOMPARE(saved_bytes({100000, 1000}, {100000, 900}), int64_t{100});
    QCOMPARE(saved_bytes({100000, 1000}, {101000, 900}), int64_t{0});  // less here, more there
  }

  void where_no_pass_loses_for_itself_but_all_together_do_the_least_one_goes() {
    const std::vector<LeftOut> lost =
        passes_to_leave_out({contribution("a", 0.985, 0.96, 1.01), contribution("b", 0.98, 0.955, 1.005)},
                            contribution("all passes", 0.966, 0.94, 0.99));
    QCOMPARE(names(lost), (Names{"b"}));
    QVERIFY(lost[0].reason.find("all passes together gave 0.966 [0.940, 0.990] of the baseline's speed") !=
            std::string::npos);
    QVERIFY2(lost[0].reason_without_speeds.starts_with("left out: all passes together gave no gain") &&
                 lost[0].reason_without_speeds.find("0.9") == std::string::npos,
             lost[0].reason_without_speeds.c_str());
  }

  void the_speed_of_a_plan_that_computes_something_else_decides_nothing() {
    Contribution wrong = contribution("wrong", 0.5, 0.4, 0.6);
    wrong.wrong = "output y differs";
    const Contribution slow = contribution("slow", 0.9, 0.8, 0.95), total = contribution("all passes", 1.1, 1.05, 1.2);
    QCOMPARE(names(passes_to_leave_out({slow, wrong}, total)), (Names{"slow"}));
    QVERIFY(passes_to_leave_out({wrong}, contribution("all passes", 0.5, 0.4, 0.6)).empty());
    Contribution wrong_total = total;
    wrong_total.wrong = "output y differs";
    QVERIFY(passes_to_leave_out({slow, wrong}, wrong_total).empty());
  }

  void a_pass_whose_guards_never_held_is_left_out_and_that_is_said() {
    const auto counted = [](const char* name, bool applied, int64_t hits, int64_t misses) {
      PassReport p;
      p.name = name;
      p.applied = applied, p.guard_hits = hits, p.fallbacks = misses;
      return p;
    };
    const std::vector<LeftOut> lost =
        passes_that_always_miss({counted("unpad", true, 0, 0), counted("dead-path", true, 0, 12),
                                 counted("other", true, 1, 90), counted("left", false, 0, 3)},
                                9, 12);
    QCOMPARE(names(lost), (Names{"dead-path"}));
    QVERIFY2(lost[0].reason.find("never held on the 9 batches that were measured") != std::string::npos,
             lost[0].reason.c_str());
  }

  /// A time limit can leave one of many batches.
  void a_pass_is_not_judged_by_fewer_than_a_third_of_the_batches() {
    PassReport p;
    p.name = "dead-path", p.applied = true, p.fallbacks = 1;
    QVERIFY(passes_that_always_miss({p}, 1, 45).empty() && passes_that_always_miss({p}, 14, 45).empty());
    QCOMPARE(names(passes_that_always_miss({p}, 15, 45)), (Names{"dead-path"}));
    QCOMPARE(names(passes_that_always_miss({p}, 1, 1)), (Names{"dead-path"}));
  }
};

STORMCELL_TEST(LeaveOutTest)

}  // namespace stormcell::testing

#include "leave_out_test.moc"
