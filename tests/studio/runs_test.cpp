// Runs, imports, and the model that is kept between runs.
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QMutex>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QToolButton>

#include "app/studio/command_line.h"
#include "app/studio/data_box.h"
#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "app/studio/progress_text.h"
#include "app/studio/settings_panel.h"
#include "core/base/blocking.h"
#include "core/base/error.h"
#include "tests/contract/traces.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class RunsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  void write(const QString& file, const QByteArray& bytes) {
    QFile f(file);
    QVERIFY(f.open(QIODevice::WriteOnly));
    f.write(bytes);
  }

 private slots:
  void initTestCase() { forbid_blocking_here(); }

  void progress_is_told_with_rate_and_time_left() {
    QCOMPARE(progress_text("reading bytes", 1 << 20, 4 << 20, 2),
             QString("reading bytes, 25 %, 512 KiB/s, 6.0 s left"));
    QCOMPARE(progress_text("reading tokens", 5000, 0, 1), QString("reading tokens, 5,000 tokens/s"));
    QCOMPARE(progress_text("measuring", 1, 4, 10), QString("measuring, 25 %, 30 s left"));
    QCOMPARE(progress_text("measuring", 1, 4, 0.01), QString("measuring, 25 %"));
    QCOMPARE(progress_text("opening", 0, 0, 10), QString("opening"));
    QCOMPARE(progress_text("measuring", 1, 4, 10, "3 reads, 7.0 KiB, waited 0.2 s"),
             QString("measuring, 25 %, 30 s left; 3 reads, 7.0 KiB, waited 0.2 s"));
  }

  void the_hint_of_the_data_names_every_form() {
    for (const bool pictures : {false, true}) {
      OpenedModel model;
      model.runs = true, model.takes_pictures = pictures;
      const ModelPage page(model);
      const QString hint = page.findChild<DataBox*>()->placeholderText();
      for (const char* form : pictures ? std::vector{"a picture", "a folder", "a video", "random:"}
                                       : std::vector{".txt", ".jsonl", ".npy", ".safetensors", "random:"})
        QVERIFY2(hint.contains(form), form);
    }
  }

  void a_run_of_batches_of_like_length_is_the_command_that_repeats_it() {
    const SettingsPanel panel;
    QVERIFY(!panel.request().experiment.bucket_by_length);
    for (QCheckBox* box : panel.findChildren<QCheckBox*>())
      if (box->accessibleName() == "Bucket by length") box->setChecked(true);
    ExperimentOptions asked = panel.request().experiment;
    QVERIFY(asked.bucket_by_length);
    asked.model = "demo:switch-names";
    QVERIFY(command_of(settings_json(asked), {}, {}).contains(" --bucket-by-length"));
  }

  void a_run_that_decodes_is_the_command_that_repeats_it() {
    const SettingsPanel panel;
    QCOMPARE(panel.request().experiment.phase, std::string("forward"));
    for (QComboBox* box : panel.findChildren<QComboBox*>())
      if (box->accessibleName() == "Phase") box->setCurrentText("decode");
    ExperimentOptions asked = panel.request().experiment;
    asked.model = "demo:switch-names";
    const QString command = command_of(settings_json(asked), {}, {});
    QVERIFY2(command.contains(" --phase decode"), qPrintable(command));
  }

  void an_import_shows_its_progress_and_keeps_what_was_read_when_stopped() {
    const QString trace = folder_.filePath("long.csv");
    write(trace, QByteArray::fromStdString(route_trace({3, 8, 2, 5, 200, 1800})));
    MainWindow window;
    window.show();
    QSignalSpy imported(&window.runs(), &RunController::imported);
    // Stopped where it says how far it is: who looks now and then may look when it is over.
    QString told;
    bool stopped = false;
    connect(&window.runs(), &RunController::progressed, this, [&](const QString& text, int permille) {
      if (permille <= 100 || !told.isEmpty()) return;
      told = text;
      stopped = window.actions().trigger("stop");
    });
    window.open_anything(trace);
    QTRY_VERIFY(window.runs().importing());
    QVERIFY(!window.actions().trigger("import-trace"));  // one at a time, and it says so
    QTRY_COMPARE_WITH_TIMEOUT(imported.count(), 1, 20000);
    QVERIFY(stopped);
    QVERIFY2(told.startsWith("reading bytes"), qPrintable(told));
    QTRY_VERIFY(!window.document().empty());
    QCOMPARE(window.document().session().runs[0].status, RunStatus::interrupted);
    QVERIFY(window.document().session().runs[0].batches > 0);
    QVERIFY(!window.runs().running());
  }

  void an_import_is_opened_when_it_is_done() {
    const QString trace = folder_.filePath("short.csv");
    write(trace, QByteArray::fromStdString(route_trace()));
    MainWindow window;
    window.open_anything(trace);
    QTRY_VERIFY(!window.document().empty());
    QCOMPARE(window.document().session().runs[0].status, RunStatus::finished);
    window.show_view("heatmap");
    QTRY_VERIFY(window.view()->has_content());
  }

  void a_session_that_cannot_be_written_is_copied_first() {
    const QString session = folder_.filePath("read-only.storm"), copy = folder_.filePath("copy.storm");
    {
      const AllowBlocking now;
      SessionWriter writer(session.toStdString(), some_model());
      const RunStart start = some_run();
      auto run = writer.begin_run(start);
      record_batches(*run, start.layout, 0, 4);
      run->finish(RunStatus::finished, R"({"settings":{"model":"/nowhere","data":"random:1x1","batch":1}})");
      run.reset();
      writer.close();
    }
    MainWindow window;
    window.show();
    QStringList asked;
    QMutex lock;
    window.set_writable([&](const std::string& file) {
      const QMutexLocker locked(&lock);
      asked << QString::fromStdString(file);
      return file != session.toStdString();
    });
    window.open(session);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QSignalSpy failed(&window.runs(), &RunController::failed);
    QVERIFY(window.actions().trigger("run-again"));
    QTRY_VERIFY(window.findChild<QFileDialog*>("copy-dialog"));
    auto* dialog = window.findChild<QFileDialog*>("copy-dialog");
    QCOMPARE(dialog->directory().absolutePath(), QDir::homePath());
    QCOMPARE(QFileInfo(dialog->selectedFiles().value(0)).fileName(), QString("read-only-copy.storm"));
    QVERIFY(failed.isEmpty());
    emit dialog->fileSelected(copy);
    dialog->close();
    QTRY_VERIFY(QFile::exists(copy));
    QTRY_VERIFY(window.windowTitle().contains("copy.storm"));
    // It went on: this run's model is nowhere, which only the run itself can find out.
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(failed[0][0].toString().contains("/nowhere"));
    QTRY_VERIFY(!window.runs().running());
    QCOMPARE(asked, (QStringList{session, copy}));
    // A file that is there is not written over.
    window.set_writable([](const std::string&) { return false; });
    QVERIFY(window.actions().trigger("run-again"));
    QTRY_VERIFY(window.findChild<QFileDialog*>("copy-dialog"));
    QSignalSpy said(&window.document(), &Document::opened);
    emit window.findChild<QFileDialog*>("copy-dialog")->fileSelected(copy);
    QTest::qWait(200);
    QCOMPARE(said.count(), 0);
  }

  void the_command_of_a_run_names_its_passes() {
    const QString session = folder_.filePath("chosen.storm");
    {
      const AllowBlocking now;
      SessionWriter writer(session.toStdString(), some_model());
      const RunStart start = some_run();
      auto run = writer.begin_run(start);
      record_batches(*run, start.layout, 0, 4);
      run->finish(RunStatus::finished,
                  R"({"schema":"stormcell.optimize/1","settings":{"model":"m","data":"random:1x1","batch":1},
"time_limit_seconds":90,"passes":[{"name":"vertical-fusion","applied":true,"options":{"norms":"off"}}]})");
      run.reset();
      writer.close();
    }
    MainWindow window;
    window.show();
    window.open(session);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QVERIFY(window.actions().trigger("copy-command"));
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QString("stormcell optimize m --data random:1x1 --batch 1 --only vertical-fusion --pass-option "
                     "vertical-fusion.norms=off --time-limit 90 -o chosen.storm"));
  }

  void whether_a_session_can_be_written() {
    const AllowBlocking now;
    QVERIFY(session_is_writable(make_session(folder_.filePath("w.storm").toStdString(), 2)));
    QVERIFY(!session_is_writable(folder_.filePath("none/there.storm").toStdString()));
    QVERIFY(!session_is_writable("/proc/sys/kernel/none"));
  }

  void the_work_of_a_view_goes_on_alone_and_can_be_stopped() {
    RunController runs;
    QSignalSpy failed(&runs, &RunController::failed), stopped(&runs, &RunController::work_stopped),
        cancelled(&runs, &RunController::cancelled);
    bool delivered = false;
    runs.start_work([&](const Progress&) -> std::function<void()> { return [&] { delivered = true; }; });
    QVERIFY(runs.running());
    runs.start_work([](const Progress&) -> std::function<void()> { return [] {}; });
    QCOMPARE(failed.size(), 1);
    QTRY_VERIFY(delivered && !runs.running());
    runs.start_work([](const Progress& progress) -> std::function<void()> {
      for (;;) progress.report("searching", 0, 0);
    });
    runs.start(RunRequest());
    QCOMPARE(failed.size(), 2);
    runs.cancel();
    QTRY_VERIFY(!runs.running());
    QVERIFY(stopped.size() == 1 && cancelled.isEmpty());
    runs.start_work([](const Progress&) -> std::function<void()> { bad_input("a placement", "has an empty slot"); });
    QTRY_COMPARE(failed.size(), 3);
    QVERIFY(failed.last().front().toString().contains("has an empty slot"));
  }

  void a_long_reading_tells_how_far_it_is_and_can_be_stopped() {
    QString session;
    {
      const AllowBlocking now;
      session = QString::fromStdString(make_session(folder_.filePath("reading.storm").toStdString(), 2));
    }
    MainWindow window;
    window.open(session);
    QTRY_VERIFY(window.view() && window.view()->has_content() && window.background().idle());
    Background& background = window.background();
    const QAction* stop = window.actions().action("stop");
    QSignalSpy progressed(&background, &Background::progressed);
    QString said;
    QVERIFY(!stop->isEnabled());
    background.start(
        window.view(),
        [](const Progress& progress) -> views::View::Deliver {
          for (;;) progress.report("simulating steps", 1, 4);
        },
        [&said](const QString& message) { said = message; });
    QTRY_VERIFY(!progressed.isEmpty());
    QVERIFY(progressed[0][1].toString().startsWith("simulating steps, 25 %") && progressed[0][2].toInt() == 250);
    QVERIFY(background.reads(window.view()) && stop->isEnabled());
    QVERIFY(window.actions().trigger("stop"));
    QTRY_COMPARE(said, QString("Stopped."));
    QVERIFY(!background.reads(window.view()) && !stop->isEnabled());
  }

  void a_model_is_kept_until_its_files_change_or_its_session_is_closed() {
    const QString data = folder_.filePath("names.txt");
    write(data, "Alice\nBob\nCarol\nDave\n");
    RunController runs;
    QSignalSpy finished(&runs, &RunController::finished), failed(&runs, &RunController::failed);
    RunRequest request;
    request.experiment.model = "demo:switch-names";
    request.experiment.data = data.toStdString();
    request.experiment.batch = 2;
    request.experiment.verify_seconds = 0.1;
    request.optimize.measure_seconds = 0.1;
    request.optimize.alone = false;
    const auto run = [&] {
      const qsizetype before = finished.count();
      runs.start(request);
      QTRY_VERIFY2_WITH_TIMEOUT(finished.count() == before + 1 || !failed.isEmpty(),
                                qPrintable(failed.value(0).value(0).toString()), 60000);
      QTRY_VERIFY(!runs.running());
    };
    run();
    QVERIFY(failed.isEmpty());
    QCOMPARE(runs.opened(), 1);
    request.optimize.passes.disable = {"horizontal-fusion"};
    run();
    QCOMPARE(runs.opened(), 1);
    write(data, "Alice\nBob\nCarol\nDave\nErin\n");
    run();
    QCOMPARE(runs.opened(), 2);
    QVERIFY(runs.keeps_model());
    runs.release_model();
    QVERIFY(!runs.keeps_model());
    run();
    QCOMPARE(runs.opened(), 3);
  }

  void closing_the_session_gives_the_model_back() {
    MainWindow window;
    QSignalSpy finished(&window.runs(), &RunController::finished);
    RunRequest request;
    request.experiment.model = "demo:switch-names", request.experiment.data = "random:4x8";
    request.experiment.verify_seconds = 0.1, request.optimize.measure_seconds = 0.1, request.optimize.alone = false;
    {
      const AllowBlocking now;
      window.open(QString::fromStdString(make_session(folder_.filePath("c.storm").toStdString(), 2)));
    }
    QTRY_VERIFY(!window.document().empty());
    window.runs().start(request);
    QTRY_VERIFY_WITH_TIMEOUT(!window.runs().running() && finished.count() == 1, 60000);
    QVERIFY(window.runs().keeps_model());
    window.document().close();
    QVERIFY(!window.runs().keeps_model());
  }
};
STORMCELL_TEST(RunsTest)

}  // namespace stormcell::studio
#include "runs_test.moc"
