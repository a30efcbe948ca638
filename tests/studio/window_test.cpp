// The window, driven as a user drives it.
#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QDockWidget>
#include <QLabel>
#include <QListWidget>
#include <QMenuBar>
#include <QScrollBar>
#include <QSettings>
#include <QSignalSpy>
#include <QTableView>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/studio/headless.h"
#include "app/studio/main_window.h"
#include "app/studio/palette_dialog.h"
#include "app/studio/picture_export.h"
#include "app/studio/selection_bar.h"
#include "core/base/blocking.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "tests/views/mixture_fixture.h"
#include "views/overview/overview_rules.h"
#include "views/registry.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class WindowTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString session_;

 private slots:
  void initTestCase() {
    session_ = QString::fromStdString(make_session(folder_.filePath("a.storm").toStdString(), 12));
    forbid_blocking_here();
  }

  void a_stranger_sees_the_ways_in_and_why_others_are_closed() {
    MainWindow window;
    window.show();
    QVERIFY(!window.view());
    for (const ActionRow& row : window.actions().rows()) {
      const QAction* action = window.actions().action(row.id);
      if (!action->isEnabled()) QVERIFY2(action->toolTip().contains("Not now"), qPrintable(row.id));
    }
    QSignalSpy refused(&window.actions(), &Actions::refused);
    QVERIFY(!window.actions().trigger("run-again"));
    QCOMPARE(refused.count(), 1);
    QVERIFY(window.actions().action("open-session")->isEnabled());
    QVERIFY(window.actions().action("run-demo")->isEnabled());
  }

  void every_command_has_a_name_and_keys_are_not_shared() {
    MainWindow window;
    QSet<QString> keys, ids;
    for (const ActionRow& row : window.actions().rows()) {
      QVERIFY(!row.text.isEmpty());
      QVERIFY2(!ids.contains(row.id), qPrintable(row.id));
      ids.insert(row.id);
      for (const QKeySequence& key : row.keys) {
        if (key.isEmpty()) continue;
        QVERIFY2(key.count() == 1 && key[0].key() != Qt::Key_unknown, qPrintable(row.id + ": no key of a keyboard"));
        QVERIFY2(!keys.contains(key.toString()), qPrintable(row.id + " " + key.toString()));
        keys.insert(key.toString());
      }
    }
    auto* palette = new PaletteDialog(window.actions(), &window);
    QCOMPARE(palette->findChild<QListWidget*>()->count(), static_cast<int>(window.actions().rows().size()));
  }

  void every_next_step_of_the_overview_is_a_command() {
    MainWindow window;
    for (const views::StepRule& rule : views::step_rules()) QVERIFY2(window.actions().action(rule.action), rule.action);
    for (const char* id : {"open-session", "open-sample", "compare-run", "compare-session", "show-result"})
      QVERIFY2(window.actions().action(id), id);
  }

  void a_session_is_opened_looked_at_and_left() {
    MainWindow window;
    window.show();
    window.open(session_);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QVERIFY(window.windowTitle().contains("a.storm"));
    views::Selection chosen;
    chosen.router = "encoder.0.mlp", chosen.branch = 2;
    window.document().select(chosen);
    window.actions().trigger("undo");
    QVERIFY(window.document().selection() == views::Selection());
    window.actions().trigger("redo");
    QCOMPARE(window.document().selection().branch, 2);
    QVERIFY(window.actions().trigger("table"));
    QTRY_VERIFY(window.view()->findChild<QTableView*>()->isVisible());
    QVERIFY(window.view()->findChild<QTableView*>()->model()->rowCount() > 0);
    window.actions().trigger("table");
    window.actions().trigger("compare-run");
    QTRY_VERIFY(!window.document().context().other.empty());
    window.actions().trigger("copy-export");
    window.actions().trigger("close-session");
    QVERIFY(!window.view());
  }

  void the_list_of_runs_says_which_failed_and_which_had_a_budget() {
    const std::string path = folder_.filePath("failed.storm").toStdString();
    {
      const AllowBlocking allowed;
      make_session(path, 3);
      RunStart start = some_run("second");
      start.dataset = R"({"name":"random:4x12","settings":{"model":"m","weight_budget":1048576}})";
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(start);
      record_batches(*run, start.layout, 0, 2);
      run->finish(RunStatus::failed);
      run.reset();
      writer.close();
    }
    MainWindow window;
    window.show();
    window.open(QString::fromStdString(path));
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QStringList runs;
    for (const QListWidget* list : window.findChildren<QListWidget*>())
      for (int i = 0; i < list->count(); ++i)
        if (list->item(i)->text().startsWith('#')) runs << list->item(i)->text();
    QCOMPARE(runs.size(), 2);
    QVERIFY2(runs[0].contains("finished") && !runs[0].contains("for weights of branches"), qPrintable(runs[0]));
    QVERIFY2(runs[1].contains("2 batches, failed") && runs[1].contains("1.0 MiB for weights of branches"),
             qPrintable(runs[1]));
  }

  void the_sample_session_is_one_click_away() {
    MainWindow window;
    window.show();
    QVERIFY(window.actions().trigger("open-sample"));
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QVERIFY(window.windowTitle().contains("sample.storm"));
  }

  void steps_are_simulated_beside_the_window() {
    QString session;
    {
      const AllowBlocking now;
      session = QString::fromStdString(make_mixture_session(folder_.filePath("mixture.storm").toStdString()));
    }
    MainWindow window;
    window.show();
    window.open(session);
    window.show_view("simulation");
    QTRY_VERIFY(window.view() && window.view()->accessibleName() == "Simulation" && window.view()->has_content());
    const auto choose = [&](const QString& name, const QString& text) {
      for (QComboBox* box : window.view()->findChildren<QComboBox*>())
        if (box->accessibleName() == name) box->setCurrentIndex(box->findText(text));
    };
    choose("Show", "clusters");
    QTRY_COMPARE(window.view()->table().rows.size(), size_t{8});
    choose("Cluster", "gb200-nvl72");
    QTRY_VERIFY(window.view()->settled() && window.background().idle());
    choose("Show", "exchange");
    QTRY_VERIFY(!window.view()->has_content() && window.view()->message().contains("do not divide among 72 GPUs"));
    choose("Cluster", "2x8-h100");
    QTRY_VERIFY(window.view()->has_content() && window.view()->settled());
    QTest::keyClick(window.view()->picture(), Qt::Key_End);
    QCOMPARE(window.document().selection().router, QString("model.layers.2.mlp"));
    QTRY_VERIFY(window.view()->settled() && window.background().idle());
    QVERIFY(window.view()->has_content());
    QVERIFY(window.view()->picture()->accessibleDescription().contains("layer 2"));
  }

  void what_is_selected_stands_above_all_views_and_can_be_let_go() {
    QString session;
    {
      const AllowBlocking now;
      session =
          QString::fromStdString(make_cells_session(folder_.filePath("labels.storm").toStdString(), {.phases = true}));
    }
    MainWindow window;
    window.show();
    auto* bar = window.findChild<SelectionBar*>();
    QVERIFY(!bar->isVisible());
    window.open(session);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QTRY_COMPARE(window.document().choices().labels.size(), size_t{2});
    window.show_view("heatmap");
    QTRY_VERIFY(window.view()->has_content());
    const auto choose = [&](const QString& name, const QString& text) {
      for (QComboBox* box : bar->findChildren<QComboBox*>())
        if (box->accessibleName() == name) {
          box->setCurrentIndex(box->findText(text));
          emit box->activated(box->currentIndex());
        }
    };
    choose("Phase", "decode");
    choose("Label", "short");
    QCOMPARE(window.document().selection().phase, QString("decode"));
    QCOMPARE(window.document().selection().label, QString("short"));
    const auto chips = [&] {
      QList<QToolButton*> shown;
      for (QToolButton* chip : bar->findChildren<QToolButton*>("chip"))
        if (chip->isVisible()) shown << chip;
      return shown;
    };
    QTRY_COMPARE(chips().size(), 2);
    QVERIFY(window.view()->note().contains("phase decode"));
    // Views whose figures are of the whole run say so.
    window.show_view("data");
    QTRY_VERIFY(window.view()->has_content());
    QVERIFY(window.view()->note().contains("label short"));
    chips().constFirst()->click();
    QCOMPARE(window.document().selection().phase, QString());
    window.actions().trigger("undo");
    QCOMPARE(window.document().selection().phase, QString("decode"));
    window.actions().trigger("undo");
    QCOMPARE(window.document().selection().label, QString());
  }

  void a_wrong_file_is_said_and_nothing_is_lost() {
    MainWindow window;
    window.open(session_);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QFile file(folder_.filePath("no.storm"));
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("this is not a session");
    file.close();
    QSignalSpy failed(&window.document(), &Document::failed);
    window.open(file.fileName());
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(failed[0][0].toString().contains("no.storm"));
    QVERIFY(window.view()->has_content());
  }

  void what_was_open_and_how_it_looked_comes_back() {
    QSettings::setDefaultFormat(QSettings::IniFormat);
    QSettings::setPath(QSettings::IniFormat, QSettings::UserScope, folder_.filePath("settings"));
    views::Selection chosen;
    chosen.first_batch = 2, chosen.end_batch = 7, chosen.phase = "forward", chosen.label = "x",
    chosen.router = "encoder.0.mlp";
    chosen.branch = 2, chosen.cell = CellPlace{1, 3};
    int width = 0;
    {
      MainWindow window;
      window.restore(true);
      QVERIFY(!window.findChild<QDockWidget*>("session-dock")->isVisible());
      window.show();
      QVERIFY(window.document().empty());
      window.open(session_);
      QTRY_VERIFY(window.view() && window.view()->has_content());
      QVERIFY(window.findChild<QDockWidget*>("session-dock")->isVisible());
      window.show_view("heatmap");
      window.actions().trigger("log");
      window.actions().trigger("theme-dark");
      window.resize(1330, 707);
      window.addDockWidget(Qt::RightDockWidgetArea, window.findChild<QDockWidget*>("session-dock"));
      window.resizeDocks({window.findChild<QDockWidget*>("session-dock")}, {260}, Qt::Horizontal);
      window.document().select(chosen);
      QTest::qWait(20);
      width = window.findChild<QDockWidget*>("session-dock")->width();
      window.close();
    }
    {
      MainWindow window;
      window.restore(true);
      window.show();
      QTRY_VERIFY(window.view() && window.view()->has_content());
      QCOMPARE(window.view_id(), QString("heatmap"));
      QCOMPARE(window.size(), QSize(1330, 707));
      auto* dock = window.findChild<QDockWidget*>("session-dock");
      QVERIFY(dock->isVisible() && window.dockWidgetArea(dock) == Qt::RightDockWidgetArea);
      QTRY_COMPARE(dock->width(), width);
      QVERIFY(window.findChild<QDockWidget*>("log-dock")->isVisible());
      QVERIFY(window.document().selection() == chosen);
      QVERIFY(window.actions().action("theme-dark")->isChecked());
      window.actions().trigger("theme-light");
      window.actions().trigger("side");
      QVERIFY(!dock->isVisible());
      window.document().close();
      window.close();
    }
    MainWindow window;
    window.restore(true);
    window.show();
    QTest::qWait(50);
    QVERIFY(window.document().empty());  // it was closed before the end
    window.open(session_);
    QTRY_VERIFY(!window.document().empty());
    QVERIFY(!window.findChild<QDockWidget*>("session-dock")->isVisible());  // as it was put away
    QSettings().clear();
  }

  void the_list_of_views_is_as_high_as_its_rows() {
    MainWindow window;
    window.show();
    window.open(session_);
    QTRY_VERIFY(!window.document().empty());
    QListWidget* views = nullptr;
    for (QListWidget* list : window.findChildren<QListWidget*>())
      if (list->accessibleName() == "Views") views = list;
    QVERIFY(views);
    const int before = views->height();
    const QFont font = QApplication::font();
    for (int i = 0; i < 6; ++i) window.actions().trigger("larger");
    QTRY_VERIFY(views->height() > before);
    QTRY_VERIFY(!views->verticalScrollBar()->isVisible());
    QApplication::setFont(font);
  }

  void pictures_are_drawn_as_png_and_svg() {
    MainWindow window;
    window.open(session_);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QImage image;
    QVERIFY(image.loadFromData(draw_picture(*window.view(), {500, 300}, 2, "png").bytes()));
    QCOMPARE(image.size(), QSize(1000, 600));
    // They say where they come from, below the picture and for programs.
    const views::Caption caption = window.view()->caption();
    const QString run = QFileInfo(session_).fileName() + " " + title_of(*window.document().run());
    QVERIFY2(caption.parts.contains(run), qPrintable(caption.parts.join("; ")));
    QVERIFY(image.text("Description").contains(run));
    QVERIFY(image.text("Source").startsWith("stormcell " STORMCELL_VERSION));
    QVERIFY(image.text("Source").contains(QString::fromStdString(window.document().session().id)));
    const QByteArray svg = draw_picture(*window.view(), {500, 300}, 1, "svg").bytes();
    QVERIFY(svg.contains("<svg") && svg.contains(run.toUtf8()));
    // The picture has the rest of the room: what it draws does not lie below the line.
    const int foot = 2 * caption_height(caption, window.view()->font());
    const QColor background = views::Theme::of(window.view()->palette()).background;
    for (int y = image.height() - foot + 2; y < image.height(); ++y)
      for (const int x : {3, image.width() - 4}) QCOMPARE(image.pixelColor(x, y), background);
    QVERIFY_THROWS_EXCEPTION(Error, draw_picture(*window.view(), {500, 300}, 1, "bmp"));
  }

  void a_picture_has_no_scroll_bars_and_says_where_it_is_cut() {
    MainWindow window;
    window.open(session_);
    for (const char* id : {"overview", "data"}) {
      window.show_view(id);
      QTRY_VERIFY(window.view() && window.view()->has_content() && window.view()->settled());
      const QSize before = window.view()->picture()->size();
      const auto said = [&](const QSize& size) {
        return draw_picture(*window.view(), size, 1, "png").image.text("Description");
      };
      QVERIFY2(said({600, 200}).contains("Cut"), id);
      QVERIFY2(!said({1600, 3000}).contains("Cut"), id);
      QCOMPARE(window.view()->picture()->size(), before);
      if (auto* area = qobject_cast<QAbstractScrollArea*>(window.view()->picture()))
        QCOMPARE(area->verticalScrollBarPolicy(), Qt::ScrollBarAsNeeded);
    }
  }

  void pictures_of_a_larger_scale_have_more_to_show() {
    MainWindow window;
    window.open(session_);
    window.show_view("timeline");
    QTRY_VERIFY(window.view() && window.view()->has_content() && window.view()->settled());
    const QImage once = draw_picture(*window.view(), {500, 300}, 1, "png").image,
                 twice = draw_picture(*window.view(), {500, 300}, 2, "png").image;
    // Magnified pixels would come in squares of four.
    int squares = 0, others = 0;
    for (int y = 0; y + 1 < 500; y += 2)
      for (int x = 0; x + 1 < twice.width(); x += 2) {
        const QRgb at = twice.pixel(x, y);
        (at == twice.pixel(x + 1, y) && at == twice.pixel(x, y + 1) && at == twice.pixel(x + 1, y + 1) ? squares
                                                                                                       : others)++;
      }
    QVERIFY2(others > 200, qPrintable(QString("%1 of %2").arg(others).arg(squares)));
    QCOMPARE(twice.size(), once.size() * 2);
  }

  void a_view_can_be_set_by_names_and_says_how_it_stands() {
    const views::ViewEntry* entry = nullptr;
    for (const views::ViewEntry& e : views::all_views())
      if (QString(e.id) == "heatmap") entry = &e;
    const std::unique_ptr<views::View> view(entry->make(nullptr));
    QVERIFY(changed_controls(*view, *entry).isEmpty());
    set_control(*view, {"metric", "load"});
    set_control(*view, {"Upper end of the scale", "2.5"});
    const QList<ControlState> expected = {{"Metric", "Load"}, {"Upper end of the scale", "2.5"}};
    QCOMPARE(changed_controls(*view, *entry), expected);
    QVERIFY_THROWS_EXCEPTION(Error, set_control(*view, {"metric", "colour"}));
    QVERIFY_THROWS_EXCEPTION(Error, set_control(*view, {"nothing", "1"}));
    QVERIFY_THROWS_EXCEPTION(Error, set_control(*view, {"Upper end of the scale", "-1"}));
    // A choice in which one can type takes what it can read.
    for (const views::ViewEntry& e : views::all_views())
      if (QString(e.id) == "exits") entry = &e;
    const std::unique_ptr<views::View> exits(entry->make(nullptr));
    set_control(*exits, {"Threshold", "0.8"});
    for (const char* value : {"nonsense", "nan", "inf", "7", "-1e300"})
      QVERIFY_THROWS_EXCEPTION(Error, set_control(*exits, {"Threshold", value}));
    views::Selection selection;
    QVERIFY(selection_words(selection).isEmpty());
    selection.first_batch = 2, selection.end_batch = 5, selection.router = "a b", selection.branch = 3,
    selection.cell = CellPlace{3, 2};
    QCOMPARE(selection_words(selection).join(' '), QString("--batches 2:5 --router 'a b' --branch 3 --cell 3:2"));
  }

  void a_picture_without_a_window_is_what_was_asked_for() {
    const AllowBlocking now;
    const auto written = [&](const char* name, const QList<ControlState>& controls, int expected) {
      const QString file = folder_.filePath(name);
      const ExportRequest request{"heatmap", file, session_, {}, controls, {}, {700, 400}, 1};
      [&] { QCOMPARE(export_view(request), expected); }();
      QFile made(file);
      return made.open(QIODevice::ReadOnly) ? made.readAll() : QByteArray();
    };
    const QByteArray shares = written("share.png", {}, 0), loads = written("load.png", {{"Metric", "Load"}}, 0);
    QVERIFY(!shares.isEmpty() && !loads.isEmpty() && shares != loads);
    const QList<QByteArray> figures = written("figures.csv", {}, 0).split('\n');
    QVERIFY(figures[0].startsWith("# stormcell " STORMCELL_VERSION) && figures[0].endsWith("; heatmap\r"));
    QVERIFY(figures[1].startsWith("# ") && figures[1].contains(QFileInfo(session_).fileName().toUtf8()));
    QVERIFY(figures[2].startsWith("router,branch,load"));
    QVERIFY(written("none.png", {{"Metric", "Colour"}}, 2).isEmpty());
    QVERIFY(written("none.bmp", {}, 2).isEmpty());
  }

  void a_run_of_nothing_fails_in_place_and_the_latest_request_wins() {
    RunController runs;
    QSignalSpy failed(&runs, &RunController::failed), cancelled(&runs, &RunController::cancelled),
        running(&runs, &RunController::running_changed);
    RunRequest wrong;
    wrong.experiment.model = "/nowhere", wrong.experiment.data = "random:1x1";
    runs.start(wrong);
    QTRY_COMPARE(failed.count(), 1);
    QTRY_VERIFY(!runs.running());
    QVERIFY(failed[0][0].toString().contains("/nowhere"));
    RunRequest real;
    real.experiment.model = "demo:switch-names", real.experiment.data = "random:64x16";
    runs.start(real);
    runs.start(real);
    runs.start(wrong);
    QTRY_COMPARE_WITH_TIMEOUT(failed.count(), 2, 30000);
    QCOMPARE(cancelled.count(), 0);  // they were replaced, not stopped
    QTRY_VERIFY(!runs.running());
  }
};
STORMCELL_TEST(WindowTest)

}  // namespace stormcell::studio
#include "window_test.moc"
