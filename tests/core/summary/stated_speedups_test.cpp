// Tests which speed-ups may be stated: a table of conditions, and the figures of a run whose speed-up may not be
// stated.
#include "core/summary/stated_speedups.h"

#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "core/summary/dense_text.h"
#include "core/summary/earlier_summaries.h"
#include "core/summary/exit_target.h"
#include "core/summary/measured_text.h"
#include "core/summary/padding_text.h"
#include "core/summary/parse.h"
#include "core/summary/verdict_text.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Reason = WithheldReason;

/// An optimisation of a quiet machine: 40 pairs over 12 of 12 held-out batches that gain alike.
RunSummaryFigures measured() {
  RunSummaryFigures f;
  f.verb = "optimize";
  f.verified.emplace().passed = true;
  f.baseline.emplace(), f.optimized.emplace();
  f.optimized->latency_ms.runs = 40, f.optimized->batches = 12;
  f.split = SplitFigures{SplitRule::strided, 4, 12, false};
  f.speedup = 1.5, f.speedup_ci95 = {{1.4, 1.6}}, f.speedup_basis = RatioBasis::all_pairs;
  f.measurements = {{false, 1.5, {{1.45, 1.55}}, 3, 2}, {true, 1.52, {{1.45, 1.6}}, 3.04, 2}};
  f.device.peak_readings = {100, 110}, f.device.read_readings = {30, 29};
  f.other_load = 0.02;
  PassReport pass{
      .name = "unpad",
      .applied = true,
      .reason = "3 values packed (kept for 3.1 MiB of memory less: 0.973 [0.936, 0.995] of the speed without it)"};
  pass.reason_without_speeds = "3 values packed (kept for 3.1 MiB of memory less: no gain was seen)";
  pass.speedup_alone = 1.5, pass.speedup_alone_ci95 = {{1.4, 1.6}};
  pass.speedup_own = 1.5, pass.speedup_own_ci95 = {{1.4, 1.6}};
  pass.speedup_cumulative = 1.5, pass.speedup_cumulative_ci95 = {{1.4, 1.6}};
  f.passes = {pass, pass};
  f.passes[1].name = "dead-path", f.passes[1].applied = false, f.passes[1].left_out = true;
  f.passes[1].reason = "left out: 0.973 [0.936, 0.995] of the speed without it, and no memory saved";
  f.passes[1].reason_without_speeds = "left out: no gain was seen, and no memory saved";
  f.dense.emplace().latency_ms.runs = 20;
  f.routing_speedup = 2, f.routing_speedup_ci95 = {{1.9, 2.1}};
  f.exit_target.emplace().speedup = 1.7, f.exit_target->speedup_ci95 = {{1.6, 1.8}};
  f.exit_target->speedup_over_model = 2.6, f.exit_target->speedup_over_model_ci95 = {{2.4, 2.8}};
  return f;
}

std::optional<Reason> reason_of(const std::optional<SpeedupWithheld>& withheld) {
  return withheld ? std::optional(withheld->reason) : std::nullopt;
}

/// No number of a speed-up is left in the JSON.
bool states_none(const RunSummaryFigures& f) {
  const auto json = nlohmann::json::parse(to_json(f));
  bool none = true;
  const std::function<void(const nlohmann::json&)> look = [&](const nlohmann::json& j) {
    for (const auto& [key, value] : j.items()) {
      if (j.is_object() && key.find("speedup") != std::string::npos && key.find("_by") == std::string::npos)
        none = none && (value.is_null() || value.is_string());
      if (value.is_structured() && key.find("_by") == std::string::npos) look(value);
    }
  };
  look(json);
  return none;
}

}  // namespace

