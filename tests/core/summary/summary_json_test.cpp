// Figures become JSON: what does not apply is null, what is not verified is no speed-up.
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/experiment/experiment.h"
#include "core/summary/parse.h"
#include "core/summary/summary_json.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class SummaryJsonTest : public QObject {
  Q_OBJECT

  static RunSummaryFigures optimized(bool passed) {
    RunSummaryFigures f;
    f.verb = "optimize";
    f.speedup = 1.5;
    f.speedup_ci95 = {1.4, 1.6};
    f.verified = Verification{};
    f.verified->passed = passed;
    return f;
  }
  static nlohmann::json parsed(const std::string& text) { return nlohmann::json::parse(text, nullptr, false); }

 private slots:
  void what_does_not_apply_is_null() {
    RunSummaryFigures f;
    f.verb = "run";
    const auto j = parsed(to_json(f));
    for (const char* key :
         {"baseline", "optimized", "speedup", "speedup_ci95", "verified", "preload", "session", "config"})
      QVERIFY2(j.contains(key) && j[key].is_null(), key);
    QVERIFY(!j.contains("decisions"));
  }

  void words_become_values_and_words_of_later_versions_are_unknown() {
    const auto read = [](const char* rule, const char* plan) {
      return parse_summary(std::string("{\"schema\":\"stormcell.optimize/1\",\"split\":{\"rule\":\"") + rule +
                           "\"},\"exits\":{\"plan\":" + plan + "}}")
          ->figures;
    };
    const RunSummaryFigures known = read("first", "\"optimized\""), later = read("odd", "\"fastest\""),
                            older = read("strided", "null");
    QVERIFY(known.split->rule == SplitRule::first && known.exits->plan == CurvePlan::optimized);
    QVERIFY(later.split->rule == SplitRule::unknown && later.exits->plan == CurvePlan::unknown);
    QVERIFY(older.split->rule == SplitRule::strided && !older.exits->plan);
    const auto j = parsed(to_json(known));
    QVERIFY(j["split"]["rule"] == "first" && j["exits"]["plan"] == "optimized" &&
            parsed(to_json(older))["exits"]["plan"].is_null());
  }

  /// Every key stays. The reason is beside the figure that is null.
  void a_quality_of_too_few_items_is_null_with_the_reason() {
    const auto baseline = [](int64_t items) {
      RunSummaryFigures f;
      f.quality.emplace().baseline = PlanQuality{1, {{0.2, 1}}, items, items};
      return parsed(to_json(f))["quality"]["baseline"];
    };
    const auto one = baseline(1), enough = baseline(3);
    for (const char* key : {"value", "value_ci95", "value_withheld", "items", "counted"})
      QVERIFY2(one.contains(key) && enough.contains(key), key);
    QVERIFY2(one["value"].is_null() && one["value_ci95"].is_null() && one["items"] == 1 && one["counted"] == 1,
             one.dump().c_str());
    QCOMPARE(one["value_withheld"].get<std::string>(), std::string("1 item was judged, and 3 are needed"));
    QVERIFY2(enough["value"] == 1.0 && enough["value_ci95"].size() == 2 && enough["value_withheld"].is_null(),
             enough.dump().c_str());
  }

  void a_speed_up_is_only_stated_where_it_was_verified() {
    QCOMPARE(parsed(to_json(optimized(true)))["speedup"].get<double>(), 1.5);
    QVERIFY(parsed(to_json(optimized(false)))["speedup"].is_null());
    QVERIFY(parsed(to_json(optimized(false)))["speedup_ci95"].is_null());
    RunSummaryFigures f = optimized(true);
    f.verified.reset();
    QVERIFY(parsed(to_json(f))["speedup"].is_null());
  }

  void an_operator_says_how_many_batches_its_steps_are_of() {
    RunSummaryFigures f = optimized(true);
    f.baseline_operators = {{"linear", 96, 2, 1, 0.5, 8}, {"scatter", 8, 1, 2, 0.25, 8}, {"norm", 8, 1, 2, 1.5, 8}};
    const auto j = parsed(to_json(f))["operators"]["baseline"];
    QCOMPARE(j[0]["steps"].get<int>(), 96);
    QCOMPARE(j[0]["steps_per_batch"].get<double>(), 12.0);
    QVERIFY(!j[0]["in_cache"].get<bool>() && j[1]["in_cache"].get<bool>());
    // Faster than the arithmetic allows is no cache, but a ceiling that was probed too low.
    QVERIFY(!j[2]["in_cache"].get<bool>());
  }

  void numbers_that_are_not_finite_are_null() {
    RunSummaryFigures f = optimized(true);
    f.verified->max_rel_diff = std::numeric_limits<double>::infinity();
    f.speedup = std::nan("");
    const auto j = parsed(to_json(f));
    QVERIFY(j.is_object() && j["verified"]["max_rel_diff"].is_null() && j["speedup"].is_null());
  }

  void a_verification_is_read_as_it_was_written() {
    RunSummaryFigures f = optimized(true);
    Verification& v = *f.verified;
    v.reasons = {"output small differs"};
    v.tolerance = 1e-4, v.max_rel_diff = std::numeric_limits<double>::infinity();
    v.flips = 3, v.explained_flips = 1, v.consequences = 7, v.dropped = 2;
    v.outputs = {{"small", 0.5, 0.25, 0.125}, {"logits", 4, 2, 1}};
    v.routers = {{"moe", 1e-6, 3, 2e-6, 3, 1}};
    v.format = FormatCost{"bf16", 0.01, 0.05, true, {{"small", 0, 0.01, 0.25}}, 0.25, 5760, 99};
    Flip flip;
    flip.router = "moe", flip.batch = 1, flip.execution = 2, flip.cell = 3, flip.above = "exit=1", flip.reference = 4,
    flip.ours = -1;
    flip.follows = true, flip.turn = 5, flip.item = 9, flip.position = 11;
    v.listed = {flip};
    const Verification read = *parse_summary(to_json(f))->figures.verified;
    QCOMPARE(read.reasons, v.reasons);
    QCOMPARE(read.max_rel_diff, v.max_rel_diff);
    QCOMPARE(read.consequences, v.consequences);
    QCOMPARE(read.outputs.size(), size_t{2});
    QCOMPARE(read.outputs[1].max_rel_diff, 2.0);
    QCOMPARE(read.outputs[0].free_max_rel_diff, 0.125);
    QCOMPARE(read.routers[0].score_error, 1e-6);
    QCOMPARE(read.routers[0].explained_flips, int64_t{1});
    QVERIFY(read.format && read.format->dtype == "bf16" && read.format->passed && read.format->outputs.size() == 1);
    QVERIFY(read.format->free_max_rel_diff == 0.25 && read.format->outputs[0].free_max_rel_diff == 0.25);
    QCOMPARE(parsed(to_json(f))["verified"]["format"]["differing_share"].get<double>(), 99 / 5760.0);
    QCOMPARE(
        QString::fromStdString(free_cost_text(*read.format)),
        QString(
            "0.25 running freely, where 99 of 5,760 routing choices (1.7 %) differ from those of the stored weights"));
    QVERIFY(free_cost_text({"bf16", 0, 0, true, {}, 1, 4, 4}).find("4 of 4 routing choices (100 %)") !=
            std::string::npos);
    QCOMPARE(free_cost_text(FormatCost{}), std::string());
    QVERIFY(read.listed[0].follows && read.listed[0].above == "exit=1" && read.listed[0].ours == -1 &&
            read.listed[0].execution == 2);
    QVERIFY(read.listed[0].turn == 5 && read.listed[0].item == 9 && read.listed[0].position == 11);
    QCOMPARE(QString::fromStdString(flips_text(read)),
             QString("3 routing choices differ, 2 of them without a near tie; 7 more follow from that"));
  }

  void names_that_are_not_utf8_do_not_break_the_json() {
    RunSummaryFigures f = optimized(true);
    f.model.name = "model \xff\xfe";
    QVERIFY(parsed(to_json(f)).is_object());
  }

  void arrays_of_numbers_stand_on_one_line() {
    RunSummaryFigures f = optimized(true);
    f.routing.push_back({});
    f.routing[0].load = {1, 2, 3};
    QVERIFY(to_json(f).find("\"load\": [1,2,3]") != std::string::npos);
    QVERIFY(to_json(f).ends_with("}\n"));
  }

  void the_configuration_is_embedded_and_a_broken_one_is_null() {
    RunSummaryFigures f = optimized(true);
    f.config = "{\"schema\": \"stormcell.config/1\"}";
    QCOMPARE(parsed(to_json(f))["config"]["schema"].get<std::string>(), std::string("stormcell.config/1"));
    f.config = "{";
    QVERIFY(parsed(to_json(f))["config"].is_null());
  }
};

STORMCELL_TEST(SummaryJsonTest)

}  // namespace stormcell::testing

#include "summary_json_test.moc"
