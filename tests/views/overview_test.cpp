// The overview: parsing, what it says, its rules, geometry, and the view on sessions with and without a summary.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "views/drawing/theme.h"
#include "views/drawing/value_axis.h"
#include "views/overview/overview_painter.h"
#include "views/overview/overview_view.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

QJsonObject pass(const char* name, bool applied, const char* reason, double cumulative, double low, double high) {
  return {{"name", name},
          {"applied", applied},
          {"reason", reason},
          {"speedup_alone", applied ? QJsonValue(cumulative) : QJsonValue()},
          {"speedup_cumulative", applied ? QJsonValue(cumulative) : QJsonValue()},
          {"speedup_cumulative_ci95", applied ? QJsonValue(QJsonArray{low, high}) : QJsonValue()},
          {"guard_hits", 12},
          {"fallbacks", 0}};
}

/// The same, with what it brought upon those before it.
QJsonObject brought(QJsonObject pass, double own, double low, double high) {
  pass["speedup_own"] = own;
  pass["speedup_own_ci95"] = QJsonArray{low, high};
  return pass;
}

QJsonObject plan(double median, double cells) {
  return {
      {"latency_ms", QJsonObject{{"median", median}, {"p95", 1.6 * median}, {"min", 0.5 * median}, {"mean", 1.1 * median}, {"runs", 416}}},
      {"cells_per_s", cells},
      {"limit_share", 1.4 / median},
      {"peak_weight_bytes", 5174272},
      {"peak_activation_bytes", 2394432}};
}

/// Of a run whose data have padding, which the pass unpad leaves out.
QJsonObject optimised();
QJsonObject unpadded() {
  QJsonObject j = optimised();
  QJsonObject data = j["dataset"].toObject();
  data["cells_as_given"] = 83786, data["cells_by_length"] = 47012, data["by_length"] = false;
  j["dataset"] = data;
  QJsonArray passes = j["passes"].toArray();
  passes.append(brought(pass("unpad", true, "padding is not computed: 46 % of the cells of token", 1.58, 1.5, 1.66), 1.58, 1.5, 1.66));
  j["passes"] = passes;
  return j;
}

QJsonObject optimised() {
  return {{"schema", "stormcell.optimize/1"},
          {"version", "0.1.0"},
          {"phase", "forward"},
          {"model", QJsonObject{{"name", "demo:switch-names"}, {"family", "switch_transformers"}, {"weights", "trained"}}},
          {"dataset", QJsonObject{{"name", "demo:switch-names"}, {"batches", 210}, {"cells", 83786}, {"cells_without_padding", 45336}}},
          {"device", QJsonObject{{"name", "Example CPU"},
                                 {"backend", "cpu"},
                                 {"threads", 2},
                                 {"core_placement", "two cores, one L3"},
                                 {"peak_gflops", 416.6},
                                 {"read_gbps", 33.1}}},
          {"baseline", plan(2.34, 159057)},
          {"optimized", plan(1.87, 199000)},
          {"speedup", 1.25},
          {"speedup_ci95", QJsonArray{1.21, 1.3}},
          {"verified", QJsonObject{{"passed", true},
                                   {"text", "210 of 210 batches against the oracle"},
                                   {"tolerance", 0.02},
                                   {"max_rel_diff", 2.29e-6},
                                   {"flips", 3},
                                   {"explained_flips", 3},
                                   {"dropped", 0}}},
          {"passes",
           QJsonArray{brought(pass("dead-path", true,
                                   "2 branches of 2 routers got no cells; 256.0 KiB of weights are loaded only if a guard misses", 1.02,
                                   0.99, 1.05),
                              1.02, 0.99, 1.05),
                      brought(pass("vertical-fusion", true, "5 norms, 8 activations, 11 residuals folded into products", 1.25, 1.21, 1.3),
                              1.22, 1.18, 1.27),
                      pass("quantize-int8", false, "lossy: it runs only when enabled by name", 0, 0, 0)}},
          {"routing", QJsonArray{QJsonObject{{"router", "encoder.block.1.mlp"}, {"branches", 8}, {"imbalance", 1.4}, {"entropy", 2.5}}}},
          {"warnings", QJsonArray{}}};
}

std::string text(const QJsonObject& json) { return QJsonDocument(json).toJson().toStdString(); }

