// The heatmap: figures, geometry, and the view on a fixture session.
#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QHelpEvent>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolTip>
#include <cmath>
#include <set>

#include "core/readings/selected_view.h"
#include "core/session/sqlite.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "views/drawing/theme.h"
#include "views/heatmap/heatmap_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

/// Two windows of one router with three branches, and one router that nobody reached.
LoadWindows small() {
  LoadWindows w;
  w.run = 1, w.batches = 2, w.windows = 2;
  w.routers.push_back({{"a", "encoder", "switch-top1", "token", 3, 1, -1, -1},
                       {10, 10},
                       {4, 6, 0, 2, 8, 0},
                       {0, 0, 0, 0, 0, 0},
                       {1, 0, 0, 0, 0, 0},
                       {2, 3, 0, 1, 4, 0}});
  w.routers.push_back({{"b", "encoder", "switch-top1", "token", 2, 1, -1, -1},
                       {0, 0},
                       {0, 0, 0, 0},
                       {0, 0, 0, 0},
                       {0, 0, 0, 0},
                       {0, 0, 0, 0}});
  return w;
}

}  // namespace

class HeatmapTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_, other_;

 private slots:
  void initTestCase() {
    session_ = make_session(folder_.filePath("main.storm").toStdString(), 40);
    other_ = make_session(folder_.filePath("other.storm").toStdString(), 24);
  }

  void figures_are_those_of_the_loads() {
    const LoadWindows data = small();
    const HeatMatrix m = make_matrix(data, {0, 2}, {HeatMetric::share});
    QCOMPARE(m.columns, 3);
    QCOMPARE(m.rows[0].value, (std::vector<double>{0.3, 0.7, 0}));
    QCOMPARE(m.rows[1].value, (std::vector<double>{0, 0}));
    QCOMPARE(make_matrix(data, {1, 2}, {HeatMetric::load}).rows[0].value, (std::vector<double>{2, 8, 0}));
    QCOMPARE(make_matrix(data, {0, 2}, {HeatMetric::drops}).rows[0].value, (std::vector<double>{1, 0, 0}));
    QCOMPARE(make_matrix(data, {0, 2}, {HeatMetric::weight}).rows[0].value, (std::vector<double>{3, 7, 0}));
    const HeatMatrix i = make_matrix(data, {0, 2}, {HeatMetric::imbalance});
    QVERIFY(std::abs(i.rows[0].value[1] - 1.1) < 1e-12 && i.rows[0].value[2] == -1 && i.two_sided);
    QVERIFY(std::abs(i.rows[0].imbalance - 1.1) < 1e-12);
    QVERIFY(make_matrix(data, {0, 0}, {HeatMetric::share}).rows[0].value[0] == 0);  // no window, no division by nothing
  }

  void counts_are_exact_beyond_what_a_float_holds() {
    constexpr int64_t kMany = (int64_t{1} << 24) + 1;
    LoadWindows data = small();
    data.routers[0].load = {kMany, 6, 0, 2, kMany + 6, 0};
    data.routers[0].dropped = {kMany + 2, 0, 0, 0, 0, 0};
    QCOMPARE(make_matrix(data, {0, 1}, {HeatMetric::load}).rows[0].value, (std::vector<double>{kMany, 6, 0}));
    const Table table = make_table(data, {0, 2});
    QCOMPARE(std::get<qlonglong>(table.rows[0][2]), qlonglong{kMany + 2});
    QCOMPARE(std::get<qlonglong>(table.rows[1][2]), qlonglong{kMany + 12});
    QCOMPARE(std::get<qlonglong>(table.rows[0][5]), qlonglong{kMany + 2});
    const QString text = describe(make_matrix(data, {0, 1}, {HeatMetric::load}), data, {0, 1}, 0, 0);
    QVERIFY2(text.contains("16,777,217 cells") && text.contains("16,777,219 dropped"), qPrintable(text));
  }

  void scales_and_orders_do_what_they_say() {
    const LoadWindows data = small();
    const HeatMatrix common = make_matrix(data, {0, 2}, {HeatMetric::load, HeatScale::common}, 28);
    QVERIFY(std::abs(common.rows[0].tone[1] - 0.5f) < 1e-6);
    QVERIFY(std::abs(make_matrix(data, {0, 2}, {HeatMetric::load, HeatScale::per_router}, 28).rows[0].tone[1] - 1) <
            1e-6);
    QVERIFY(std::abs(make_matrix(data, {0, 2}, {HeatMetric::load, HeatScale::logarithmic}, 14000).rows[0].tone[1]) <
            1e-5);
    QCOMPARE(make_matrix(data, {0, 2}, {HeatMetric::load, HeatScale::common, HeatOrder::load}).rows[0].branch,
             (std::vector<int>{1, 0, 2}));
    for (const LoadWindows::Router& r : data.routers) {
      const auto order = cluster_branches(r, data.windows);
      QCOMPARE(std::set<int>(order.begin(), order.end()).size(), static_cast<size_t>(r.line.branches));
    }
    // Branches 0 and 2 are used together, 1 and 3 too: they end up beside each other.
    LoadWindows pairs = small();
    pairs.routers = {{{"p", "encoder", "switch-top1", "token", 4, 1, -1, -1},
                      {10, 10},
                      {5, 0, 4, 0, 0, 6, 0, 3},
                      {},
                      std::vector<int64_t>(8),
                      std::vector<float>(8)}};
    QCOMPARE(cluster_branches(pairs.routers[0], 2), (std::vector<int>{1, 3, 0, 2}));
  }

  void what_has_no_router_in_common_stands_beside_each_other() {
    const std::string other = make_session(folder_.filePath("renamed.storm").toStdString(), 4);
    {
      sqlite::Database db(other, sqlite::OpenMode::create);
      db.execute("UPDATE router SET name = 'another.' || name");
    }
    HeatmapView view;
    view.resize(900, 600);
    run_load(view, context_of(session_, 1, other));
    QVERIFY(view.has_content());
    QVERIFY(!draw(*view.picture(), {900, 500}).isNull());
    QVERIFY2(view.note().contains("nothing to subtract"), qPrintable(view.note()));
  }

  void the_difference_of_two_models_is_refused_and_side_by_side_they_stand() {
    const std::string other = make_session(folder_.filePath("another-model.storm").toStdString(), 40);
    {
      sqlite::Database db(other, sqlite::OpenMode::create);
      db.execute("UPDATE model SET fingerprint = 'fedcba9876543210', name = 'another'");
    }
    HeatmapView view;
    view.resize(900, 600);
    run_load(view, context_of(session_, 1, other));
    QVERIFY(!view.has_content() && view.refuses());
    const QString line = QString::fromStdString(other + ": is of another model than " + session_ +
                                                ": another and not switch-tiny (compare recordings of one model)");
    QCOMPARE(view.message(), line);
    auto* const pair = view.findChildren<QComboBox*>().back();
    pair->setCurrentIndex(static_cast<int>(HeatPair::beside));
    QVERIFY2(view.has_content() && !view.refuses(), qPrintable(view.message()));
    pair->setCurrentIndex(static_cast<int>(HeatPair::difference));
    QCOMPARE(view.message(), line);
    run_load(view, context_of(session_, 1, other_));
    QVERIFY(view.has_content());
  }

  void loads_with_padding_are_never_set_against_loads_without() {
    CellsFixture f;
    const std::string padded = make_cells_session(folder_.filePath("padded.storm").toStdString(), f);
    f.computes_padding = false;
    const std::string real = make_cells_session(folder_.filePath("real.storm").toStdString(), f);
    HeatmapView view;
    view.resize(900, 600);
    run_load(view, context_of(padded, 1, real));
    auto* padding = view.findChild<QCheckBox*>();
    auto* metric = view.findChild<QComboBox*>();
    const Table without = view.table();
    padding->setChecked(true);
    QVERIFY2(view.note().contains("padding is left out of both"), qPrintable(view.note()));
    QCOMPARE(view.table().rows, without.rows);
    metric->setCurrentIndex(static_cast<int>(HeatMetric::weight));
    QVERIFY2(view.note().contains("stand beside each other"), qPrintable(view.note()));
    QVERIFY(!draw(*view.picture(), {900, 500}).isNull());
    // Two runs of one kind are compared as they are.
    metric->setCurrentIndex(static_cast<int>(HeatMetric::share));
    run_load(view,
             context_of(padded, 1, make_cells_session(folder_.filePath("again.storm").toStdString(), {10, 3, 14, 4})));
    QVERIFY(!view.note().contains("left out"));
    const Table with = view.table();
    padding->setChecked(false);
    QVERIFY(view.table().rows != with.rows);
  }

  void the_difference_with_itself_is_nothing() {
    const LoadWindows data = small();
    const HeatMatrix m = make_difference(data, {0, 2}, data, {0, 2},
                                         {HeatMetric::share, HeatScale::common, HeatOrder::load, HeatPair::difference});
    for (const HeatRow& row : m.rows)
      for (const double v : row.value) QCOMPARE(v, 0.0);
    LoadWindows renamed = data;
    renamed.routers[0].line.name = "c";
    QCOMPARE(make_difference(data, {0, 2}, renamed, {0, 2}, {}).rows.size(), size_t{1});
  }

  void every_place_is_the_cell_that_is_drawn_there() {
    HeatWindow window{0, 0, 1e9, 1e9};
    for (int step = 0; step < 200; ++step) {
      const HeatGeometry g(61, 256, QRectF(100, 20, 1200, 700), window);
      for (int r = g.first_row(); r < g.end_row(); r += 5)
        for (int c = g.first_column(); c < g.end_column(); c += 11) {
          const QPointF at = g.cell(r, c).center();
          if (!g.area().contains(at)) continue;
          QVERIFY(g.at(at) == (HeatCell{r, c}));
        }
      const QPointF point(100 + (step * 37) % 1200, 20 + (step * 53) % 700);
      const auto before = g.at(point);
      window = step % 3 == 2 ? g.moved({(step % 7) * 9.0 - 20, (step % 5) * 8.0 - 15})
                             : g.zoomed(point, step % 2 ? 1.3 : 0.9);
      // The place under the pointer stays there, unless the matrix ends.
      const HeatGeometry after(61, 256, g.area(), window);
      if (step % 3 != 2 && step % 2 && before) QVERIFY(after.at(point) == before);
      QVERIFY(window.left >= 0 && window.top >= 0 && window.left + window.width <= 256.0001 &&
              window.top + window.height <= 61.0001);
    }
    QVERIFY(!HeatGeometry(2, 2, QRectF(0, 0, 10, 10), {0, 0, 2, 2}).at({11, 5}));
  }

  void it_says_what_is_missing() {
    HeatmapView view;
    run_load(view, {});
    QVERIFY(!view.has_content() && view.message().contains("No session"));
    run_load(view, context_of("/nowhere/a.storm"));
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/a.storm"));
  }

  void it_shows_the_session_and_its_table_agrees() {
    HeatmapView view;
    run_load(view, context_of(session_));
    QVERIFY(view.has_content());
    const auto loads = read_loads(session_, 1);
    const Table table = view.table();
    size_t at = 0;
    for (const auto& row : loads->rows)
      for (const int64_t load : row.load) {
        // Load without padding, and padding.
        QCOMPARE(std::get<qlonglong>(table.rows[at][2]) + std::get<qlonglong>(table.rows[at][7]),
                 static_cast<qlonglong>(load));
        ++at;
      }
    QCOMPARE(at, table.rows.size());
    auto* padding = view.findChild<QCheckBox*>();
    QVERIFY(padding->isEnabled() && !padding->isChecked());
    padding->setChecked(true);
    QCOMPARE(std::get<qlonglong>(view.table().rows[0][2]), static_cast<qlonglong>(loads->rows[0].load[0]));
    padding->setChecked(false);
    // Half of the time: fewer cells.
    Selection half;
    half.end_batch = 20;
    run_load(view, context_of(session_), half);
    QVERIFY(std::get<qlonglong>(view.table().rows[0][2]) < std::get<qlonglong>(table.rows[0][2]));
  }

  void the_other_run_is_looked_at_over_the_same_batches() {
    // A run against another one with the same batches differs nowhere, whatever the range.
    const std::string twin = make_session(folder_.filePath("twin.storm").toStdString(), 40);
    HeatmapView view;
    for (const auto& [first, end] : {std::pair{0, -1}, {0, 3}, {10, 30}, {39, 40}}) {
      Selection range;
      range.first_batch = first, range.end_batch = end;
      run_load(view, context_of(session_, 1, twin), range);
      const Table table = view.table();
      QCOMPARE(table.columns.size(), size_t{11});
      for (const auto& row : table.rows) {
        QCOMPARE(std::get<qlonglong>(row[2]), std::get<qlonglong>(row[8]));
        QCOMPARE(std::get<double>(row[10]), 0.0);
      }
    }
  }

  void what_a_trace_does_not_have_is_not_zero() {
    RunStart start = some_run();
    start.kind = "import";
    start.dataset = R"({"lacks": ["weights"]})";
    const std::string session = folder_.filePath("trace.storm").toStdString();
    {
      SessionWriter writer(session, some_model());
      auto run = writer.begin_run(start);
      record_batches(*run, start.layout, 0, 4);
      run->finish(RunStatus::finished);
      run.reset();
      writer.close();
    }
    for (const auto& router : read_load_windows(session, 1, {0, -1}, 100)->routers)
      QVERIFY(router.weight.empty() && !router.load.empty());
    HeatmapView view;
    run_load(view, context_of(session));
    QVERIFY(std::holds_alternative<std::monostate>(view.table().rows[0][4]));
  }

  void a_phase_is_the_sum_of_its_batches() {
    const std::string session =
        make_cells_session(folder_.filePath("phases.storm").toStdString(), {.batches = 300, .phases = true});
    const SelectionChoices choices = read_selection_choices(session, 1);
    QCOMPARE(choices.phases, (std::vector<std::string>{"prefill", "decode"}));
    QCOMPARE(choices.labels, (std::vector<std::string>{"long", "short"}));
    const auto all = read_load_windows(session, 1, {0, -1}, 1000),
               prefill = read_phase_windows(session, 1, "prefill", {0, -1}, 1000),
               coarse = read_phase_windows(session, 1, "prefill", {0, -1}, 4),
               decode = read_phase_windows(session, 1, "decode", {0, -1}, 4);
    QVERIFY(all->batches_per_window == 1 && coarse->batches_per_window > 1 && coarse->windows == decode->windows);
    for (size_t r = 0; r < all->routers.size(); ++r) {
      const auto branches = static_cast<size_t>(all->routers[r].line.branches);
      std::vector<int64_t> of_prefill(branches);
      for (size_t w = 0; w < static_cast<size_t>(all->windows); ++w)
        for (size_t b = 0; b < branches; ++b) {
          const int64_t expected = w % 3 == 0 ? all->routers[r].load[w * branches + b] : 0;
          QCOMPARE(prefill->routers[r].load[w * branches + b], expected);
          of_prefill[b] += expected;
        }
      const BranchSums whole = sum_windows(all->routers[r], 0, all->windows, true);
      QCOMPARE(sum_windows(coarse->routers[r], 0, coarse->windows, true).load, of_prefill);
      for (size_t b = 0; b < branches; ++b)
        QCOMPARE(sum_windows(decode->routers[r], 0, decode->windows, true).load[b], whole.load[b] - of_prefill[b]);
    }
    HeatmapView view;
    Selection selection;
    selection.phase = "prefill", selection.end_batch = 3;
    run_load(view, context_of(session), selection);
    QVERIFY(view.note().isEmpty());
    QCOMPARE(static_cast<double>(std::get<qlonglong>(view.table().rows[0][2]) +
                                 std::get<qlonglong>(view.table().rows[0][7])),
             static_cast<double>(all->routers[0].load[0]));
  }

  void a_label_is_counted_over_the_whole_run_and_it_is_said() {
    const std::string session = make_cells_session(folder_.filePath("labels.storm").toStdString());
    HeatmapView view;
    Selection selection;
    selection.label = "short", selection.end_batch = 3;
    run_load(view, context_of(session), selection);
    QVERIFY2(view.note().contains("batches 0 to 2") && view.note().contains("whole run"), qPrintable(view.note()));
    const SessionReader reader(session);
    for (const LabelLoads& l : reader.label_loads(1, 0))
      if (l.label == "short")
        for (size_t b = 0; b < l.load.size(); ++b)
          QCOMPARE(std::get<qlonglong>(view.table().rows[b][2]), static_cast<qlonglong>(l.load[b]));
    QVERIFY(std::holds_alternative<std::monostate>(
        view.table().rows[0][4]));  // weights by label are not known: nothing, not 0
    selection.label.clear();
    run_load(view, context_of(session), selection);
    QVERIFY(view.note().isEmpty());
    QCOMPARE(find_sequence(session, 1, "short", 2), int64_t{4});  // of three in a batch the second
    QCOMPARE(find_sequence(session, 1, "nothing", 0), int64_t{-1});
  }

  void keys_and_mouse_choose_and_a_cell_is_followed() {
    HeatmapView view;
    run_load(view, context_of(session_));
    QSignalSpy wanted(&view, &View::selection_wanted);
    auto* picture = view.findChild<HeatmapPicture*>();
    picture->resize(900, 500);
    QTest::mouseClick(picture, Qt::LeftButton, {}, picture->geometry(0).cell(1, 2).center().toPoint());
    const auto chosen = wanted.last()[0].value<Selection>();
    QCOMPARE(chosen.branch, 2);
    run_load(view, context_of(session_), chosen);
    QTest::keyClick(picture, Qt::Key_Left);
    QCOMPARE(wanted.last()[0].value<Selection>().branch, 1);
    auto* line = view.findChild<QLineEdit*>();
    line->setText("1:2");
    QTest::keyClick(line, Qt::Key_Return);
    const auto followed = wanted.last()[0].value<Selection>();
    QVERIFY(followed.cell == (CellPlace{1, 2}));
    const auto trail = read_cell_trail(session_, 1, {1, 2});
    QVERIFY(!trail->steps.empty());
    run_load(view, context_of(session_), followed);
    QSignalSpy said(&view, &View::said);
    line->setText("nonsense");
    QTest::keyClick(line, Qt::Key_Return);
    QCOMPARE(said.count(), 1);
  }

  void a_tip_names_the_branch_that_stands_there_data() {
    QTest::addColumn<int>("order");
    QTest::newRow("index") << 0;
    QTest::newRow("by load") << 1;
    QTest::newRow("clustered") << 2;
  }
  void a_tip_names_the_branch_that_stands_there() {
    QFETCH(int, order);
    HeatmapView view;
    view.resize(900, 600);
    view.show();
    Selection half;
    half.first_batch = 10, half.end_batch = 30;  // by load of this range, told of this range
    const QTemporaryDir folder;
    run_load(view, context_of(make_cells_session(folder.filePath("a.storm").toStdString(), {.batches = 40})), half);
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Order") box->setCurrentIndex(order);
    auto* picture = view.findChild<HeatmapPicture*>();
    const HeatMatrix& matrix = picture->matrix(0);
    const Table table = view.table();
    bool moved = false;
    for (int at_cell = 0; at_cell < 18; ++at_cell) {
      const int row_number = at_cell / 6, column = at_cell % 6;
      const HeatRow& shown = matrix.rows[static_cast<size_t>(row_number)];
      if (column >= static_cast<int>(shown.branch.size())) continue;
      const QPoint at = picture->geometry(0).cell(row_number, column).center().toPoint();
      QHelpEvent help(QEvent::ToolTip, at, picture->mapToGlobal(at));
      QApplication::sendEvent(picture, &help);
      const int branch = shown.branch[static_cast<size_t>(column)];
      moved |= branch != column;
      QVERIFY2(QToolTip::text().contains(QString("branch %1 of %2").arg(branch).arg(shown.branch.size())),
               qPrintable(QToolTip::text()));
      // And its figure is the table's.
      for (const auto& row : table.rows)
        if (std::get<QString>(row[0]) == shown.router && std::get<qlonglong>(row[1]) == branch)
          QVERIFY2(QToolTip::text().contains(to_text(row[2]) + " cells"), qPrintable(QToolTip::text()));
    }
    QCOMPARE(moved, order != 0);
  }

  void what_was_not_read_is_asked_for_again() {
    HeatmapView view;
    run_load(view, context_of(session_));
    Selection range;
    range.first_batch = 2, range.end_batch = 4, range.cell = CellPlace{1, 2};
    // A load that is never delivered, because a later wish has replaced it...
    QVERIFY(view.look_at(context_of(session_), range) != nullptr);
    Selection later = range;
    later.router = "encoder.0.mlp";
    // ...leaves its part to the next one.
    const View::Load load = view.look_at(context_of(session_), later);
    QVERIFY(load != nullptr);
    load({})();
    QVERIFY(view.look_at(context_of(session_), later) == nullptr);
  }

  void one_window_says_nothing_about_time() {
    for (const auto& [batches, drawn] : {std::pair<int64_t, bool>{1, false}, {6, true}}) {
      CellsFixture f;
      f.batches = batches;
      HeatmapView view;
      run_load(view, context_of(make_cells_session(
                         folder_.filePath(QString("windows%1.storm").arg(batches)).toStdString(), f)));
      QVERIFY(view.has_content());
      auto* picture = view.findChild<HeatmapPicture*>();
      draw(*picture, {900, 600});
      // The map has the room of what is not drawn below it.
      QCOMPARE(picture->geometry(0).area().bottom() < 300, drawn);
    }
  }

  void panels_over_time_fit_and_say_how_many_there_are() {
    const QRectF room(12, 300, 900, 330);
    const std::vector<QRectF> two = time_panels(room, {4, 4, 4, 4});
    QCOMPARE(two.size(), size_t{2});  // 136 high each would be nicer, 110 is the least
    for (size_t i = 0; i < two.size(); ++i) {
      QVERIFY(room.contains(two[i]) && two[i].height() >= 110);
      if (i > 0) QVERIFY(two[i].top() > two[i - 1].bottom());
    }
    QCOMPARE(time_panels(room, {4}).front().height(), 232.0);  // no higher than four tall rows and their text
    QVERIFY(time_panels(QRectF(0, 0, 900, 60), {8}).empty());
    QCOMPARE(routers_shown(3, 3, false), QString());
    QVERIFY(routers_shown(2, 48, false).startsWith("2 of 48 routers"));
    QVERIFY(routers_shown(1, 48, true).contains("1 of 48 routers: the chosen one"));
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<double>("scale");
    QTest::addColumn<int>("pair");
    QTest::newRow("heatmap-light") << false << 1.0 << 0;
    QTest::newRow("heatmap-dark") << true << 1.0 << 0;
    QTest::newRow("heatmap-2x") << false << 2.0 << 0;
    QTest::newRow("heatmap-beside") << false << 1.0 << 1;
    QTest::newRow("heatmap-difference") << true << 1.0 << 2;
  }
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    QFETCH(double, scale);
    QFETCH(int, pair);
    HeatmapView view;
    view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    Selection selection;
    selection.cell = CellPlace{1, 2};
    run_load(view, context_of(session_, 1, pair ? other_ : std::string()), selection);
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Other run") box->setCurrentIndex(pair);
    const QString trouble = compare_with_golden(draw(*view.picture(), {720, 480}, scale), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(HeatmapTest)

}  // namespace stormcell::views
#include "heatmap_test.moc"