class StatedSpeedupsTest : public QObject {
  Q_OBJECT
 private slots:
  void conditions_decide() {
    // Ceilings may move by 15 % of the lower reading, and other processes may take less than a quarter of the
    // processors. At least eight pairs are needed, and a third of the held-out batches if not all of them gain alike.
    struct Row {
      const char* name;
      SpeedupConditions conditions;
      std::optional<Reason> expected;
    };
    const std::vector<Row> rows = {
        {"nothing is known", {}, {}},
        {"quiet", {0.02, 0.01, 40, 12, 12, true}, {}},
        {"ceilings at the limit", {0.15, 0.01, 40, 12, 12, true}, {}},
        {"ceilings beyond it", {0.151, 0.01, 40, 12, 12, true}, Reason::ceilings_moved},
        {"ceilings doubled, all else unknown", {1.0, {}, {}, {}, {}, {}}, Reason::ceilings_moved},
        {"others just below a quarter", {0.02, 0.249, 40, 12, 12, true}, {}},
        {"others a quarter", {0.02, 0.25, 40, 12, 12, true}, Reason::others_at_work},
        {"others all", {0.02, 1.0, 40, 12, 12, true}, Reason::others_at_work},
        {"seven pairs", {0.02, 0.01, 7, 3, 3, true}, Reason::few_pairs},
        {"eight pairs", {0.02, 0.01, 8, 3, 3, true}, {}},
        {"9 of 157 batches that gain unlike", {0.02, 0.01, 9, 9, 157, false}, Reason::few_batches},
        {"9 of 157 batches that gain alike", {0.02, 0.01, 9, 9, 157, true}, {}},
        {"9 of 157 batches, not known whether alike", {0.02, 0.01, 9, 9, 157, {}}, {}},
        {"52 of 157 batches", {0.02, 0.01, 60, 52, 157, false}, Reason::few_batches},
        {"53 of 157 batches", {0.02, 0.01, 60, 53, 157, false}, {}},
        {"a third exactly", {0.02, 0.01, 60, 4, 12, false}, {}},
        {"one of one batch", {0.02, 0.01, 60, 1, 1, false}, {}},
        {"busy and short: the machine is named", {0.5, 0.5, 3, 1, 9, false}, Reason::ceilings_moved},
        {"others and few", {0.02, 0.5, 3, 1, 9, false}, Reason::others_at_work},
    };
    for (const Row& row : rows) QVERIFY2(reason_of(why_withheld(row.conditions)) == row.expected, row.name);
  }

  void a_run_tells_its_conditions() {
    const SpeedupConditions c = speedup_conditions(measured());
    // 110 / 100 - 1 and 30 / 29 - 1: the larger.
    QVERIFY(c.ceilings_moved && std::abs(*c.ceilings_moved - 0.1) < 1e-12);
    QVERIFY(c.other_load == 0.02 && c.pairs == 40 && c.batches == 12 && c.held_out == 12 && c.gains_alike == true);
    // A time limit shortens what is measured, not what was held out.
    RunSummaryFigures shortened = measured();
    shortened.split->held_out = 300;
    QVERIFY(speedup_conditions(shortened).held_out == 300);
    RunSummaryFigures old;
    const SpeedupConditions none = speedup_conditions(old);
    QVERIFY(!none.ceilings_moved && !none.other_load && !none.pairs && !none.batches && !none.held_out &&
            !none.gains_alike);
    old.speedup_basis = RatioBasis::totals, old.device.peak_readings = {100, 0};
    QVERIFY(speedup_conditions(old).gains_alike == false && !speedup_conditions(old).ceilings_moved);
    // Words do not steer: a warning alone sets no condition.
    old.warnings = {"the machine was busy: while 2 threads measured, other processes kept 1.1 of 2 processors at work"};
    QVERIFY(!speedup_conditions(old).other_load);
  }

