// Two runs compared: which figures, which differences mean something, which conditions hold.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/comparison/compare.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

const ComparedFigure* find(const Comparison& comparison, const std::string& figure) {
  for (const ComparedFigure& row : comparison.rows)
    if (row.figure == figure) return &row;
  return nullptr;
}

}  // namespace

class CompareTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  std::string summary(const std::string& name, const Json& figures) {
    Json j = figures;
    j["schema"] = "stormcell.optimize/1";
    return scratch_.write(name, j.dump());
  }

 private slots:
  void an_interval_decides_whether_a_difference_is_significant() {
    const auto run = [this](const char* name, double value, double low, double high) {
      return summary(name, {{"speedup", value}, {"speedup_ci95", {low, high}}, {"between_spread", 0.02}});
    };
    const std::string a = run("a", 1.2, 1.1, 1.3), b = run("b", 1.3, 1.2, 1.4), c = run("c", 1.6, 1.5, 1.7);
    const Comparison near = compare_runs(a, b), far = compare_runs(a, c);
    QVERIFY(!*find(near, "speedup")->significant && *find(far, "speedup")->significant &&
            *find(far, "speedup")->between_runs);
    // The distances to the ends of the logarithms' intervals add as squares; values computed by Python.
    QVERIFY(std::abs((*find(far, "speedup")->ci95)[0] - 0.2436623) < 1e-6);
    QVERIFY(std::abs((*find(far, "speedup")->ci95)[1] - 0.5790016) < 1e-6);
    QVERIFY(far.warnings.empty());
    // Figures that are not times use the plain values: sqrt(0.1^2 + 0.1^2) on both sides of 0.4.
    const auto judged = [this](const char* name, double value, double low, double high) {
      return summary(name, {{"quality", {{"baseline", {{"value", value}, {"value_ci95", {low, high}}}}}}});
    };
    const Comparison quality = compare_runs(judged("d", 1.2, 1.1, 1.3), judged("e", 1.6, 1.5, 1.7));
    const ComparedFigure value = *find(quality, "quality.baseline.value");
    QVERIFY(*value.significant && !value.between_runs && std::abs((*value.ci95)[0] - (0.4 - 0.141421356)) < 1e-6);
  }

  void times_of_one_measuring_differ_by_nobody_knows_what_data() {
    QTest::addColumn<QByteArray>("first");
    QTest::addColumn<QByteArray>("second");
    QTest::addColumn<bool>("called");
    QTest::addColumn<QString>("why");
    const QByteArray known = R"({"between_spread":0.01})";
    QTest::newRow("both know the spread") << known << known << true << "";
    QTest::newRow("an older version") << QByteArray("{}") << known << false << "(one measurement)";
    QTest::newRow("older versions") << QByteArray("{}") << QByteArray("{}") << false << "(one measurement)";
    QTest::newRow("a short run") << known
                                 << QByteArray(
                                        R"({"between_spread":null,"measured_once":"measured for less than 1 s"})")
                                 << false << "(one measurement: measured for less than 1 s)";
    QTest::newRow("withheld") << known
                              << QByteArray(R"({"between_spread":0.01,"speedup_withheld":"the ceilings moved"})")
                              << false << "(not measured well enough: the ceilings moved)";
    QTest::newRow("no number") << QByteArray(R"({"between_spread":"much"})") << known << false << "(one measurement)";
  }
  void times_of_one_measuring_differ_by_nobody_knows_what() {
    QFETCH(const QByteArray, first);
    QFETCH(const QByteArray, second);
    QFETCH(const bool, called);
    QFETCH(const QString, why);
    const auto run = [this](const char* name, const QByteArray& more, double by) {
      Json j = {
          {"speedup", 1.2 * by},
          {"speedup_ci95", {1.19 * by, 1.21 * by}},
          {"routing_speedup", 2 * by},
          {"routing_speedup_ci95", {1.99 * by, 2.01 * by}},
          {"baseline", {{"latency_ms", {{"mean", 5 * by}, {"mean_ci95", {4.9 * by, 5.1 * by}}}}}},
          {"passes",
           Json::array({{{"name", "unpad"}, {"speedup_own", 1.5 * by}, {"speedup_own_ci95", {1.4 * by, 1.6 * by}}}})},
          {"item_costs", {{"share", 0.1 * by}, {"share_ci95", {0.09 * by, 0.11 * by}}}}};
      j.update(Json::parse(more.toStdString()));
      return summary(name, j);
    };
    const Comparison c = compare_runs(run("a", first, 1), run("b", second, 2));
    for (const char* figure : {"speedup", "routing_speedup", "baseline.latency_ms.mean", "passes.unpad.speedup_own"}) {
      const ComparedFigure& row = *find(c, figure);
      QVERIFY2(row.difference && *row.between_runs == called && row.ci95.has_value() == called, figure);
      QVERIFY2(called ? *row.significant : !row.significant.has_value(), figure);
    }
    // Items are the same in every run.
    QVERIFY(*find(c, "item_costs.share")->significant && !find(c, "item_costs.share")->between_runs);
    QCOMPARE(c.warnings.empty(), called);
    for (const std::string& w : c.warnings) QVERIFY2(w.find(why.toStdString()) != std::string::npos, w.c_str());
  }

  void of_two_phases_each_knows_its_own_spread_and_a_pass_that_was_left_out_none() {
    const auto run = [this](const char* name, double by, bool left_out) {
      const Json speed = {{"speedup", by}, {"speedup_ci95", {0.99 * by, 1.01 * by}}};
      Json j = speed;
      j["between_spread"] = 0.01;
      j["decode"] = speed;
      j["passes"] = Json::array({{{"name", "reorder"}, {"left_out", left_out}}});
      j["passes"][0]["speedup_own"] = by, j["passes"][0]["speedup_own_ci95"] = {0.99 * by, 1.01 * by};
      return summary(name, j);
    };
    const Comparison c = compare_runs(run("a", 1, false), run("b", 1.5, true)),
                     kept = compare_runs(run("a", 1, false), run("c", 1.5, false));
    QVERIFY(*find(c, "speedup")->significant && !*find(c, "decode.speedup")->between_runs);
    QVERIFY(!*find(c, "passes.reorder.speedup_own")->between_runs &&
            *find(kept, "passes.reorder.speedup_own")->significant);
  }

  void what_each_process_measured_is_no_figure_of_the_run() {
    const Json one = {{"speedup", 2},
                      {"between_spread", 0.01},
                      {"measurings", Json::array({{{"speedup", 1.9}}, {{"speedup", 2.1}}})}};
    Json other = one;
    other["between_spread"] = 0.02, other["measurings"][0]["speedup"] = 1.7;
    const Comparison c = compare_runs(summary("a", one), summary("b", other));
    for (const ComparedFigure& row : c.rows)
      QVERIFY2(!row.figure.starts_with("measurings") && row.significant != true, row.figure.c_str());
  }

  void a_measured_figure_without_interval_is_neither() {
    const std::string a = summary("a", {{"baseline", {{"latency_ms", {{"median", 3}}}, {"peak_weight_bytes", 7}}}}),
                      b = summary("b", {{"baseline", {{"latency_ms", {{"median", 4}}}, {"peak_weight_bytes", 8}}}});
    const Comparison comparison = compare_runs(a, b);
    QVERIFY(!find(comparison, "baseline.latency_ms.median")->significant.has_value());
    QVERIFY(*find(comparison, "baseline.peak_weight_bytes")->significant);
  }

  void a_page_of_process_memory_is_no_difference() {
    const std::string a = summary("a", {{"peak_resident_bytes", 24'117'248}}),
                      b = summary("b", {{"peak_resident_bytes", 24'121'344}});
    const ComparedFigure row = *find(compare_runs(a, b), "peak_resident_bytes");
    QCOMPARE(*row.difference, 4096.0);
    QVERIFY(!row.significant.has_value());
  }

  void figures_of_one_alone_have_no_difference() {
    const Comparison comparison = compare_runs(summary("a", {{"x", 1}}), summary("b", {{"y", 2}}));
    QVERIFY(!find(comparison, "x")->difference && !find(comparison, "x")->b && find(comparison, "y")->b &&
            !find(comparison, "y")->a);
  }

  void members_of_lists_go_by_their_names() {
    const Json figures = {{"passes", Json::array({{{"name", "dead-path"}, {"fallbacks", 3}}})},
                          {"routing", Json::array({{{"router", "a.b"}, {"load", {4, 5}}}})}};
    const Comparison comparison = compare_runs(summary("a", figures), summary("b", figures));
    QCOMPARE(*find(comparison, "passes.dead-path.fallbacks")->a, 3.0);
    QCOMPARE(*find(comparison, "routing.a.b.load.1")->a, 5.0);
  }

  void pictures_go_by_their_size() {
    const auto size = [](int height, int items) { return Json({{"height", height}, {"width", 16}, {"items", items}}); };
    const Comparison comparison = compare_runs(summary("a", {{"dataset", {{"sizes", {size(16, 3), size(24, 5)}}}}}),
                                               summary("b", {{"dataset", {{"sizes", {size(24, 7)}}}}}));
    QCOMPARE(*find(comparison, "dataset.sizes.24x16.items")->difference, 2.0);
    QVERIFY(!find(comparison, "dataset.sizes.16x16.items")->b);
  }

  void other_data_and_machines_are_warned_of_and_other_models_refused() {
    const auto run = [](const char* model, const char* data, const char* cores) {
      return Json{
          {"model", {{"fingerprint", model}}}, {"dataset", {{"name", data}}}, {"device", {{"core_placement", cores}}}};
    };
    const std::string a = summary("a", run("1", "x", "p")), b = summary("b", run("1", "y", "q")),
                      c = summary("c", run("2", "x", "p"));
    QCOMPARE(compare_runs(a, b).warnings.size(), size_t{2});
    QVERIFY(compare_runs(a, a).warnings.empty());
    VERIFY_BAD_INPUT(compare_runs(a, c), c, "is of another model than " + a);
  }

  void times_on_cores_that_lie_in_another_way_are_not_compared() {
    const auto run = [](const std::vector<std::string>& met, double speedup) {
      return Json{{"device", {{"core_placement", met.front()}, {"core_placements", met}}},
                  {"speedup", speedup},
                  {"speedup_ci95", {speedup - 0.01, speedup + 0.01}},
                  {"between_spread", 0.001}};
    };
    const std::string one = summary("one", run({"p"}, 1.5)), other = summary("other", run({"q"}, 1.7)),
                      both = summary("both", run({"q", "p"}, 1.7)),
                      older = summary("older", Json{{"device", {{"core_placement", "q"}}}, {"speedup", 1.7}});
    for (const std::string& b : {other, older}) {
      const Comparison apart = compare_runs(one, b);
      QVERIFY(!find(apart, "speedup")->comparable && !find(apart, "speedup")->significant);
      QVERIFY2(apart.warnings.at(0).ends_with("must not be compared: p and q"), apart.warnings.at(0).c_str());
    }
    // A run that met both was measured on both, and its interval holds how they differ.
    const Comparison met = compare_runs(one, both);
    QVERIFY(find(met, "speedup")->comparable && find(met, "speedup")->significant == true);
    QCOMPARE(met.warnings,
             (std::vector<std::string>{"the threads of " + both + " changed cores while it measured: q; p"}));
  }

  void what_a_warning_says_must_not_be_compared_means_nothing() {
    const auto run = [](const char* data, double peak) {
      return Json{
          {"dataset", {{"name", data}}}, {"device", {{"peak_gflops", peak}}},
          {"speedup", peak / 100},       {"speedup_ci95", {peak / 100 - 0.01, peak / 100 + 0.01}},
          {"between_spread", 0.001},     {"baseline", {{"peak_weight_bytes", peak}, {"latency_ms", {{"mean", peak}}}}}};
    };
    const std::string a = summary("a", run("x", 100)), near = summary("near", run("x", 120)),
                      busy = summary("busy", run("x", 150)), other = summary("other", run("y", 120));
    const Comparison quiet = compare_runs(a, near);
    QVERIFY(quiet.same_data && find(quiet, "speedup")->significant == true && find(quiet, "speedup")->comparable);
    for (const std::string& b : {busy, other}) {
      const Comparison c = compare_runs(a, b);
      QVERIFY2(c.warnings.at(0).find("must not be compared") != std::string::npos, c.warnings[0].c_str());
      for (const char* time : {"speedup", "baseline.latency_ms.mean"}) {
        QVERIFY2(!find(c, time)->comparable && !find(c, time)->significant && find(c, time)->difference, time);
        QVERIFY2(find(quiet, time)->comparable, time);
      }
      QVERIFY(find(c, "baseline.peak_weight_bytes")->comparable &&
              find(c, "baseline.peak_weight_bytes")->significant == true);
      QCOMPARE(c.same_data, b == busy);
    }
  }

  void a_speed_up_that_was_not_measured_well_enough_has_no_difference_and_says_why() {
    const std::string why = "other processes took 52 % of the processors";
    const Json stated = {{"speedup", 1.2},
                         {"speedup_ci95", {1.1, 1.3}},
                         {"passes", Json::array({{{"name", "p"}, {"speedup_own", 1.1}}})}},
               withheld = {{"speedup", nullptr},
                           {"speedup_ci95", nullptr},
                           {"speedup_withheld", why},
                           {"speedup_withheld_by", {{"reason", "others_at_work"}, {"measured", 0.52}, {"of", 0}}},
                           {"passes", Json::array({{{"name", "p"}, {"speedup_own", nullptr}}})},
                           {"decode", {{"speedup", nullptr}, {"speedup_withheld", "3 pairs were measured"}}}};
    const Comparison c = compare_runs(summary("stated", stated), summary("withheld", withheld));
    QVERIFY(!find(c, "speedup")->b && !find(c, "speedup")->significant && !find(c, "speedup")->difference);
    for (const ComparedFigure& row : c.rows)
      QVERIFY2(row.figure.find("withheld") == std::string::npos, row.figure.c_str());
    for (const char* condition : {"speedup<0.5", "speedup_ci95[0]<0.5", "speedup<0.5*a", "passes.p.speedup_own<0.5"}) {
      const FailVerdict verdict = judge(parse_fail_condition(condition), c);
      QVERIFY2(verdict.fails && verdict.reason.ends_with(": " + why), verdict.reason.c_str());
    }
    const FailVerdict decode = judge(parse_fail_condition("decode.speedup<0.5"), c);
    QVERIFY2(decode.fails && decode.reason.ends_with(": 3 pairs were measured"), decode.reason.c_str());
  }

  void an_older_run_is_judged_by_what_it_stored() {
    // With ceilings of 100 and 116, an earlier version stated the speed-up and those of its passes.
    const auto run = [](double after) {
      return Json{
          {"device", {{"peak_gflops_before_and_after", {100, after}}}},
          {"speedup", 1.9},
          {"speedup_ci95", {1.8, 2.0}},
          {"exit_target", {{"speedup", 1.3}, {"speedup_over_model", 2.5}, {"speedup_over_model_ci95", {2.4, 2.6}}}},
          {"passes", Json::array({{{"name", "p"}, {"speedup_alone", 1.5}, {"speedup_alone_ci95", {1.4, 1.6}}}})}};
    };
    const std::string quiet = summary("quiet", run(115)), moved = summary("moved", run(116));
    const Comparison c = compare_runs(quiet, moved);
    for (const char* figure :
         {"speedup", "passes.p.speedup_alone", "exit_target.speedup", "exit_target.speedup_over_model"})
      QVERIFY2(find(c, figure)->a && !find(c, figure)->b, figure);
    for (const char* key : {"exit_target.speedup_withheld", "exit_target.speedup_over_model_withheld"})
      QVERIFY2(c.withheld[1].at(key).find("16.0 %") != std::string::npos, key);
    for (const char* condition : {"exit_target.speedup_over_model<0.5", "exit_target.speedup_over_model_ci95[0]<0.5"})
      QVERIFY2(judge(parse_fail_condition(condition), c).reason.find("16.0 %") != std::string::npos, condition);
    QVERIFY(!find(c, "speedup")->ci95 && c.withheld[0].empty());
    QVERIFY2(c.withheld[1].at("speedup_withheld").find("16.0 %") != std::string::npos,
             c.withheld[1].at("speedup_withheld").c_str());
  }

  void a_quality_of_one_item_that_an_older_run_stated_has_no_difference_and_says_why() {
    const auto run = [this](const char* name, int items) {
      return summary(name, {{"quality", {{"baseline", {{"value", 0.9}, {"items", items}}}}}});
    };
    const Comparison c = compare_runs(run("all", 60), run("one", 1));
    QVERIFY(find(c, "quality.baseline.value")->a == 0.9 && !find(c, "quality.baseline.value")->b);
    const FailVerdict verdict = judge(parse_fail_condition("quality.baseline.value<0.5"), c);
    QVERIFY2(verdict.fails && verdict.reason.ends_with(": 1 item was judged, and 3 are needed"),
             verdict.reason.c_str());
  }

  void thresholds_of_exits_that_differ_are_said_and_numbers_of_items_are_no_figures() {
    const auto run = [this](const char* file, double threshold, int item) {
      return summary(file,
                     {{"exits", {{"thresholds", Json::array({0.9, threshold})}}},
                      {"quality", {{"item", "picture"}, {"wrong", Json::array({{{"item", item}, {"answer", "7"}}})}}},
                      {"item_costs", {{"least", {{"item", item}, {"share", 0.5}}}}}});
    };
    const std::string a = run("a", 0.9, 36), b = run("b", 0.62, 38);
    const Comparison c = compare_runs(a, b);
    QCOMPARE(c.warnings.size(), size_t{1});
    QVERIFY2(c.warnings[0].starts_with("the thresholds of exits differ: 0.9, 0.9 and 0.9, 0.62: "),
             c.warnings[0].c_str());
    QVERIFY(compare_runs(a, a).warnings.empty() && c.same_terms);
    for (const ComparedFigure& row : c.rows)
      QVERIFY2(!row.figure.ends_with("item") && row.figure.find("wrong") == std::string::npos, row.figure.c_str());
    QVERIFY(find(c, "item_costs.least.share") != nullptr);
  }

  void a_time_under_another_budget_is_no_speed_up() {
    const auto run = [](const Json& budget, int executions, double ms) {
      Json j = {{"phase", "forward"}, {"baseline", {{"latency_ms", {{"mean", ms}}}}}, {"weight_budget", nullptr}};
      if (budget.is_null()) return j;
      j["weight_budget"] = {{"budget_bytes", budget},       {"executions", executions}, {"reads", 10 * executions},
                            {"measured_reads", executions}, {"dense_bytes", 7},         {"stall_seconds", 0.5}};
      j["baseline"]["weights_read"] = {
          {"executions", executions}, {"reads", 4.5}, {"bytes_read", 100.5}, {"stall_ms", 2.5}};
      return j;
    };
    const std::string half = summary("half", run(1 << 20, 72, 5)), again = summary("again", run(1 << 20, 39, 4)),
                      other = summary("other", run(1 << 21, 72, 3)), none = summary("none", run(nullptr, 0, 2));
    const Comparison same = compare_runs(half, again), unlike = compare_runs(half, other),
                     without = compare_runs(none, half);
    QVERIFY(same.same_terms && same.warnings.empty());
    QVERIFY(!unlike.same_terms && unlike.warnings.size() == 1);
    QVERIFY2(unlike.warnings[0].find("budgets for weights of branches differ (--weight-budget): 1.0 MiB and 2.0 MiB") !=
                     std::string::npos &&
                 unlike.warnings[0].find("so a shorter time is not a speed-up") != std::string::npos,
             unlike.warnings[0].c_str());
    QVERIFY(!without.same_terms && without.warnings.at(0).find(": none and 1.0 MiB") != std::string::npos);
    // Sums over unlike numbers of executions have no difference; what one execution did has, and chance is in it.
    for (const char* sum : {"weight_budget.executions", "weight_budget.reads", "weight_budget.measured_reads",
                            "weight_budget.stall_seconds"})
      QVERIFY2(find(same, sum)->a && find(same, sum)->b && !find(same, sum)->difference, sum);
    QCOMPARE(*find(same, "weight_budget.dense_bytes")->difference, 0.0);
    QCOMPARE(*find(same, "baseline.weights_read.bytes_read")->difference, 0.0);
    QVERIFY(!find(same, "baseline.weights_read.reads")->significant);
    QCOMPARE(*find(unlike, "baseline.latency_ms.mean")->difference, -2.0);
    QVERIFY(*find(unlike, "weight_budget.budget_bytes")->significant);
    // A version that knew no budget had none.
    Json old = run(nullptr, 0, 2);
    old.erase("weight_budget");
    QVERIFY(compare_runs(none, summary("old", old)).same_terms);
  }

  void phases_that_differ_do_other_work() {
    const auto run = [](const char* phase, double rate) {
      return Json{{"phase", phase},
                  {"speedup", rate},
                  {"baseline", {{"cells_per_s", rate}, {"latency_ms", {{"mean", rate}}}, {"peak_weight_bytes", 5}}}};
    };
    const Comparison unlike = compare_runs(summary("f", run("forward", 4)), summary("d", run("decode", 3))),
                     same = compare_runs(summary("f", run("forward", 4)), summary("g", run("forward", 3)));
    QVERIFY(same.same_terms && same.warnings.empty() && find(same, "baseline.cells_per_s")->difference);
    QVERIFY(!unlike.same_terms);
    QCOMPARE(unlike.warnings.size(), size_t{1});
    QVERIFY(unlike.warnings[0].starts_with("the phases differ: forward and decode"));
    for (const char* figure : {"baseline.cells_per_s", "baseline.latency_ms.mean", "speedup"})
      QVERIFY2(find(unlike, figure)->a && find(unlike, figure)->b && !find(unlike, figure)->difference, figure);
    QVERIFY(find(unlike, "baseline.peak_weight_bytes")->difference);
  }

  void a_condition_beside_a_figure_that_is_not_comparable_is_refused() {
    const auto run = [](const char* phase, double rate) {
      return Json{{"phase", phase},
                  {"speedup", rate},
                  {"speedup_ci95", {rate - 0.1, rate + 0.1}},
                  {"baseline", {{"latency_ms", {{"mean", rate}}}, {"peak_weight_bytes", 5}}}};
    };
    const Comparison unlike = compare_runs(summary("f", run("forward", 4)), summary("d", run("decode", 3)));
    for (const char* text : {"baseline.latency_ms.mean>1.05*a", "speedup<a", "speedup_ci95[0]<0.9*a"}) {
      VERIFY_BAD_INPUT(judge(parse_fail_condition(text), unlike), "--fail-if", "not comparable");
      QVERIFY(!judge(parse_fail_condition(text),
                     compare_runs(summary("f", run("forward", 4)), summary("g", run("forward", 4))))
                   .fails);
    }
    // B's own figure is what it is, and so is what phases do not change.
    QVERIFY(judge(parse_fail_condition("speedup<3.5"), unlike).fails &&
            !judge(parse_fail_condition("speedup_ci95[0]<2"), unlike).fails);
    QVERIFY(!judge(parse_fail_condition("baseline.peak_weight_bytes>a"), unlike).fails);
  }

  void a_condition_is_a_figure_an_operator_and_a_number() {
    const FailCondition plain = parse_fail_condition(" speedup <= 0.95 ");
    QVERIFY(plain.figure == "speedup" && plain.compare == "<=" && plain.factor == 0.95 && !plain.of_a);
    const FailCondition relative = parse_fail_condition("optimized.latency_ms.median>1.05 * a");
    QVERIFY(relative.figure == "optimized.latency_ms.median" && relative.factor == 1.05 && relative.of_a);
    QVERIFY(parse_fail_condition("x!=a").of_a);
    for (const char* text : {"", "speedup", "speedup<", "<1", "a=1", "a!1", "a<>1", "a<1e999", "a<1*b", "a<b*a"})
      VERIFY_BAD_INPUT(parse_fail_condition(text), "--fail-if", "");
  }

  void a_figure_that_is_null_fails_and_an_unknown_one_is_refused() {
    const Comparison comparison = compare_runs(summary("a", {{"speedup", 1.2}}), summary("b", {{"speedup", nullptr}}));
    QVERIFY(judge(parse_fail_condition("speedup<0.95"), comparison).fails);
    VERIFY_BAD_INPUT(judge(parse_fail_condition("sped<0.95"), comparison), "--fail-if", "sped");
    const Comparison neither = compare_runs(summary("a", {{"speedup", nullptr}}), summary("b", {{"speedup", nullptr}}));
    QVERIFY(judge(parse_fail_condition("speedup<0.95"), neither).fails);
  }

  void a_condition_may_name_an_end_of_an_interval() {
    const std::string a = summary("a", {{"speedup", 1.2}, {"speedup_ci95", {1.1, 1.3}}}),
                      b = summary("b", {{"speedup", 1.2}, {"speedup_ci95", {0.9, 1.5}}}),
                      none = summary("none", {{"speedup", nullptr}, {"speedup_ci95", nullptr}});
    QVERIFY(!judge(parse_fail_condition("speedup_ci95[0]<1"), compare_runs(a, a)).fails);
    QVERIFY(judge(parse_fail_condition("speedup_ci95[0]<1"), compare_runs(a, b)).fails);
    QVERIFY(judge(parse_fail_condition("speedup_ci95[1]>1.1*a"), compare_runs(a, b)).fails);
    QVERIFY(judge(parse_fail_condition("speedup_ci95[0]<1"), compare_runs(a, none)).fails);
    VERIFY_BAD_INPUT(judge(parse_fail_condition("speedup_ci95[2]<1"), compare_runs(a, b)), "--fail-if",
                     "speedup_ci95[2]");
  }

  void a_condition_may_ask_for_true_or_false() {
    const std::string good = summary("good", {{"verified", {{"passed", true}}}}),
                      bad = summary("bad", {{"verified", {{"passed", false}}}}),
                      none = summary("none", {{"verified", nullptr}});
    const FailCondition condition = parse_fail_condition("verified.passed==false");
    QVERIFY(!judge(condition, compare_runs(good, good)).fails && judge(condition, compare_runs(good, bad)).fails);
    QVERIFY(judge(condition, compare_runs(good, none)).fails);
    VERIFY_BAD_INPUT(parse_fail_condition("verified.passed==maybe"), "--fail-if", "maybe");
  }

  void routings_have_a_distance() {
    const auto routing = [](const Json& load) {
      return Json{{"routing", Json::array({{{"router", "r"}, {"load", load}}})}};
    };
    const std::string a = summary("a", routing({1, 1, 0, 0})), twice = summary("twice", routing({2, 2, 0, 0})),
                      other = summary("other", routing({0, 0, 3, 5})), half = summary("half", routing({2, 0, 2, 0}));
    QCOMPARE(compare_runs(a, twice).routing.at(0).total_variation, 0.0);
    QCOMPARE(compare_runs(a, other).routing.at(0).total_variation, 1.0);
    QCOMPARE(compare_runs(a, other).routing.at(0).jensen_shannon_bits, 1.0);
    QCOMPARE(compare_runs(a, half).routing.at(0).total_variation, 0.5);
    QCOMPARE(compare_runs(a, half).routing.at(0).jensen_shannon_bits, 0.5);
    QVERIFY(judge(parse_fail_condition("routing.r.total_variation>0.4"), compare_runs(a, half)).fails);
    QVERIFY(!judge(parse_fail_condition("routing.r.total_variation>0.4"), compare_runs(a, twice)).fails);
  }

  void loads_with_padding_are_not_compared_with_loads_without() {
    const auto run = [](int cells) {
      return Json{{"routing", Json::array({{{"router", "a.b"},
                                            {"cells", cells},
                                            {"load", {cells / 2, cells / 2}},
                                            {"imbalance", 0.5},
                                            {"dropped", 1},
                                            {"cells_real", 40},
                                            {"load_real", {20, 20}}}})}};
    };
    const std::string padded = summary("padded", run(60)), other = summary("other", run(80)),
                      real = summary("real", run(40));
    const Comparison mixed = compare_runs(padded, real), alike = compare_runs(padded, other);
    for (const char* figure : {"routing.a.b.cells", "routing.a.b.load.0", "routing.a.b.load.1", "routing.a.b.imbalance",
                               "routing.a.b.dropped"}) {
      QVERIFY2(find(mixed, figure)->a && find(mixed, figure)->b && !find(mixed, figure)->difference, figure);
      QVERIFY2(!find(mixed, figure)->significant, figure);
      QVERIFY2(find(alike, figure)->difference, figure);
    }
    QCOMPARE(*find(mixed, "routing.a.b.load_real.0")->difference, 0.0);
    QVERIFY(!mixed.warnings.empty() && mixed.warnings.back().find("padding") != std::string::npos);
    QVERIFY(alike.warnings.empty());
    QCOMPARE(mixed.routing.at(0).total_variation, 0.0);
  }

  void ceilings_that_lie_far_apart_are_warned_of() {
    const auto peak = [](double gflops) { return Json{{"device", {{"peak_gflops", gflops}, {"read_gbps", 10}}}}; };
    const std::string a = summary("a", peak(100)), near = summary("near", peak(120)), far = summary("far", peak(130));
    QVERIFY(compare_runs(a, near).warnings.empty());
    QCOMPARE(compare_runs(a, far).warnings.size(), size_t{1});
  }

  /// Python writes NaN and Infinity. Only a figure must be finite.
  void numbers_of_python_stop_no_key_that_nobody_compares() {
    const auto text = [this](const char* name, const std::string& more) {
      return scratch_.write(name, R"({"schema": "stormcell.optimize/1", "x": 1.5)" + more + "}");
    };
    const std::string a = text("a", ""), b = text("b", R"(, "parameters": {"x": NaN}, "curve": [Infinity, -Infinity])"),
                      c = text("c", R"(, "y": NaN)");
    QVERIFY(find(compare_runs(a, b), "x"));
    VERIFY_BAD_INPUT(compare_runs(a, c), c, "y is NaN, not a finite number");
  }

  void every_operator_compares() {
    const Comparison comparison = compare_runs(summary("a", {{"x", 2}}), summary("b", {{"x", 3}}));
    for (const auto& [text, fails] : {std::pair{"x<3", false},
                                      {"x<=3", true},
                                      {"x>3", false},
                                      {"x>=3", true},
                                      {"x==3", true},
                                      {"x!=3", false},
                                      {"x<2*a", true},
                                      {"x>a", true}})
      QVERIFY2(judge(parse_fail_condition(text), comparison).fails == fails, text);
  }
};

STORMCELL_TEST(CompareTest)

}  // namespace stormcell::testing

#include "compare_test.moc"
