// Models in the window: dropped, looked at, run on typed data, stopped, saved elsewhere.
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDropEvent>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QMimeData>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/studio/data_box.h"
#include "app/studio/headless.h"
#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "app/studio/notice_bar.h"
#include "app/studio/open_list.h"
#include "app/studio/settings_panel.h"
#include "app/studio/typed_data.h"
#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/experiment/optimize_options.h"
#include "core/imports/recorder_scripts.h"
#include "core/summary/settings.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class OpeningTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  QString written(const QString& name, const QByteArray& bytes) {
    QFile file(folder_.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) qFatal("%s", qPrintable(file.errorString()));
    file.write(bytes);
    return file.fileName();
  }
  /// A model of 6 layers with 128 experts that this version cannot run; its data are a hole.
  QString mixture(const QString& name) {
    const GgufBytes bytes = gguf_mixture(6);
    const std::string header = bytes.header();
    const QString file = written(name, QByteArray::fromStdString(header));
    QFile::resize(file, static_cast<qint64>(header.size() + bytes.data_bytes()));
    return file;
  }

  static void drop(QWidget& on, const QStringList& files) {
    QMimeData data;
    QList<QUrl> urls;
    for (const QString& file : files) urls << QUrl::fromLocalFile(file);
    data.setUrls(urls);
    const QPoint place = on.rect().center();
    QDragEnterEvent enter(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&on, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop(place, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(&on, &drop);
  }
  static ModelPage* page(const MainWindow& window) { return window.findChild<OpenList*>()->page(); }
  static QString notice(const MainWindow& window) { return window.findChild<NoticeBar*>()->message(); }
  static QPushButton* run_button(const MainWindow& window) {
    return page(window)->findChild<QPushButton*>("run-model");
  }
  static QLineEdit* setting(const MainWindow& window, const QString& title) {
    for (QLineEdit* line : page(window)->findChildren<QLineEdit*>())
      if (line->accessibleName() == title) return line;
    qFatal("no setting %s", qPrintable(title));
  }
  static QString texts_of(const QWidget& widget) {
    QStringList texts;
    for (const QLabel* label : widget.findChildren<QLabel*>()) texts << label->text();
    return texts.join('\n');
  }
  static void open_demo(MainWindow& window) {
    window.open_anything(QString("demo:switch-names"));
    QTRY_VERIFY_WITH_TIMEOUT(page(window), 20000);
    setting(window, "Measure seconds")->setText("0.2");
    setting(window, "Verify seconds")->setText("0.1");
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    QDir(sessions_folder()).removeRecursively();
    forbid_blocking_here();
  }
  void cleanup() { QDir(sessions_folder()).removeRecursively(); }

  void a_model_that_is_opened_shows_its_sheet_and_waits_for_input() {
    MainWindow window;
    window.show();
    open_demo(window);
    QVERIFY(page(window)->isVisible());
    const QString texts = texts_of(*page(window));
    for (const char* word : {"parameters", "routing", "memory", "formats"}) QVERIFY2(texts.contains(word), word);
    QVERIFY(!page(window)->model().routers.empty());
    // A demo brings its data.
    QCOMPARE(page(window)->data(), QString("demo:switch-names"));
    QVERIFY(run_button(window)->isEnabled());
    page(window)->set_data({});
    QVERIFY(!run_button(window)->isEnabled());
    QVERIFY(run_button(window)->toolTip().contains("data"));
  }

  void typed_text_runs_and_the_views_fill_before_the_run_ends() {
    MainWindow window;
    window.show();
    open_demo(window);
    page(window)->set_data({});
    auto* box = page(window)->findChild<DataBox*>();
    QTest::keyClicks(box, "Alice");
    QTest::keyClick(box, Qt::Key_Return);
    QTest::keyClicks(box, "Bob");
    QSignalSpy finished(&window.runs(), &RunController::finished), failed(&window.runs(), &RunController::failed);
    bool filled_while_running = false;
    connect(&window.document(), &Document::opened, &window,
            [&] { filled_while_running |= window.runs().running() && !window.document().empty(); });
    QTest::mouseClick(run_button(window), Qt::LeftButton);
    QTRY_VERIFY(window.runs().running());
    QCOMPARE(run_button(window)->text(), QString("Stop"));
    QTRY_VERIFY2_WITH_TIMEOUT(finished.count() + failed.count() == 1, qPrintable(notice(window)), 60000);
    QVERIFY2(failed.isEmpty(), qPrintable(notice(window)));
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QVERIFY(filled_while_running);
    QCOMPARE(window.view_id(), QString("heatmap"));
    const QString session = QString::fromStdString(window.document().session().file);
    QCOMPARE(QFileInfo(session).path(), sessions_folder());
    QVERIFY2(QFileInfo(session).fileName().startsWith(page(window)->model().name.left(4)), qPrintable(session));
    const auto settings = parse_settings(window.document().run()->settings);
    QVERIFY(settings && settings->record_inputs);
    QFile typed(QString::fromStdString(settings->data));
    QVERIFY(typed.open(QIODevice::ReadOnly));
    QCOMPARE(typed.readAll(), QByteArray("Alice\nBob\n"));
    // The sheet is one click away, and ready for other data.
    window.show_view("model");
    QVERIFY(page(window)->isVisible());
    QTRY_COMPARE(run_button(window)->text(), QString("Run"));
  }

  void stop_keeps_what_was_recorded() {
    MainWindow window;
    window.show();
    open_demo(window);
    page(window)->set_data("random:64x16");
    setting(window, "Measure seconds")->setText("60");
    QSignalSpy cancelled(&window.runs(), &RunController::cancelled);
    QTest::mouseClick(run_button(window), Qt::LeftButton);
    QTRY_VERIFY_WITH_TIMEOUT(window.view() && window.view()->has_content(), 30000);
    QVERIFY(window.runs().running());
    window.show_view("model");
    QTest::mouseClick(run_button(window), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(cancelled.count(), 1, 20000);
    QTRY_VERIFY(!window.runs().running());
    QVERIFY(window.document().session().runs[0].batches > 0);
    window.show_view("heatmap");
    QTRY_VERIFY(window.view()->has_content());
  }

  void a_dropped_model_that_cannot_run_shows_its_lacks_and_copies_the_recorder() {
    MainWindow window;
    window.show();
    drop(window, {mixture("mixture.gguf")});
    QTRY_VERIFY(page(window));
    const OpenedModel& model = page(window)->model();
    QVERIFY(!model.runs && model.sheet && !model.sheet->lacks.empty());
    const QString texts = texts_of(*page(window));
    for (const SheetLack& lack : model.sheet->lacks) QVERIFY(texts.contains(QString::fromStdString(to_text(lack))));
    QCOMPARE(model.routers.size(), size_t{6});
    QCOMPARE(model.routers[0].branches, 128);
    QVERIFY(!page(window)->findChild<DataBox*>());
    auto* copy = page(window)->findChild<QPushButton*>("copy-recorder");
    QVERIFY(copy);
    QTest::mouseClick(copy, Qt::LeftButton);
    const AllowBlocking now;
    QCOMPARE(QGuiApplication::clipboard()->text().toStdString(), recorder_script(model.sheet->recorder));
  }

  void several_things_dropped_open_a_document_each_and_the_unreadable_says_so() {
    QString session;
    {
      const AllowBlocking now;
      session = QString::fromStdString(make_session(folder_.filePath("one.storm").toStdString(), 3));
    }
    MainWindow window;
    window.show();
    drop(window, {mixture("a.gguf"), written("broken.gguf", "GGUF\x03"), session});
    auto* list = window.findChild<OpenList*>();
    QTRY_COMPARE(list->size(), 2);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QVERIFY(list->isVisible());
    QVERIFY2(notice(window).contains("broken.gguf"), qPrintable(notice(window)));
    // A click on the model shows its sheet, one on the session its views.
    const auto click = [&](int row) {
      QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(row)).center());
    };
    click(list->find_session(session) == 0 ? 1 : 0);
    QTRY_VERIFY(page(window) && page(window)->isVisible());
    click(list->find_session(session));
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QVERIFY(window.actions().trigger("close-session"));
    QTRY_VERIFY(page(window) && page(window)->isVisible());
    QVERIFY(window.actions().trigger("close-session"));
    QCOMPARE(list->size(), 0);
  }

  void a_dropped_file_of_data_goes_into_the_box() {
    MainWindow window;
    window.show();
    open_demo(window);
    const QString data = written("names.txt", "Alice\n");
    drop(window, {data});
    QTRY_COMPARE(page(window)->data(), data);
    page(window)->set_data({});
    auto* box = page(window)->findChild<DataBox*>();
    drop(*box->viewport(), {data});
    QCOMPARE(page(window)->data(), data);
  }

  void data_without_a_model_say_what_to_open_first() {
    MainWindow window;
    window.show();
    drop(window, {written("alone.txt", "Alice\n")});
    QTRY_VERIFY2(notice(window).contains("alone.txt") && notice(window).contains("open a model first"),
                 qPrintable(notice(window)));
  }

  void a_wrong_setting_or_data_is_one_line_in_place() {
    MainWindow window;
    window.show();
    open_demo(window);
    setting(window, "Batch")->setText("0");
    QTest::mouseClick(run_button(window), Qt::LeftButton);
    QVERIFY2(texts_of(*page(window)).contains("--batch"), qPrintable(texts_of(*page(window))));
    QVERIFY(!window.runs().running());
    setting(window, "Batch")->clear();
    setting(window, "Session")->setText("/proc/none/there.storm");
    QTest::mouseClick(run_button(window), Qt::LeftButton);
    QTRY_VERIFY(texts_of(*page(window)).contains("/proc/none/there.storm"));
    QVERIFY(!window.runs().running());
  }

  void every_option_of_optimize_is_a_setting() {
    const SettingsPanel panel;
    QStringList titles;
    for (const QWidget* widget : panel.findChildren<QWidget*>()) titles << widget->accessibleName();
    for (const Setting& row : kSettings) {
      if (!row.is_of("optimize") || row.key == "model" || row.key == "data" || row.key == "prompts") continue;
      const QString option = QString::fromUtf8(row.option.data(), static_cast<qsizetype>(row.option.size()));
      QVERIFY2(titles.contains(title_of_option(option)), qPrintable(option));
    }
    for (const OptimizeOption& row : kOptimizeOptions) {
      const QString option = QString::fromUtf8(row.option.data(), static_cast<qsizetype>(row.option.size()));
      QVERIFY2(titles.contains(title_of_option(option)), qPrintable(option));
    }
    // Untouched settings ask for what the command line asks for; texts are recorded besides.
    ExperimentOptions standard;
    standard.record_inputs = true;
    QVERIFY(panel.request().experiment == standard);
  }

  void settings_are_read_as_the_command_line_reads_them() {
    const SettingsPanel panel;
    const auto type = [&](const char* title, const char* word) {
      for (QLineEdit* line : panel.findChildren<QLineEdit*>())
        if (line->accessibleName() == title) line->setText(word);
    };
    type("Weight budget", "1.5MiB");
    type("Annotate", "a.kernel=plain  b.format=f32");
    type("Disable", "vertical-fusion, horizontal-fusion");
    type("Pass option", "dead-path.max-share=0.01");
    const RunRequest request = panel.request();
    QCOMPARE(request.experiment.weight_budget, int64_t{1572864});
    QCOMPARE(request.experiment.annotations, (std::vector<std::string>{"a.kernel=plain", "b.format=f32"}));
    QCOMPARE(request.optimize.passes.disable, (std::vector<std::string>{"vertical-fusion", "horizontal-fusion"}));
    QCOMPARE(request.optimize.passes.options.at("dead-path").at("max-share"), std::string("0.01"));
    type("Disable", "no-such-pass");
    QVERIFY_THROWS_EXCEPTION(Error, panel.request());
  }

  void typed_data_become_a_file_and_names_stay_names() {
    const AllowBlocking now;
    const QString folder = folder_.filePath("typed");
    QCOMPARE(data_of(" random:8x4 ", folder, false), QString("random:8x4"));
    QCOMPARE(data_of(folder_.path(), folder, true), folder_.path());
    const QString file = data_of("one line", folder, false);
    QCOMPARE(data_of("one line\n", folder, false), file);
    QVERIFY(data_of("another line", folder, false) != file);
    QVERIFY_THROWS_EXCEPTION(Error, data_of("  ", folder, false));
    QVERIFY_THROWS_EXCEPTION(Error, data_of("a text", folder, true));
    QVERIFY_THROWS_EXCEPTION(Error, data_of("/nowhere/a.png", folder, true));
  }

  void a_session_of_another_model_keeps_its_file() {
    const AllowBlocking now;
    QDir().mkpath(sessions_folder());
    const QString file = kept_session("a/b", "/models/b");
    QCOMPARE(QFileInfo(file).fileName(), QString("a-b.storm"));
    {
      SessionWriter writer(file.toStdString(), some_model());
      const RunStart start = some_run();
      auto run = writer.begin_run(start);
      record_batches(*run, start.layout, 0, 2);
      run->finish(RunStatus::finished, R"({"settings":{"model":"/models/b","data":"random:1x1"}})");
      run.reset();
      writer.close();
    }
    QCOMPARE(kept_session("a/b", "/models/b"), file);
    QCOMPARE(QFileInfo(kept_session("a/b", "/models/c")).fileName(), QString("a-b-2.storm"));
  }

  void a_session_that_is_saved_elsewhere_takes_later_runs() {
    MainWindow window;
    window.show();
    open_demo(window);
    page(window)->set_data("random:8x8");
    QSignalSpy finished(&window.runs(), &RunController::finished);
    QTest::mouseClick(run_button(window), Qt::LeftButton);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 60000);
    QTRY_VERIFY(!window.runs().running() && window.view() && window.view()->has_content());
    QVERIFY(window.actions().trigger("save-session"));
    auto* dialog = window.findChild<QFileDialog*>("save-session-dialog");
    QVERIFY(dialog);
    const QString copy = folder_.filePath("mine.storm");
    emit dialog->fileSelected(copy);
    dialog->close();
    QTRY_VERIFY(window.windowTitle().contains("mine.storm"));
    QCOMPARE(page(window)->session(), copy);
    QCOMPARE(window.findChild<OpenList*>()->size(), 1);
  }

  void the_page_of_a_model_is_a_picture_too() {
    ExportRequest request;
    request.view = kModelView, request.session = "demo:switch-names", request.file = folder_.filePath("page.png");
    request.size = QSize(1280, 720);
    QCOMPARE(export_view(request), 0);
    const QImage image(request.file);
    QCOMPARE(image.size(), request.size);
    request.file = folder_.filePath("page.svg");
    QCOMPARE(export_view(request), 2);
  }

  void a_page_fits_a_laptop_data() {
    QTest::addColumn<QSize>("size");
    QTest::newRow("1280x720") << QSize(1280, 720);
    QTest::newRow("1600x1000") << QSize(1600, 1000);
  }
  void a_page_fits_a_laptop() {
    QFETCH(QSize, size);
    MainWindow window;
    window.resize(size);
    window.show();
    open_demo(window);
    auto* scroll = page(window)->findChild<QScrollArea*>();
    QTRY_VERIFY(scroll->isVisible());
    QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
    QCOMPARE(scroll->horizontalScrollBar()->maximum(), 0);
    const QRect button(run_button(window)->mapTo(&window, QPoint()), run_button(window)->size());
    QVERIFY(window.rect().contains(button));
    // Settings may be higher than the window, never wider.
    QTest::mouseClick(page(window)->findChild<QToolButton*>("run-settings"), Qt::LeftButton);
    QTRY_VERIFY(page(window)->findChild<SettingsPanel*>()->isVisible());
    QCOMPARE(scroll->horizontalScrollBar()->maximum(), 0);
    QCOMPARE(window.size(), size);
  }
};
STORMCELL_TEST(OpeningTest)

}  // namespace stormcell::studio
#include "opening_test.moc"