Situation situation(const QJsonObject& summary) {
  Situation s;
  s.facts.line.id = 2, s.facts.line.kind = "optimize", s.facts.line.status = "finished", s.facts.line.batches = 210;
  s.facts.line.started = "2026-01-02T03:04:05Z";
  s.facts.model = "demo:switch-names", s.facts.device = "Example CPU", s.facts.inputs = true,
  s.facts.newest_result = summary.isEmpty() ? 0 : 2;
  s.facts.routers = {{"encoder.block.1.mlp", 8, {1, 2, 3}, {0, 0, 0}, 1.4, 2.5},
                     {"decoder.block.1.mlp", 8, {1, 2, 3}, {0, 0, 0}, 0.4, 2.9}};
  s.summary = shown(parse_summary(text(summary)));
  s.repeatable = true;
  return s;
}

bool says(const Table& table, const QString& what) {
  for (const auto& row : table.rows)
    for (const Value& v : row)
      if (to_text(v).contains(what)) return true;
  return false;
}

QStringList rules_of(const Situation& s) {
  QStringList ids;
  for (const NextStep& step : next_steps(s, 99)) ids << step.rule;
  return ids;
}

}  // namespace

class OverviewTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void a_summary_is_read_and_anything_else_is_none() {
    const auto s = shown(parse_summary(text(optimised())));
    QVERIFY(s && s->figures.is_verified() && s->figures.speedup == 1.25);
    QCOMPARE(s->figures.passes.size(), size_t{3});
    QCOMPARE(s->figures.dataset.cells, int64_t{83786});
    QVERIFY(!s->figures.passes[2].speedup_cumulative);
    for (const char* other : {"", "{", "[]", "{\"speedup\":1.5}", "{\"schema\":\"stormcell.compare/1\"}", "{\"schema\":7}"})
      QVERIFY2(!shown(parse_summary(other)), other);
    // Missing parts leave gaps, nothing else.
    const auto bare = shown(parse_summary("{\"schema\":\"stormcell.run/1\",\"passes\":7,\"baseline\":[],\"routing\":[null]}"));
    QVERIFY(bare && !bare->figures.baseline && bare->figures.passes.empty());
    const auto g =
        shown(parse_summary(R"({"schema":"stormcell.generate/1","tokens":100,"tokens_per_s":50.5,"latency_ms":{"median":3,"runs":4}})"));
    QVERIFY(g && g->generated && g->generated->tokens == 100 && g->figures.baseline->latency_ms.median == 3);
  }

  void what_is_not_verified_never_shows_a_speed_up() {
    QJsonObject failed = optimised();
    failed["verified"] = QJsonObject{{"passed", false}, {"text", "1 of 210"}, {"tolerance", 0.02}, {"max_rel_diff", 0.5}};
    QJsonObject none = optimised();
    none["verified"] = QJsonValue();
    for (const QJsonObject& j : {failed, none}) {
      const Situation s = situation(j);
      const OverviewPageModel page = make_page(s);
      QVERIFY(!s.summary->figures.speedup && !page.hero.ratio && page.waterfall.empty());
      QVERIFY(page.headline.startsWith("Not verified"));
      for (const FigureRow& row : page.figures) QVERIFY(row.after.isEmpty() && row.change.isEmpty());
      const Table table = make_overview_table(s);
      QVERIFY(!says(table, "1.25") && !says(table, "speed-up alone") && !says(table, "optimised"));
    }
    QVERIFY(rules_of(situation(failed)).constFirst() == "not-verified");
    QVERIFY(rules_of(situation(none)).constFirst() == "not-compared");
  }

  void the_proof_says_why_it_failed_what_follows_and_what_the_format_costs() {
    QJsonObject failed = optimised();
    failed["verified"] =
        QJsonObject{{"passed", false},
                    {"text", "1 of 210"},
                    {"reasons", QJsonArray{"the scores of router moe differ by 0.004 of the largest score"}},
                    {"tolerance", 0.0001},
                    {"max_rel_diff", 2e-6},
                    {"flips", 2},
                    {"explained_flips", 2},
                    {"consequences", 5},
                    {"format", QJsonObject{{"dtype", "bf16"}, {"max_rel_diff", 0.007}, {"tolerance", 0.05}, {"passed", true}}}};
    QVERIFY(!proof_of(situation(failed)).text.contains("Running freely"));  // an older run
    QJsonObject verified = failed["verified"].toObject(), format = verified["format"].toObject();
    format["free_max_rel_diff"] = 0.42, format["choices"] = 5760, format["differing_choices"] = 99;
    verified["format"] = format;
    failed["verified"] = verified;
    const Situation s = situation(failed);
    const QString said = proof_of(s).text;
    QVERIFY2(said.contains("Running freely it is 0.42: 99 of 5,760 routing choices differ"), qPrintable(said));
    QVERIFY2(
        said.contains("Failed: the scores of router moe differ") && said.contains("5 more follow") && said.contains("Converting to bf16"),
        qPrintable(said));
    QVERIFY(next_steps(s, 1).at(0).sentence.contains("the scores of router moe differ"));
  }

  void the_page_says_what_the_figures_say() {
    const OverviewPageModel page = make_page(situation(optimised()));
    QVERIFY(page.headline.startsWith(QString::fromUtf8("1.25×")));
    QVERIFY(page.tone == Tone::good && page.proof.tone == Tone::good);
    QVERIFY(page.proof.text.contains("3 routing decisions differ, 3 of them"));
    QCOMPARE(page.figures.size(), size_t{7});
    QCOMPARE(page.figures[0].change, change_text(1.1 * 2.34, 1.1 * 1.87));
    // Medians and percentiles are shown and never divided.
    QVERIFY(page.figures[1].name.contains("median") && page.figures[1].change.isEmpty() && !page.figures[1].after.isEmpty());
    QVERIFY(page.figures[2].name.contains("95th") && page.figures[2].change.isEmpty());
    QCOMPARE(page.waterfall.size(), size_t{3});
    QCOMPARE(page.waterfall[1].from, 1.02);
    QVERIFY(!page.waterfall[2].to);
    QVERIFY(page.figures[4].name == "Share of the limit" && page.figures[4].before == "59.8 %" && !page.figures[4].change.isEmpty());
    // What stays in a cache is no share of the memory's limit.
    QJsonObject cached = optimised(), fast = plan(1.87, 199036);
    fast["limit_share"] = 1.03;
    cached["optimized"] = fast;
    const FigureRow share = make_page(situation(cached)).figures[4];
    QVERIFY(share.before == "59.8 %" && share.after == "in cache" && share.change.isEmpty());
    QJsonObject even = optimised();
    even["speedup_ci95"] = QJsonArray{0.9, 1.3};
    QVERIFY(make_page(situation(even)).headline.startsWith("No measurable difference"));
    even["speedup_ci95"] = QJsonArray{0.8, 0.9};
    QVERIFY(make_page(situation(even)).tone == Tone::bad);
    QVERIFY(make_page(situation({})).notes[0].contains("Missing"));
  }

  void a_pass_is_coloured_by_what_it_brought_itself() {
    QJsonObject j = optimised();
    const QJsonObject first = brought(pass("unpad", true, "padding is not computed", 1.6, 1.5, 1.7), 1.6, 1.5, 1.7),
                      second = brought(pass("same", true, "nothing", 1.6, 1.5, 1.7), 1, 0.98, 1.02),
                      third = brought(pass("slower", true, "kept for its memory", 1.5, 1.4, 1.6), 0.93, 0.9, 0.96),
                      older = pass("older", true, "of an older run", 1.6, 1.5, 1.7);
    j["passes"] = QJsonArray{first, second, third, older};
    const OverviewPageModel page = make_page(situation(j));
    QCOMPARE(page.waterfall.size(), size_t{4});
    QVERIFY(page.waterfall[0].tone == Tone::good && page.waterfall[1].tone == Tone::plain && page.waterfall[2].tone == Tone::bad &&
            page.waterfall[3].tone == Tone::plain);
    QVERIFY(page.waterfall[1].tip.contains("of the speed without it"));
  }

  void what_padding_costs_and_what_saves_it_is_told() {
    const auto row_of = [](const QJsonObject& json) {
      const OverviewPageModel page = make_page(situation(json));
      const auto at =
          std::find_if(page.figures.begin(), page.figures.end(), [](const FigureRow& r) { return r.name == "Padding computed"; });
      return at == page.figures.end() ? FigureRow{} : *at;
    };
    const FigureRow row = row_of(unpadded());
    QCOMPARE(row.before, percent_text((83786. - 45336) / 83786));
    QCOMPARE(row.after, percent_text(0));
    QVERIFY2(row.note.contains(percent_text((47012. - 45336) / 47012)) && row.note.contains("like length"), qPrintable(row.note));
    QVERIFY2(row.tip.contains("83,786 cells") && row.tip.contains("1.58x the speed [1.5, 1.66], measured"), qPrintable(row.tip));
    // An older run does not say; where the pass did nothing the plan computes padding too.
    QVERIFY(row_of(optimised()).name.isEmpty());
    QJsonObject padded = unpadded();
    padded["passes"] = QJsonArray{};
    QCOMPARE(row_of(padded).after, row.before);
  }

  void task_quality_stands_beside_speed() {
    const auto row = [](const QJsonObject& json) {
      const OverviewPageModel page = make_page(situation(json));
      const auto at = std::find_if(page.figures.begin(), page.figures.end(), [](const FigureRow& r) { return r.name == "Accuracy"; });
      return at == page.figures.end() ? FigureRow{} : *at;
    };
    QVERIFY(row(optimised()).name.isEmpty());
    QJsonObject json = optimised();
    json["quality"] = QJsonObject{
        {"task", "classification"},
        {"measure", "accuracy"},
        {"unit", "share"},
        {"interval", "Wilson"},
        {"counts", "right"},
        {"item", "picture"},
        {"items", 1000},
        {"not_judged", 0},
        {"baseline", QJsonObject{{"value", 0.989}, {"value_ci95", QJsonArray{0.98, 0.994}}, {"items", 1000}, {"counted", 989}}},
        {"optimized", QJsonObject{{"value", 0.99}, {"value_ci95", QJsonArray{0.982, 0.995}}, {"items", 1000}, {"counted", 990}}},
        {"better", 1},
        {"worse", 0}};
    const FigureRow accuracy = row(json);
    QCOMPARE(accuracy.before, QString("98.9 % [98.0, 99.4]"));
    QCOMPARE(accuracy.after, QString("99.0 % [98.2, 99.5]"));
    QCOMPARE(accuracy.note, QString("of 1,000 pictures"));
    QVERIFY(accuracy.tip.contains("989 of 1,000 pictures right") &&
            accuracy.tip.contains("1 picture better than the baseline and 0 worse"));
  }

  void the_dense_plan_and_the_exits_have_rows_of_their_own() {
    QJsonObject json = optimised();
    json["dense"] = plan(5.2, 60000);
    json["routing_speedup"] = 2.08, json["routing_speedup_ci95"] = QJsonArray{2.0, 2.16};
    const QJsonObject chosen{{"threshold", 0.9}, {"mean_cost", 0.503}, {"value", 0.989}, {"items", QJsonArray{844, 156}}};
    json["exits"] = QJsonObject{{"measure", "accuracy"},
                                {"unit", "share"},
                                {"item", "picture"},
                                {"items", 1000},
                                {"exits", QJsonArray{QJsonObject{{"router", "exits.0.router"}, {"cost", 0.428}, {"value_of_all", 0.983}},
                                                     QJsonObject{{"cost", 1.0}, {"value_of_all", 0.989}}}},
                                {"plan", "optimized"},
                                {"chosen", chosen}};
    json["item_costs"] = QJsonObject{{"item", "picture"},
                                     {"items", 1000},
                                     {"share", 0.25},
                                     {"operations", 2.5e6},
                                     {"operations_of_all", 1e7},
                                     {"parts", QJsonObject{{"mean", 6.36}, {"of", 18}}}};
    QJsonObject dataset = json["dataset"].toObject();
    dataset["note"] = "drawings for a first look";
    json["dataset"] = dataset;
    const OverviewPageModel page = make_page(situation(json));
    QStringList names, values, after;
    for (const FigureRow& row : page.figures) names << row.name, values << row.before, after << row.after;
    QVERIFY(names.contains("Operations spent") && values[names.indexOf("Operations spent")] == percent_text(0.25));
    QVERIFY(page.figures[names.indexOf("Operations spent")].tip.contains("2.5 million on average, 25.0 % of the 10 million"));
    const auto parts = names.indexOf("Parts computed");
    QVERIFY(parts >= 0 && values[parts] == "6.36" && page.figures[parts].note == "of the 18 that routers may leave out, counted");
    QVERIFY(page.notes.contains("The data are drawings for a first look."));
    QVERIFY(names.contains("Dense plan") && names.contains("Operations with exits"));
    // Under the plan whose they are, and the dense plan under none.
    QCOMPARE(after[names.indexOf("Operations with exits")], percent_text(0.503));
    QVERIFY(values[names.indexOf("Operations with exits")].isEmpty());
    QVERIFY(page.figures[names.indexOf("Dense plan")].apart && !page.figures[names.indexOf("Operations with exits")].apart);
    // Two shares of operations side by side are of different plans.
    QVERIFY(page.figures[names.indexOf("Operations with exits")].note.contains("as the optimised plan runs"));
    QVERIFY(page.figures[names.indexOf("Operations spent")].note.contains("in the model's own order"));
    QVERIFY(page.figures[names.indexOf("Dense plan")].note.contains(times_text(2.08)));
  }

  void operations_with_exits_stand_under_both_plans_where_both_are_known() {
    QJsonObject json = optimised();
    json["exits"] = QJsonObject{
        {"measure", "accuracy"},
        {"unit", "share"},
        {"item", "picture"},
        {"items", 1000},
        {"exits", QJsonArray{QJsonObject{{"router", "exits.0.router"}, {"cost", 0.25}, {"baseline_cost", 0.5}, {"value_of_all", 0.9}},
                             QJsonObject{{"cost", 1.0}, {"baseline_cost", 1.0}, {"value_of_all", 0.9}}}},
        {"plan", "optimized"},
        {"chosen", QJsonObject{{"threshold", 0.9}, {"mean_cost", 0.4}, {"value", 0.9}, {"items", QJsonArray{800, 200}}}}};
    const OverviewPageModel page = make_page(situation(json));
    const auto row =
        std::find_if(page.figures.begin(), page.figures.end(), [](const FigureRow& r) { return r.name == "Operations with exits"; });
    QVERIFY(row != page.figures.end());
    QCOMPARE(row->before, percent_text(0.6));
    QCOMPARE(row->after, percent_text(0.4));
  }

  void a_target_of_exits_says_the_thresholds_that_both_plans_run_with() {
    Situation s = situation(optimised());
    ExitTarget& t = s.summary->figures.exit_target.emplace();
    t.of = Bounded::quality, t.target = 0.9, t.met = true, t.measure = "accuracy", t.unit = "share", t.item = "picture";
    t.thresholds = {0, 0.625}, t.own_thresholds = {0.9, 0.9};
    t.own.value = 0.95, t.held_out.value = 0.975, t.held_out.items = {40, 5};
    const OverviewPageModel page = make_page(s);
    QStringList rows;
    for (const FigureRow& row : page.figures)
      if (row.apart) rows << row.name + ": " + row.before + ", " + row.note;
    QCOMPARE(rows, (QStringList{"Target of the exits: met, accuracy of at least 90.0 %",
                                "Thresholds found for it, by exit: all leave, 0.625, both plans run with them, not with the model's own",
                                "With the model's own thresholds: 95.0 %, accuracy of 45 pictures held out; with those found 97.5 %"}));
    const Table table = make_overview_table(s);
    QVERIFY(std::any_of(table.rows.begin(), table.rows.end(), [](const auto& row) { return row[0] == Value(QString("exit target")); }));
  }

  void a_budget_is_told_with_what_was_read_and_held() {
    QJsonObject j = optimised();
    for (const auto& [plan, share] : {std::pair("baseline", 0.25), {"optimized", 0.5}}) {
      QJsonObject of = j[plan].toObject();
      of["weights_read"] =
          QJsonObject{{"executions", 9}, {"reads", 42.5}, {"bytes_read", 5242880.0}, {"stall_ms", 2.5}, {"stall_share", share}};
      j[plan] = of;
    }
    j["weight_budget"] = QJsonObject{{"budget_bytes", 62914560}, {"dense_bytes", 31457280},   {"expert_bytes", 104857600},
                                     {"slot_bytes", 52428800},   {"arena_bytes", 7340032},    {"reads", 286},
                                     {"held_bytes", 101711872},  {"held_counted", "process"}, {"bytes_read", 99}};
    Situation s = situation(j);
    s.facts.line.weight_budget = 62914560;
    const OverviewPageModel page = make_page(s);
    QVERIFY2(page.lead.contains("budget: 60.0 MiB for weights of branches"), qPrintable(page.lead));
    const auto row_of = [&page](const QString& name) {
      for (const FigureRow& r : page.figures)
        if (r.name == name) return r;
      return FigureRow{};
    };
    QCOMPARE(row_of("Weights read").before, QString("5.00 MiB"));
    QCOMPARE(row_of("Waits for weights").before, QString("25.0 %"));
    QCOMPARE(row_of("Waits for weights").after, QString("50.0 %"));
    QCOMPARE(row_of("Memory held").before, QString("97.0 MiB"));
    QVERIFY2(row_of("Memory held").note.contains("87.0 MiB were planned") && row_of("Memory held").tip.contains("room for 50.0 MiB"),
             qPrintable(row_of("Memory held").note + row_of("Memory held").tip));
    const Table table = make_overview_table(s);
    QVERIFY(says(table, "budget for weights of branches") && says(table, "Waits for weights"));
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    // Without one there is no word of it.
    QVERIFY(!make_page(situation(optimised())).lead.contains("budget") && !says(make_overview_table(situation(optimised())), "Waits for"));
    // Of decoded text there is one plan, whose executions are the batches.
    QJsonObject generated = {{"schema", "stormcell.generate/1"},
                             {"tokens", 9},
                             {"tokens_per_s", 3},
                             {"batches", 4},
                             {"latency_ms", QJsonObject{{"median", 3}, {"runs", 4}}},
                             {"weights_read", j["baseline"].toObject()["weights_read"]}};
    QVERIFY(says(make_overview_table(situation(generated)), "Waits for weights"));
  }

  void where_everything_was_left_out_nothing_was_gained_and_that_is_no_failure() {
    QJsonObject j = optimised(),
                left = pass("dead-path", false, "left out: 0.973 [0.936, 0.995] of the speed without it, and no memory saved", 0, 0, 0);
    left["left_out"] = true;
    j["optimized"] = j["speedup"] = j["speedup_ci95"] = QJsonValue();
    j["passes"] = QJsonArray{left};
    const OverviewPageModel page = make_page(situation(j));
    QVERIFY2(page.headline.startsWith("Nothing was gained: the passes that applied are left out"), qPrintable(page.headline));
    QVERIFY(page.tone == Tone::plain && page.waterfall[0].left_out);
  }

  void decoding_says_whether_it_was_verified() {
    QJsonObject j{{"schema", "stormcell.generate/1"}, {"tokens", 100}, {"tokens_per_s", 50.5}};
    QVERIFY(proof_of(situation(j)).tone == Tone::warn);
    const QString text = "the first 16 tokens of 3 of 3 sequences equal the oracle's";
    for (const bool passed : {true, false}) {
      j["verified"] = QJsonObject{{"passed", passed}, {"text", text}, {"reasons", passed ? QJsonArray{} : QJsonArray{"a token differs"}}};
      const Situation s = situation(j);
      QCOMPARE(proof_of(s).title, passed ? QString("Verified") : QString("Verification failed"));
      QVERIFY(proof_of(s).text.startsWith(text) && proof_of(s).text.contains("Failed: a token differs") == !passed);
      QCOMPARE(make_page(s).headline.startsWith("Not verified"), !passed);
    }
    // Too little that was compared is no difference that was found.
    j["verified"] =
        QJsonObject{{"passed", false}, {"text", text}, {"reasons", QJsonArray{"inconclusive: 3 of 24 tokens could be compared"}}};
    const Situation s = situation(j);
    QCOMPARE(proof_of(s).title, QString("Not verified"));
    QVERIFY(proof_of(s).text.contains("inconclusive: 3 of 24") && !proof_of(s).text.contains("Failed"));
    QCOMPARE(make_page(s).headline, QString("Not verified: too little could be compared with the reference."));
  }

  void the_table_obeys_the_rules_of_models() {
    const Table table = make_overview_table(situation(optimised()));
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    QVERIFY(says(table, "1.25") && !says(table, "predicted") && says(table, "measured"));
    QVERIFY(to_csv(table).contains("vertical-fusion"));
  }

  void every_rule_has_a_case_data() {
    QTest::addColumn<QString>("rule");
    for (const StepRule& r : step_rules()) QTest::newRow(r.id) << r.id;
  }
  void every_rule_has_a_case() {
    QFETCH(QString, rule);
    QJsonObject j = optimised();
    Situation plain = situation(j), s = plain;
    s.facts.routers[0].imbalance = 0.2;
    const auto verification = [](bool passed) {
      return QJsonObject{{"passed", passed}, {"text", "x"}, {"tolerance", 0.02}, {"max_rel_diff", 0.5}};
    };
    if (rule == "going-on") s = situation({}), s.facts.line.status = "running";
    if (rule == "result-elsewhere") s = situation({}), s.facts.newest_result = 5;
    if (rule == "no-result" || rule == "open-another") s = situation({}), s.facts.line.status = "interrupted";
    if (rule == "not-verified") j["verified"] = verification(false), s = situation(j);
    if (rule == "not-compared") j["verified"] = QJsonValue(), s = situation(j);
    if (rule == "interval-holds-1") j["speedup_ci95"] = QJsonArray{0.9, 1.1}, s = situation(j);
    if (rule == "wide-interval") j["speedup_ci95"] = QJsonArray{1.1, 2.1}, s = situation(j);
    if (rule == "only-baseline") j["schema"] = "stormcell.run/1", j["optimized"] = QJsonValue(), s = situation(j);
    if (rule == "fallbacks") s.summary->figures.passes[0].fallbacks = 3;
    if (rule == "dropped") s.facts.routers[1].dropped = {0, 4, 0};
    if (rule == "imbalance") s = plain;
    if (rule == "no-inputs") s.facts.inputs = false;
    if (rule == "compared") s.compared = true;
    if (rule == "flips") s.summary->figures.passes.clear();  // else the table is offered for another reason
    QVERIFY2(rules_of(s).contains(rule), qPrintable(rules_of(s).join(' ')));
    // Never two ways to the same place, never more than asked for, always something.
    const auto three = next_steps(s);
    QVERIFY(!three.empty() && three.size() <= 3);
    QSet<QString> actions;
    for (const NextStep& step : three) {
      QVERIFY(!step.sentence.contains('%') || step.sentence.contains(" %"));
      actions.insert(step.action);
    }
    QCOMPARE(actions.size(), static_cast<qsizetype>(three.size()));
  }

  void who_recorded_no_inputs_is_told_what_they_would_be() {
    Situation s = situation(optimised());
    s.facts.inputs = false;
    const auto rule =
        std::find_if(step_rules().begin(), step_rules().end(), [](const StepRule& r) { return r.id == QString("no-inputs"); });
    QVERIFY(rule != step_rules().end() && rule->when(s) && rule->sentence(s).contains("word"));
    s.facts.pictures = true;
    QVERIFY(rule->when(s) && rule->sentence(s).contains("No pictures are kept"));
    s.facts.inputs = true;
    QVERIFY(!rules_of(s).contains("no-inputs"));
  }

  void how_much_was_measured_is_said() {
    Situation s = situation(optimised());
    QVERIFY(make_page(s).footer.contains("416 executions a plan"));
    QJsonObject j = optimised(), measured = plan(2.34, 159057);
    measured["measured_batches"] = 157, measured["rounds"] = 9;
    j["baseline"] = measured;
    j["split"] = QJsonObject{{"rule", "strided"}, {"profiled", 53}, {"measured", 157}, {"same", false}};
    const QString footer = make_page(situation(j)).footer;
    QVERIFY2(footer.contains("profiled on 53 batches (every fourth), measured on the other 157, 9 rounds"), qPrintable(footer));
    const auto with =
        parse_summary(R"({"schema":"stormcell.run/1","baseline":{"measured_batches":5,"rounds":12,"latency_ms":{"runs":60}}})");
    const auto& baseline = with->figures.baseline;
    QVERIFY(baseline->batches == 5 && baseline->rounds == 12 && baseline->latency_ms.runs == 60);
  }

  void loads_that_were_not_counted_are_not_called_even() {
    Situation s = situation(optimised());
    for (auto& row : s.facts.routers) row.load = {0, 0, 0}, row.imbalance = 0;
    QCOMPARE(routers_of(s).size(), size_t{1});  // those of the summary
    QCOMPARE(make_page(s).routers[0].imbalance, 1.4);
    Situation with;
    with.summary = shown(
        parse_summary(R"({"schema":"stormcell.run/1","routing":[{"router":"r","imbalance":1.4,"load_real":[1,2],"imbalance_real":0.7}]})"));
    QCOMPARE(routers_of(with).at(0).imbalance, 0.7);
    QVERIFY(!rules_of(s).contains("look-at-routing") && !rules_of(s).contains("imbalance"));
    s.summary->figures.routing.clear();
    QVERIFY(make_page(s).routers.empty());
  }

  void cards_do_not_overlap_and_fill_the_width() {
    for (const double width : {480.0, 760.0, 1080.0, 1730.0})
      for (const bool waterfall : {false, true}) {
        OverviewContent c;
        c.figures = 6, c.chart_rows = waterfall ? 15 : 12, c.notes = 2, c.interval = c.waterfall = waterfall;
        c.steps_height = [](double) { return 210.0; };
        const OverviewGeometry g(width, c);
        const QRectF page(0, 0, width, g.height());
        const std::vector<QRectF> all = {g.header(), g.notes(), g.hero(), g.figures(), g.chart(), g.steps(), g.footer()};
        for (size_t a = 0; a < all.size(); ++a) {
          QVERIFY(page.contains(all[a]));
          for (size_t b = a + 1; b < all.size(); ++b) QVERIFY2(!all[a].intersects(all[b]), qPrintable(QString("%1 %2").arg(a).arg(b)));
        }
        QVERIFY(g.figures().contains(g.figure_row(5)) && g.chart().contains(g.chart_row(c.chart_rows - 1)));
        QVERIFY(g.chart().contains(g.chart_area()) && g.chart_area().width() > 60);
        QVERIFY(g.steps_inside().height() >= 210);
      }
  }

  void axes_have_round_marks() {
    for (const double top : {0.03, 0.4, 1.7, 12.0, 900.0}) {
      const ValueAxis axis = ValueAxis::around({1, 1 + top}, 0, 300, 0.05);
      const auto ticks = axis.ticks(6);
      QVERIFY(ticks.size() >= 2 && ticks.size() <= 7);
      for (const double t : ticks) QVERIFY(t >= axis.low - 1e-9 && t <= axis.high + 1e-9 && axis.x(t) >= 0 && axis.x(t) <= 300);
    }
    QVERIFY(ValueAxis::around({}, 0, 10, 0.1).ticks(4).size() > 0);
    QVERIFY(ValueAxis::around({1, std::nan("")}, 0, 10, 0.1).x(1) == 5);
    QCOMPARE(duration_text(1533.4), QString("1,533 ms"));
    QCOMPARE(duration_text(0.0123), QString::fromUtf8("12.3 µs"));
    QCOMPARE(number_text(0.02), QString("0.02"));
    QCOMPARE(number_text(159057.9), QString("159,058"));
    QCOMPARE(bytes_text(5174272), QString("4.93 MiB"));
    QCOMPARE(change_text(2, 1), QString(QChar(0x2212)) + "50 %");
  }

  void sessions_with_and_without_a_summary_are_shown() {
    OverviewView view;
    run_load(view, {});
    QVERIFY(!view.has_content() && view.message().contains("No session"));
    run_load(view, context_of("/nowhere/a.storm"));
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/a.storm"));
    const std::string bare = make_session(folder_.filePath("bare.storm").toStdString(), 12);
    const auto facts = read_run_facts(bare, 0);
    QCOMPARE(facts->line.batches, int64_t{12});
    QCOMPARE(facts->newest_result, int64_t{1});
    QCOMPARE(facts->routers.size(), read_loads(bare, 1)->rows.size());
    // Without padding, as the heatmap has it: fewer than all cells that came.
    const auto all = read_loads(bare, 1);
    for (size_t r = 0; r < facts->routers.size(); ++r) {
      const auto sum = [](const std::vector<int64_t>& load) { return std::accumulate(load.begin(), load.end(), int64_t{0}); };
      QVERIFY(sum(facts->routers[r].load) > 0 && sum(facts->routers[r].load) < sum(all->rows[r].load));
    }
    run_load(view, context_of(bare));
    QVERIFY(view.has_content());
    QVERIFY(says(view.table(), "imbalance") && !says(view.table(), "speed-up"));
    Context with = context_of(make_session(folder_.filePath("measured.storm").toStdString(), 12, some_run(), text(optimised())));
    with.main.settings = "{}";
    run_load(view, with);
    QVERIFY(says(view.table(), "1.25"));
    // What could not be read is read again when asked for, whatever was on show before.
    Context gone = with;
    gone.main.file = "/nowhere/a.storm";
    run_load(view, gone);
    QVERIFY(!view.has_content());
    QVERIFY(view.look_at(gone, {}) != nullptr);
    run_load(view, with);
    QVERIFY(view.has_content() && view.look_at(with, {}) == nullptr);
    // The steps are buttons that ask for actions.
    QSignalSpy wanted(&view, &View::action_wanted);
    for (QPushButton* button : view.picture()->findChildren<QPushButton*>()) button->click();
    QCOMPARE(wanted.count(), 3);
    QVERIFY(view.picture()->accessibleDescription().contains("1.25"));
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<int>("kind");
    QTest::newRow("overview-light") << false << 0;
    QTest::newRow("overview-dark") << true << 0;
    QTest::newRow("overview-failed") << false << 1;
    QTest::newRow("overview-recording") << true << 2;
  }
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    QFETCH(int, kind);
    QJsonObject j = optimised();
    if (kind == 1)
      j["verified"] =
          QJsonObject{{"passed", false}, {"text", "1 of 210 batches against the oracle"}, {"tolerance", 0.02}, {"max_rel_diff", 0.5}};
    Situation s = situation(kind == 2 ? QJsonObject() : j);
    if (kind == 2) s.facts.line.status = "interrupted", s.facts.latency_ms = {20.3, 34.4, 3.82, 16};
    OverviewPage page;
    page.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    page.set_page(make_page(s));
    const QString trouble = compare_with_golden(draw(page, {960, 720}), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(OverviewTest)

}  // namespace stormcell::views
#include "overview_test.moc"
