// Rows of figures on the overview: what was measured, counted and found, and where it is not said.
#include <QJsonArray>
#include <QJsonObject>
#include <algorithm>

#include "tests/testing/testing.h"
#include "tests/views/overview_fixture.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

/// Figures of a run whose data have padding, which the pass unpad leaves out.
QJsonObject unpadded() {
  QJsonObject j = optimised();
  QJsonObject data = j["dataset"].toObject();
  data["cells_as_given"] = 83786, data["cells_by_length"] = 47012, data["by_length"] = false;
  j["dataset"] = data;
  QJsonArray passes = j["passes"].toArray();
  passes.append(brought(pass("unpad", true, "padding is not computed: 46 % of the cells of token", 1.58, 1.5, 1.66),
                        1.58, 1.5, 1.66));
  j["passes"] = passes;
  return j;
}

}  // namespace

class OverviewFiguresTest : public QObject {
  Q_OBJECT
 private slots:
  void what_padding_costs_and_what_saves_it_is_told() {
    const auto row_of = [](const QJsonObject& json) {
      const OverviewPageModel page = make_page(situation(json));
      const auto at = std::find_if(page.figures.begin(), page.figures.end(),
                                   [](const FigureRow& r) { return r.name == "Padding computed"; });
      return at == page.figures.end() ? FigureRow{} : *at;
    };
    const FigureRow row = row_of(unpadded());
    QCOMPARE(row.before, percent_text((83786. - 45336) / 83786));
    QCOMPARE(row.after, percent_text(0));
    QVERIFY2(row.note.contains(percent_text((47012. - 45336) / 47012)) && row.note.contains("like length"),
             qPrintable(row.note));
    QVERIFY2(row.tip.contains("83,786 cells") && row.tip.contains("1.58x the speed [1.5, 1.66], measured"),
             qPrintable(row.tip));
    // An older run does not say; where the pass did nothing the plan computes padding too.
    QVERIFY(row_of(optimised()).name.isEmpty());
    QJsonObject padded = unpadded();
    padded["passes"] = QJsonArray{};
    QCOMPARE(row_of(padded).after, row.before);
  }