  /// Earlier versions stored the share of other processes only in a warning.
  void a_load_in_the_warning_of_an_earlier_version_is_a_value_where_it_is_read() {
    const auto read = [](const std::string& more) {
      return parse_summary(
                 R"({"schema":"stormcell.optimize/1","warnings":["the machine was busy: of 20 executions of one",
                     "while 2 threads measured, other processes kept 1.1 of 2 processors at work"])" +
                 more + "}")
          ->figures;
    };
    QVERIFY(std::abs(read("").other_load.value_or(0) - 0.55) < 1e-12);
    QCOMPARE(read(R"(,"other_load":0.01)").other_load.value_or(0), 0.01);
    const RunSummaryFigures both =
        parse_summary(
            R"({"schema":"stormcell.run/1","decode":{"warnings":["other processes kept 1 of 4 processors"]}})")
            ->figures;
    QVERIFY(!both.other_load && both.decode->other_load == 0.25);
  }

  void what_may_be_stated_stays() {
    RunSummaryFigures f = measured();
    withhold_speedups(f);
    QVERIFY(f.speedup == 1.5 && !f.withheld && !f.passes[0].withheld && f.passes[0].speedup_own &&
            f.routing_speedup == 2.0);
    QVERIFY(f.exit_target->speedup && f.passes[1].reason.find("0.973") != std::string::npos);
    QVERIFY(unknown_conditions_text(f).empty());
    f.other_load.reset();
    QCOMPARE(unknown_conditions_text(f), std::string("not recorded: the load of other processes"));
    QVERIFY(speedup_basis_text(f).ends_with("; not recorded: the load of other processes"));
  }

  void a_disturbed_machine_states_nothing_that_was_measured_then() {
    for (const auto& disturb :
         std::vector<void (*)(RunSummaryFigures&)>{[](RunSummaryFigures& f) { f.other_load = 0.5; },
                                                   [](RunSummaryFigures& f) {
                                                     f.device.peak_readings = {100, 130};
                                                   },
                                                   [](RunSummaryFigures& f) {
                                                     f.device.read_readings = {30, 20};
                                                   }}) {
      RunSummaryFigures f = measured();
      disturb(f);
      QVERIFY(states_none(f));  // whoever writes it
      withhold_speedups(f);
      QVERIFY(f.withheld && f.passes[0].withheld == f.withheld && f.passes[1].withheld && f.routing_withheld &&
              f.exit_target->withheld);
      QVERIFY(f.exit_target->over_model_withheld == f.withheld && !f.exit_target->speedup_over_model);
      QVERIFY(!f.speedup && !f.speedup_ci95 && !f.passes[1].speedup_own && !f.passes[0].speedup_cumulative_ci95);
      QVERIFY(speed_verdict(f) == SpeedVerdict::withheld);
      for (const PassReport& pass : f.passes) QCOMPARE(pass.reason, pass.reason_without_speeds);
      QVERIFY(f.passes[1].reason.starts_with("left out: ") && f.passes[0].reason.find("3.1 MiB") != std::string::npos);
      QVERIFY(dense_text(f).find("not measured well enough: ") != std::string::npos);
      bool said = false;
      for (const auto& [title, text] : exit_target_lines(*f.exit_target))
        said |= text.starts_with("not measured well enough: ");
      QVERIFY(said);
      // The reason is stored, and does not change when it is read and written again.
      const auto read = parse_summary(to_json(f));
      QVERIFY(read->figures.withheld == f.withheld && read->figures.passes[0].withheld == f.withheld &&
              !read->figures.speedup);
      QCOMPARE(to_json(read->figures), to_json(f));
    }
  }

  /// Earlier versions stored one reason, with its speeds.
  void a_reason_of_an_earlier_version_ends_before_the_speeds_that_it_quotes() {
    struct Row {
      const char *reason, *shown;
    };
    const std::vector<Row> rows = {
        {"left out: 0.973 [0.936, 0.995] of the speed without it, and no memory saved", "left out"},
        {"left out: all passes together gave 0.966 [0.940, 0.990] of the baseline's speed and saved no memory, and "
         "this one brought least "
         "(0.980 [0.955, 1.005])",
         "left out"},
        {"3 values packed (kept for 3.1 MiB of memory less: 0.973 [0.936, 0.995] of the speed without it)",
         "3 values packed"},
        {"left out: its guards never held on the 3 batches that were measured; these data need what it leaves out",
         "left out: its guards never held on the 3 batches that were measured; these data need what it leaves out"},
        {"3 values packed", "3 values packed"}};
    for (const Row& row : rows) {
      RunSummaryFigures f = measured();
      f.other_load = 0.5;
      f.passes[0].reason = row.reason, f.passes[0].reason_without_speeds.clear();
      complete_earlier_summary(f);
      QCOMPARE(f.passes[0].reason, std::string(row.reason));  // its speeds stay unless they are withheld
      withhold_speedups(f);
      QCOMPARE(f.passes[0].reason, std::string(row.shown));
    }
  }

  /// A reason without a whole has none in the JSON.
  void only_few_batches_are_of_a_number() {
    RunSummaryFigures f;
    f.verb = "optimize";
    f.verified.emplace().passed = true;
    const auto of = [&](const SpeedupWithheld& why) {
      f.withheld = why;
      return nlohmann::json::parse(to_json(f))["speedup_withheld_by"]["of"];
    };
    QVERIFY(of({WithheldReason::others_at_work, 0.5}).is_null() && of({WithheldReason::few_pairs, 3}).is_null());
    QVERIFY(of({WithheldReason::few_batches, 9, 157}) == 157);
  }

  /// Whoever sees two times divides them.
  void times_whose_ratio_is_not_stated_have_a_remark() {
    RunSummaryFigures f;
    f.baseline.emplace(), f.optimized.emplace();
    QVERIFY(no_ratio_text(f).empty());
    f.withheld = SpeedupWithheld{WithheldReason::few_pairs, 3};
    QCOMPARE(no_ratio_text(f), std::string("no ratio: not measured well enough"));
    f.optimized.reset();
    QVERIFY(no_ratio_text(f).empty());
  }

  /// If only a pass is withheld, its reason quotes no speed either.
  void a_pass_of_too_few_pairs_quotes_no_speed() {
    RunSummaryFigures f = measured();
    f.passes[1].clear_gains(), f.passes[1].withheld = SpeedupWithheld{WithheldReason::few_pairs, 3};
    withhold_speedups(f);
    QVERIFY(!f.withheld && f.passes[0].reason.find("0.973") != std::string::npos);
    QCOMPARE(f.passes[1].reason, std::string("left out: no gain was seen, and no memory saved"));
  }

  void the_basis_is_a_word_in_a_summary_alone() {
    for (const RatioBasis basis : {RatioBasis::all_pairs, RatioBasis::batches, RatioBasis::totals})
      QVERIFY(ratio_basis(to_text(basis)) == basis);
    QVERIFY(to_text(RatioBasis::all_pairs) == "pairs" && ratio_basis("medians") == RatioBasis::unknown);
    // A word of a later version does not show whether batches gain alike.
    RunSummaryFigures f = measured();
    f.speedup_basis = RatioBasis::unknown;
    QVERIFY(speedup_conditions(f).gains_alike == false);
  }

  void too_little_of_the_run_leaves_its_dense_plan() {
    RunSummaryFigures f = measured();
    f.optimized->latency_ms.runs = 7;
    withhold_speedups(f);
    QVERIFY(reason_of(f.withheld) == Reason::few_pairs && f.passes[0].withheld && f.routing_speedup &&
            f.exit_target->speedup);
    RunSummaryFigures dense = measured();
    dense.dense->latency_ms.runs = 7;
    withhold_speedups(dense);
    QVERIFY(dense.speedup && !dense.routing_speedup && reason_of(dense.routing_withheld) == Reason::few_pairs);
  }

  void an_older_summary_is_judged_where_it_is_read() {
    // A run of an earlier version: 9 of 157 batches, which do not gain alike, and no key that says so.
    const auto old = [](const char* basis) {
      return parse_summary(
          R"({"schema":"stormcell.optimize/1","speedup":1.9,"speedup_ci95":[1.8,2.0],"speedup_basis":")" +
          std::string(basis) +
          R"(","verified":{"passed":true},"split":{"rule":"strided","profiled":53,"measured":157},
                           "optimized":{"latency_ms":{"runs":9},"measured_batches":9}})");
    };
    QVERIFY(old("pairs")->figures.speedup == 1.9);
    const RunSummaryFigures f = old("totals")->figures;
    QVERIFY(!f.speedup && !f.speedup_ci95 && reason_of(f.withheld) == Reason::few_batches);
    QVERIFY2(to_text(*f.withheld).starts_with("9 of 157 held-out batches were measured"), to_text(*f.withheld).c_str());
    QVERIFY(what_to_do(*f.withheld, measuring_end(f)).find("--measure-seconds") != std::string_view::npos);
  }

  void what_to_do_names_what_ended_the_measuring() {
    struct Row {
      const char* name;
      std::optional<double> limit;
      std::vector<std::string> left_out;
      Reason reason;
      const char* advice;
    };
    const std::vector<Row> rows = {
        {"no limit", {}, {}, Reason::few_pairs, "measure longer (--measure-seconds)"},
        {"a limit that left nothing out", 3600, {}, Reason::few_pairs, "measure longer (--measure-seconds)"},
        {"a limit that cut the measuring",
         5,
         {"2 of 24 batches ran"},
         Reason::few_pairs,
         "allow more time (--time-limit)"},
        {"a limit that left batches out",
         5,
         {"2 of 24 batches ran"},
         Reason::few_batches,
         "allow more time (--time-limit)"},
        {"a long run without a limit",
         {},
         {"passes were tried on 4 batches"},
         Reason::few_batches,
         "measure longer (--measure-seconds)"},
        {"a limit, and others at work",
         5,
         {"2 of 24 batches ran"},
         Reason::others_at_work,
         "measure again on a quiet machine"}};
    for (const Row& row : rows) {
      RunSummaryFigures f = measured();
      f.time_limit_seconds = row.limit, f.left_out_for_time = row.left_out;
      QVERIFY2(what_to_do({row.reason, 3, 12}, measuring_end(f)) == row.advice, row.name);
    }
  }

  void a_reason_of_a_later_version_is_kept_as_one_that_is_not_known() {
    const auto read =
        parse_summary(R"({"schema":"stormcell.optimize/1","speedup":null,"speedup_withheld":"the moon was full",
        "speedup_withheld_by":{"reason":"moon","measured":1,"of":1},"verified":{"passed":true},"optimized":{}})");
    QVERIFY(reason_of(read->figures.withheld) == Reason::earlier &&
            speed_verdict(read->figures) == SpeedVerdict::withheld);
  }

  void what_was_not_verified_is_not_called_badly_measured() {
    RunSummaryFigures f = measured();
    f.verified->passed = false, f.other_load = 0.9;
    QVERIFY(!with_stated_speedups(f).withheld && speed_verdict(with_stated_speedups(f)) == SpeedVerdict::not_verified);
  }
};

STORMCELL_TEST(StatedSpeedupsTest)

}  // namespace stormcell::testing

#include "stated_speedups_test.moc"
