// The comparison: what differences mean, names, filter, geometry, and the view on two sessions.
#include <QComboBox>
#include <QLineEdit>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "views/compare/compare_names.h"
#include "views/compare/compare_painter.h"
#include "views/compare/compare_view.h"
#include "views/drawing/theme.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

ComparedFigure figure(const char* path, double a, double b, std::optional<bool> significant,
                      std::optional<std::array<double, 2>> ci = {}) {
  return {path, a, b, b - a, ci, significant};
}

Comparison some_comparison() {
  Comparison c;
  c.rows = {figure("baseline.latency_ms.median", 2.344, 2.361, {}),
            figure("optimized.latency_ms.median", 2.262, 1.871, {}),
            figure("optimized.cells_per_s", 162815, 199000, {}),
            figure("speedup", 1.045, 1.252, true, {{0.15, 0.27}}),
            figure("optimized.peak_weight_bytes", 4912128, 4518912, true),
            figure("passes.dead-path.speedup_alone", 0.97, 1.01, false, {{-0.05, 0.12}}),
            figure("passes.dead-path.guard_hits", 936, 936, false),
            figure("passes.dead-path.fallbacks", 0, 4, true),
            figure("verified.max_rel_diff", 2.29e-6, 4.1e-6, true),
            figure("routing.encoder.block.1.mlp.imbalance", 0.77, 1.86, true),
            figure("routing.encoder.block.1.mlp.load.0", 100, 350, true),
            figure("routing.encoder.block.1.mlp.load.1", 200, 200, false),
            figure("device.threads", 2, 2, false)};
  c.rows.push_back({.figure = "passes.quantize-int8.speedup_alone", .b = 1.4});
  c.rows.push_back({.figure = "preload"});
  c.warnings = {"the data differ: demo:switch-names and names.jsonl"};
  return c;
}

const CompareRow& row(const CompareModel& m, const QString& path) {
  for (const CompareSection& s : m.sections)
    for (const CompareRow& r : s.rows)
      if (r.path == path) return r;
  throw std::runtime_error(path.toStdString());
}

std::string summary(double median, double speedup) {
  return QString(
             R"({"schema":"stormcell.optimize/1","dataset":{"name":"d%1","cells":100},"baseline":{"latency_ms":{"median":%1}},)"
             R"("speedup":%2,"speedup_ci95":[%3,%4],"routing":[{"router":"a.mlp","imbalance":%1,"load":[1,2]}]})")
      .arg(median)
      .arg(speedup)
      .arg(speedup - 0.01)
      .arg(speedup + 0.01)
      .toStdString();
}

std::string session_with(const std::string& path, const std::string& summary) {
  SessionWriter writer(path, some_model());
  auto run = writer.begin_run(some_run());
  record_batches(*run, two_stacks(), 0, 4);
  run->finish(RunStatus::finished, summary);
  run.reset();
  writer.close();
  return path;
}

}  // namespace

class CompareTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void meaning_comes_from_significance_and_direction() {
    const CompareModel m = make_compare(some_comparison(), "a", "b");
    QCOMPARE(row(m, "speedup").meaning, Meaning::better);
    QCOMPARE(row(m, "optimized.peak_weight_bytes").meaning, Meaning::better);
    QCOMPARE(row(m, "routing.encoder.block.1.mlp.imbalance").meaning, Meaning::worse);
    QCOMPARE(row(m, "passes.dead-path.fallbacks").meaning, Meaning::worse);
    QCOMPARE(row(m, "routing.encoder.block.1.mlp.load.0").meaning, Meaning::differs);
    // Much faster, but nothing says that it was not chance.
    QCOMPARE(row(m, "optimized.latency_ms.median").meaning, Meaning::unknown);
    QCOMPARE(row(m, "passes.dead-path.speedup_alone").meaning, Meaning::same);
    QCOMPARE(row(m, "passes.quantize-int8.speedup_alone").meaning, Meaning::only_one);
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      QCOMPARE(color_of(Meaning::better, *theme), theme->good);
      QCOMPARE(color_of(Meaning::worse, *theme), theme->bad);
      QCOMPARE(color_of(Meaning::same, *theme), color_of(Meaning::unknown, *theme));
    }
    QVERIFY(figure_of("operators.baseline.linear.limit_ms_per_batch").better == Better::neither);
    QVERIFY(std::abs((*row(m, "speedup").interval)[0] - 0.15 / 1.045) < 1e-12);
    QVERIFY(!row(m, "passes.dead-path.fallbacks").relative);  // of nothing there is no share
  }

  void figures_have_names_and_sections() {
    const CompareModel m = make_compare(some_comparison(), "a", "b");
    QStringList titles;
    for (const CompareSection& s : m.sections) titles << s.title;
    QCOMPARE(titles, (QStringList{"Latency and speed", "Memory", "Pass: Skip unused branches", "Pass: quantize-int8",
                                  "Verification", "Routing: encoder.block.1.mlp", "Model, data and machine"}));
    const FigureName load = name_of("routing.encoder.block.1.mlp.load.3");
    QCOMPARE(load.router, QString("encoder.block.1.mlp"));
    QCOMPARE(load.branch, 3);
    QCOMPARE(name_of("optimized.latency_ms.p95").name, QString("optimised: latency, 95th percentile"));
    QCOMPARE(name_of("operators.baseline.linear.ms_per_batch").name, QString("linear: time of a batch"));
    QCOMPARE(name_of("nonsense").name, QString("nonsense"));
    QCOMPARE(name_of("").name, QString());
  }

  void a_budget_has_a_section_and_no_time_under_another_is_better() {
    Comparison c = some_comparison();
    c.rows.push_back(figure("baseline.weights_read.stall_share", 0.25, 0.5, {}));
    c.rows.push_back(figure("weight_budget.budget_bytes", 1 << 20, 2 << 20, true));
    c.rows.push_back({.figure = "weight_budget.reads", .a = 1038.0, .b = 24.0});
    c.rows.push_back(figure("baseline.states.taken_bytes", 4096, 8192, true));
    const CompareModel judged = make_compare(c, "a", "b");
    const auto section = std::find_if(judged.sections.begin(), judged.sections.end(),
                                      [](const CompareSection& s) { return s.title == "Weights under a budget"; });
    QVERIFY(section != judged.sections.end() && section->rows.size() == 3);
    QCOMPARE(row(judged, "baseline.weights_read.stall_share").name,
             QString("baseline: waits for weights, of its time"));
    QCOMPARE(row(judged, "baseline.weights_read.stall_share").a, QString("25.0 %"));
    QCOMPARE(row(judged, "weight_budget.budget_bytes").b, QString("2.00 MiB"));
    QCOMPARE(row(judged, "baseline.states.taken_bytes").name, QString("baseline: states of sequences, taken at most"));
    // Sums of both runs are there, and have no difference.
    QCOMPARE(row(judged, "weight_budget.reads").meaning, Meaning::apart);
    QCOMPARE(row(judged, "weight_budget.reads").a, QString("1,038"));
    QCOMPARE(text_of(Meaning::apart), QString("not comparable"));
    QCOMPARE(row(judged, "speedup").meaning, Meaning::better);
    c.same_terms = false;
    for (ComparedFigure& row : c.rows)
      if (row.figure == "speedup") row.comparable = false, row.significant = {};
    const CompareModel unlike = make_compare(c, "a", "b");
    QCOMPARE(unlike.count(Meaning::better) + unlike.count(Meaning::worse), 0);
    QCOMPARE(row(unlike, "speedup").meaning, Meaning::apart);
    QCOMPARE(color_of(row(unlike, "speedup").meaning, Theme::light()), Theme::light().faint);
    QCOMPARE(row(unlike, "optimized.peak_weight_bytes").meaning, Meaning::differs);
  }

  void the_filter_keeps_sections_of_what_is_left() {
    const CompareModel m = make_compare(some_comparison(), "a", "b");
    QCOMPARE(make_lines(m, {"", CompareShow::all}).size(), size_t{14 + 7});
    const auto routing = make_lines(m, {"Encoder load", CompareShow::all});
    QCOMPARE(routing.size(), size_t{3});
    QVERIFY(!routing[0].row && routing[1].row->branch == 0);
    QCOMPARE(make_lines(m, {"encoder load", CompareShow::differing}).size(), size_t{2});
    for (const CompareLine& line : make_lines(m, {"", CompareShow::significant}))
      if (line.row) QVERIFY(line.row->figure.significant && *line.row->figure.significant);
    QVERIFY(make_lines(m, {"no such figure", CompareShow::all}).empty());
    QCOMPARE(bar_limit(make_lines(m, {"speedup", CompareShow::all})), 0.05);
    QCOMPARE(bar_limit(make_lines(m, {"routing", CompareShow::all})), 1.0);
    QCOMPARE(bar_limit({}), 0.01);
  }

  void of_two_models_none_is_better() {
    Comparison comparison = some_comparison();
    const CompareModel same = make_compare(comparison, "a", "b");
    QVERIFY(same.count(Meaning::better) + same.count(Meaning::worse) > 0);
    comparison.same_model = false;
    const CompareModel other = make_compare(comparison, "a", "b");
    QCOMPARE(other.count(Meaning::better) + other.count(Meaning::worse), 0);
    QCOMPARE(other.count(Meaning::differs),
             same.count(Meaning::better) + same.count(Meaning::worse) + same.count(Meaning::differs));
  }

  void the_table_shows_what_the_filter_shows() {
    const CompareModel m = make_compare(some_comparison(), "a", "b");
    QCOMPARE(make_compare_table(m, {"encoder load", CompareShow::differing}).rows.size(), size_t{1});
    QVERIFY(make_compare_table(m, {"no such figure", CompareShow::all}).rows.empty());
  }

  void the_table_has_every_figure() {
    const CompareModel m = make_compare(some_comparison(), "a", "b");
    const Table t = make_compare_table(m);
    QCOMPARE(t.rows.size(), size_t{14});
    for (const auto& r : t.rows) QCOMPARE(r.size(), t.columns.size());
  }

  void every_place_is_the_line_that_is_drawn_there() {
    for (const double scrolled : {0.0, 100.0, 1e9}) {
      const CompareGeometry g({900, 500}, 15, 2, 300, scrolled);
      for (int i = g.first(); i < g.end(); ++i)
        if (g.body().contains(g.line(i).center())) QCOMPARE(g.at(g.line(i).center()), i);
      QVERIFY(g.end() - g.first() < 20);
      double right = 0;
      for (const auto c : {CompareGeometry::name, CompareGeometry::a, CompareGeometry::b, CompareGeometry::difference,
                           CompareGeometry::bar, CompareGeometry::meaning}) {
        QVERIFY(g.column(c, g.line(0)).left() >= right - 1e-9);
        right = g.column(c, g.line(0)).right();
      }
      QVERIFY(right <= 900);
    }
    QCOMPARE(CompareGeometry({900, 500}, 15, 1, 0, 0).at({100, 300}), -1);
  }

  void it_says_how_to_get_another_run() {
    CompareView view;
    run_load(view, {});
    QVERIFY(view.message().contains("No session"));
    const std::string a = session_with(folder_.filePath("a.storm").toStdString(), summary(2, 1.5));
    const std::string b = session_with(folder_.filePath("b.storm").toStdString(), summary(3, 1.2));
    Context context = context_of(a);
    context.main.figures = true;
    run_load(view, context);
    QVERIFY(view.message().contains("Nothing to compare"));
    context.other = context.main;
    run_load(view, context);
    QVERIFY(view.message().contains("is the reference now"));
    context.other.file = b, context.other.figures = false;
    run_load(view, context);
    QVERIFY(view.message().contains("no figures"));
    context.other.figures = true;
    run_load(view, context);
    QVERIFY(view.has_content());
    const auto* list = view.findChild<CompareList*>();
    QCOMPARE(row(list->model(), "speedup").meaning, Meaning::apart);
    QVERIFY(list->model().warnings.join(' ').contains("data differ"));
    QCOMPARE(list->model().count(Meaning::better) + list->model().count(Meaning::worse), 0);
    view.findChild<QComboBox*>()->setCurrentIndex(static_cast<int>(CompareShow::all));
    QCOMPARE(static_cast<int>(view.table().rows.size()), 6);
    view.findChild<QComboBox*>()->setCurrentIndex(static_cast<int>(CompareShow::differing));
    // Search and keys.
    view.findChild<QLineEdit*>()->setText("imbalance");
    QCOMPARE(list->lines().size(), size_t{2});
    QSignalSpy wanted(&view, &View::selection_wanted);
    QTest::keyClick(view.findChild<CompareList*>(), Qt::Key_Down);
    QCOMPARE(list->current(), 1);
    QCOMPARE(wanted.last()[0].value<Selection>().router, QString("a.mlp"));
    QVERIFY(list->accessibleDescription().contains("imbalance"));
    context.other.file = "/nowhere/b.storm";
    run_load(view, context);
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/b.storm"));
  }

  void many_figures_are_walked_through() {
    Comparison c;
    for (int i = 0; i < 20000; ++i)
      c.rows.push_back(
          figure(("routing.r" + std::to_string(i / 256) + ".load." + std::to_string(i % 256)).c_str(), i, i + 1, true));
    CompareList list;
    list.resize(900, 500);
    list.set_model(make_compare(c, "a", "b"), {});
    draw(list, {900, 500});
    QTest::keyClick(&list, Qt::Key_End);
    QCOMPARE(list.current(), static_cast<int>(list.lines().size()) - 1);
    QVERIFY(list.geometry_now().body().contains(list.geometry_now().line(list.current())));
    QTest::keyClick(&list, Qt::Key_Home);
    QCOMPARE(list.current(), 1);
    QTest::keyClick(&list, Qt::Key_PageDown);
    QTest::keyClick(&list, Qt::Key_Up);
    QVERIFY(list.current() > 1);
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("compare-light") << false;
    QTest::newRow("compare-dark") << true;
  }
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    CompareList list;
    list.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    list.set_model(make_compare(some_comparison(), "demo.storm #2 optimize", "demo.storm #4 optimize"), {});
    const QString trouble = compare_with_golden(draw(*list.viewport(), {720, 480}), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(CompareTest)

}  // namespace stormcell::views
#include "compare_test.moc"