  void task_quality_stands_beside_speed() {
    const auto row = [](const QJsonObject& json) {
      const OverviewPageModel page = make_page(situation(json));
      const auto at = std::find_if(page.figures.begin(), page.figures.end(),
                                   [](const FigureRow& r) { return r.name == "Accuracy"; });
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
        {"baseline",
         QJsonObject{{"value", 0.989}, {"value_ci95", QJsonArray{0.98, 0.994}}, {"items", 1000}, {"counted", 989}}},
        {"optimized",
         QJsonObject{{"value", 0.99}, {"value_ci95", QJsonArray{0.982, 0.995}}, {"items", 1000}, {"counted", 990}}},
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
    const QJsonObject chosen{
        {"threshold", 0.9}, {"mean_cost", 0.503}, {"value", 0.989}, {"items", QJsonArray{844, 156}}};
    json["exits"] = QJsonObject{
        {"measure", "accuracy"},
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
    QVERIFY(page.figures[names.indexOf("Operations spent")].tip.contains(
        "2.5 million on average, 25.0 % of the 10 million"));
    const auto parts = names.indexOf("Parts computed");
    QVERIFY(parts >= 0 && values[parts] == "6.36" &&
            page.figures[parts].note == "of the 18 that routers may leave out, counted");
    QVERIFY(page.notes.contains("The data are drawings for a first look."));
    const auto first = names.indexOf("Left at exit 1");
    QVERIFY(first >= 0 && values[first] == percent_text(0.844) && page.figures[first].note.contains("1,000 pictures"));
    QVERIFY(says(make_overview_table(situation(json)), "left at exit 1"));
    QVERIFY(names.contains("Dense plan") && names.contains("Operations with exits"));
    // Under the plan whose they are, and the dense plan under none.
    QCOMPARE(after[names.indexOf("Operations with exits")], percent_text(0.503));
    QVERIFY(values[names.indexOf("Operations with exits")].isEmpty());
    QVERIFY(page.figures[names.indexOf("Dense plan")].apart &&
            !page.figures[names.indexOf("Operations with exits")].apart);
    // Two shares of operations side by side are of different plans.
    QVERIFY(page.figures[names.indexOf("Operations with exits")].note.contains("as the optimised plan runs"));
    QVERIFY(page.figures[names.indexOf("Operations spent")].note.contains("in the model's own order"));
    QVERIFY(page.figures[names.indexOf("Dense plan")].note.contains(times_text(2.08)));
  }

  void recordings_and_traces_show_what_was_counted() {
    Situation s = situation({});
    s.facts.line.kind = "import";
    s.facts.cells = 1234, s.facts.cells_by_exit = {60, 20, 20};
    s.facts.routers[1].branches = 4;
    const auto value = [&s](const QString& name) {
      const OverviewPageModel page = make_page(s);
      for (const FigureRow& row : page.figures)
        if (row.name == name) return row.before;
      return QString();
    };
    QCOMPARE(value("Routers"), QString("2"));
    QCOMPARE(value("Branches"), QString("4 to 8"));
    QCOMPARE(value("Cells"), QString("1,234"));
    QCOMPARE(value("Left at exit 1"), percent_text(0.6));
    QCOMPARE(value("Imbalance, mean"), number_text(0.9, 2));
    const Table table = make_overview_table(s);
    QVERIFY(says(table, "1,234") && says(table, "left at the end"));
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    s.facts.cells_by_exit.clear();
    QVERIFY(value("Left at exit 1").isEmpty());
  }

  void operations_with_exits_stand_under_both_plans_where_both_are_known() {
    QJsonObject json = optimised();
    json["exits"] = QJsonObject{
        {"measure", "accuracy"},
        {"unit", "share"},
        {"item", "picture"},
        {"items", 1000},
        {"exits",
         QJsonArray{
             QJsonObject{{"router", "exits.0.router"}, {"cost", 0.25}, {"baseline_cost", 0.5}, {"value_of_all", 0.9}},
             QJsonObject{{"cost", 1.0}, {"baseline_cost", 1.0}, {"value_of_all", 0.9}}}},
        {"plan", "optimized"},
        {"chosen",
         QJsonObject{{"threshold", 0.9}, {"mean_cost", 0.4}, {"value", 0.9}, {"items", QJsonArray{800, 200}}}}};
    const OverviewPageModel page = make_page(situation(json));
    const auto row = std::find_if(page.figures.begin(), page.figures.end(),
                                  [](const FigureRow& r) { return r.name == "Operations with exits"; });
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
    QCOMPARE(
        rows,
        (QStringList{
            "Target of the exits: met, accuracy of at least 90.0 %",
            "Thresholds found for it, by exit: all leave, 0.625, both plans run with them, not with the model's own",
            "With the model's own thresholds: 95.0 %, accuracy of 45 pictures held out; with those found 97.5 %"}));
    const Table table = make_overview_table(s);
    QVERIFY(std::any_of(table.rows.begin(), table.rows.end(),
                        [](const auto& row) { return row[0] == Value(QString("exit target")); }));
    // The headline is the gain over the model as it came, and gives the share of an exit.
    QCOMPARE(page.headline, QString("The gain over the model as it came, with its own thresholds, is not stated."));
    // Withheld, it says so where the figure would be.
    t.over_model_withheld = SpeedupWithheld{WithheldReason::few_pairs, 3};
    const OverviewPageModel withheld = make_page(s);
    QVERIFY2(withheld.headline.startsWith("The gain over the model as it came was not measured well enough: 3 pairs"),
             qPrintable(withheld.headline));
    const auto not_stated = std::find_if(withheld.figures.begin(), withheld.figures.end(),
                                         [](const FigureRow& r) { return r.name == "Gain over the model as it came"; });
    QVERIFY(not_stated != withheld.figures.end() && not_stated->before == "not measured well enough" &&
            not_stated->note.startsWith("3 pairs were measured"));
    t.over_model_withheld.reset();
    t.speedup_over_model = 2.5, t.speedup_over_model_ci95 = {{2.25, 2.75}}, t.held_out.items = {45, 0};
    const OverviewPageModel gained = make_page(s);
    QCOMPARE(
        gained.headline,
        QString("2.5 [2.25, 2.75] times as fast as the model as it came, with its own thresholds; exit 1 takes all 45 "
                "pictures."));
    QVERIFY(gained.tone == Tone::good);
    const auto of_model = std::find_if(gained.figures.begin(), gained.figures.end(),
                                       [](const FigureRow& r) { return r.name == "Gain over the model as it came"; });
    QVERIFY(of_model != gained.figures.end() && of_model->before == times_text(2.5));
  }

  void a_budget_is_told_with_what_was_read_and_held() {
    QJsonObject j = optimised();
    for (const auto& [plan, share] : {std::pair("baseline", 0.25), {"optimized", 0.5}}) {
      QJsonObject of = j[plan].toObject();
      of["weights_read"] = QJsonObject{
          {"executions", 9}, {"reads", 42.5}, {"bytes_read", 5242880.0}, {"stall_ms", 2.5}, {"stall_share", share}};
      j[plan] = of;
    }
    j["weight_budget"] =
        QJsonObject{{"budget_bytes", 62914560}, {"dense_bytes", 31457280},   {"expert_bytes", 104857600},
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
    QVERIFY2(row_of("Memory held").note.contains("87.0 MiB were planned") &&
                 row_of("Memory held").tip.contains("room for 50.0 MiB"),
             qPrintable(row_of("Memory held").note + row_of("Memory held").tip));
    const Table table = make_overview_table(s);
    QVERIFY(says(table, "budget for weights of branches") && says(table, "Waits for weights"));
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    // Without one there is no word of it.
    QVERIFY(!make_page(situation(optimised())).lead.contains("budget") &&
            !says(make_overview_table(situation(optimised())), "Waits for"));
    // Decoded text has one plan, whose executions are the batches.
    QJsonObject generated = {{"schema", "stormcell.generate/1"},
                             {"tokens", 9},
                             {"tokens_per_s", 3},
                             {"batches", 4},
                             {"latency_ms", QJsonObject{{"median", 3}, {"runs", 4}}},
                             {"weights_read", j["baseline"].toObject()["weights_read"]}};
    QVERIFY(says(make_overview_table(situation(generated)), "Waits for weights"));
  }

  void how_much_was_measured_is_said() {
    Situation s = situation(optimised());
    QVERIFY(make_page(s).footer.contains("416 executions a plan"));
    QJsonObject j = optimised(), measured = plan(2.34, 159057);
    measured["measured_batches"] = 157, measured["rounds"] = 9;
    j["baseline"] = measured;
    j["split"] = QJsonObject{{"rule", "strided"}, {"profiled", 53}, {"measured", 157}, {"same", false}};
    const QString footer = make_page(situation(j)).footer;
    QVERIFY2(footer.contains("profiled on 53 batches (every fourth), measured on the other 157, 9 rounds"),
             qPrintable(footer));
    const auto with = parse_summary(
        R"({"schema":"stormcell.run/1","baseline":{"measured_batches":5,"rounds":12,"latency_ms":{"runs":60}}})");
    const auto& baseline = with->figures.baseline;
    QVERIFY(baseline->batches == 5 && baseline->rounds == 12 && baseline->latency_ms.runs == 60);
  }
};
STORMCELL_TEST(OverviewFiguresTest)

}  // namespace stormcell::views
#include "overview_figures_test.moc"
