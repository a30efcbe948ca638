// Tries of a recording in the window: choices are changed and counted, a click returns to a try, a file is written, and
// one line says what cannot be done.
#include "app/studio/recorded_tries.h"

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QFile>
#include <QFileDialog>
#include <QGuiApplication>
#include <QListWidget>
#include <QMenu>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "app/studio/command_line.h"
#include "app/studio/fault_line.h"
#include "app/studio/main_window.h"
#include "app/studio/notice_bar.h"
#include "app/studio/recording_panel.h"
#include "app/studio/trace_import.h"
#include "app/studio/what_if_pages.h"
#include "app/studio/what_if_panel.h"
#include "core/base/blocking.h"
#include "core/configuration/plan_config.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/scored_trace.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class RecordedTriesTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  const ScoredTrace trace_{};
  QString scored_, plain_;  ///< sessions, with and without scores

  QString imported(const QString& name, bool with_scores) {
    const QString trace = folder_.filePath(name);
    trace_.write(trace.toStdString(), with_scores);
    return import_into_new_session({trace}, {}).session;
  }
  static void open(MainWindow& window, const QString& session) {
    window.resize(1280, 900);
    window.show();
    window.open(session);
    window.show_view("heatmap");
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QVERIFY(window.actions().trigger("what-if"));
  }
  static void choose(MainWindow& window, const QString& router, int branch) {
    views::Selection selection;
    selection.router = router, selection.branch = branch;
    window.document().select(selection);
  }
  static QPushButton* button(const QWidget& in, const char* name) {
    for (QPushButton* one : in.findChildren<QPushButton*>())
      if (one->text() == name || one->accessibleName() == name) return one;
    return nullptr;
  }
  static QStringList rows(const RecordingPanel& panel) {
    const auto* list = panel.findChild<QListWidget*>("recorded-tries");
    QStringList texts;
    for (int i = 0; i < list->count(); ++i) texts << list->item(i)->text();
    return texts;
  }

 private slots:
  void initTestCase() {
    scored_ = imported("scored.safetensors", true);
    plain_ = imported("plain.safetensors", false);
    forbid_blocking_here();
  }

  void a_change_is_counted_without_a_file() {
    const AllowBlocking now;
    Intervention change;
    change.off = {{"first", 1}, {"first", 2}};
    const ReplayFigures f = count_replay(scored_.toStdString() + "#1", change);
    QCOMPARE(f.tokens, int64_t{ScoredTrace::kCells});
    QCOMPARE(f.requests, int64_t{2});
    QVERIFY(f.file.empty() && f.format.empty());
    QCOMPARE(f.routers.size(), size_t{2});
    QCOMPARE(f.routers[0].load_before, trace_.loads(0, 2));
    QCOMPARE(f.routers[0].load_after, trace_.loads(0, 2, {1, 2}));
    QCOMPARE(f.routers[1].load_after, trace_.loads(1, 2));
    QCOMPARE(f.routers[0].changed, f.routers[0].load_before[1] + f.routers[0].load_before[2]);
    QCOMPARE(f.routers[1].changed, int64_t{0});
  }

  void a_row_tells_the_change_and_what_it_does() {
    RecordedTry one;
    QCOMPARE(text_of(one), QString("as it was recorded"));
    one.change.off = {{"first", 1}};
    one.change.k = 2;
    one.figures.tokens = 1200, one.figures.changed_tokens = 40;
    one.figures.routers = {{"first", 4, 2, 30, 2400, {1200, 600, 600, 0}, {1200, 0, 600, 600}},
                           {"second", 4, 2, 12, 2400, {600, 600, 600, 600}, {612, 588, 600, 600}}};
    const QStringList lines = text_of(one).split('\n');
    QCOMPARE(lines.size(), 4);
    QCOMPARE(lines[0], QString("first/1 off, k 2"));
    QCOMPARE(lines[1], QString("40 of 1,200 tokens take other branches at some router"));
    QCOMPARE(lines[2], QString("42 of 4,800 choices changed, most at first: 30 of 2,400 choices"));
    QCOMPARE(lines[3], QString("largest load of first: 2.00\u00d7 its even share before, 2.00\u00d7 after"));
  }

  void the_order_of_branches_makes_no_other_try() {
    RecordedTries tries;
    QCOMPARE(tries.find({}), std::optional<size_t>(0));
    RecordedTry one;
    one.change.off = {{"first", 2}, {"first", 1}};
    QVERIFY(!tries.find(one.change));
    tries.all.push_back(one);
    Intervention same;
    same.off = {{"first", 1}, {"first", 2}};
    QCOMPARE(tries.find(same), std::optional<size_t>(1));
  }

  void a_try_is_a_command_line_and_a_configuration() {
    Intervention change;
    change.off = {{"a b", 1}};
    change.k = 3;
    QCOMPARE(command_of_recording("/data/s.storm#3", change, replay_formats()[0]),
             QString("stormcell what-if /data/s.storm#3 --off 'a b/1' --k 3 --format megatron -o choices.safetensors"));
    for (const ReplayFormat& format : replay_formats())
      if (format.id == "npy") QCOMPARE(file_of(format), QString("choices.npy"));
    QVERIFY(parse_plan_config(config_of_recording("m", change), "here").intervention == change);
  }

  void a_run_without_single_choices_has_none_to_change() {
    RunLine run;
    run.status = RunStatus::finished, run.decisions = true;
    QVERIFY(refusal_of_recording(run).isEmpty());
    run.status = RunStatus::running;
    QVERIFY(refusal_of_recording(run).contains("still recorded"));
    run.status = RunStatus::finished, run.decisions = false;
    QVERIFY(refusal_of_recording(run).contains("no single choices"));
  }

  void tries_of_a_recording_stand_in_a_list_and_come_back() {
    MainWindow window;
    open(window, scored_);
    auto* panel = window.findChild<RecordingPanel*>();
    QTRY_VERIFY(panel->isVisible());
    const auto* only = window.findChild<QCheckBox*>("choices-only");
    QVERIFY(only->isChecked() && !only->isEnabled());  // there is no model to run
    QCOMPARE(rows(*panel), QStringList{"as it was recorded"});
    auto* off = button(*panel, "Switch the branch off");
    QVERIFY(off && !off->isEnabled());
    choose(window, "first", 1);
    QTRY_VERIFY(off->isEnabled());
    QTest::mouseClick(off, Qt::LeftButton);
    QTRY_COMPARE(rows(*panel).size(), 2);
    QTRY_VERIFY(!window.runs().running());
    QVERIFY2(rows(*panel)[1].startsWith("first/1 off\n"), qPrintable(rows(*panel)[1]));
    choose(window, "first", 2);
    QTRY_VERIFY(off->isEnabled());
    QTest::mouseClick(off, Qt::LeftButton);
    QTRY_COMPARE(rows(*panel).size(), 3);
    QTRY_VERIFY(!window.runs().running());
    QVERIFY2(rows(*panel)[2].startsWith("first/1 off, first/2 off\n"), qPrintable(rows(*panel)[2]));
    auto* list = panel->findChild<QListWidget*>("recorded-tries");
    QCOMPARE(list->currentRow(), 2);
    QTest::mouseClick(list->viewport(), Qt::LeftButton, {}, list->visualItemRect(list->item(1)).center());
    QTRY_VERIFY(off->isEnabled());  // first/2 is on again
    // A change that was tried is not counted again, whichever way leads to it.
    QSignalSpy work(panel, &RecordingPanel::work_wanted);
    QTest::mouseClick(off, Qt::LeftButton);
    QTRY_COMPARE(list->currentRow(), 2);
    QCOMPARE(rows(*panel).size(), 3);
    QVERIFY(work.isEmpty());
    QTest::mouseClick(button(*panel, "Copy command"), Qt::LeftButton);
    QCOMPARE(QGuiApplication::clipboard()->text(),
             QString("stormcell what-if %1 --off first/1 --off first/2 --format megatron -o choices.safetensors")
                 .arg(shell_quoted(scored_ + "#1")));
  }

  void choices_are_written_for_a_program_and_refused_for_one_that_takes_none() {
    MainWindow window;
    open(window, scored_);
    auto* panel = window.findChild<RecordingPanel*>();
    QTRY_VERIFY(panel->isVisible());
    auto* write = button(*panel, "Write choices");
    QVERIFY(!write->isEnabled());
    choose(window, "second", 3);
    QTRY_VERIFY(button(*panel, "Switch the branch off")->isEnabled());
    QTest::mouseClick(button(*panel, "Switch the branch off"), Qt::LeftButton);
    QTRY_VERIFY(write->isEnabled() && !window.runs().running());
    const auto trigger = [&](const char* text) {
      for (QAction* action : write->menu()->actions())
        if (action->text() == text) action->trigger();
    };
    trigger("For vllm");
    const auto* fault = panel->findChild<FaultLine*>();
    QVERIFY2(fault->text().contains("documents no way"), qPrintable(fault->text()));
    QVERIFY(!window.findChild<QFileDialog*>("choices-dialog"));
    trigger("For megatron");
    QVERIFY(fault->text().isEmpty());
    auto* dialog = window.findChild<QFileDialog*>("choices-dialog");
    QVERIFY(dialog);
    const QString file = folder_.filePath("choices.safetensors");
    emit dialog->fileSelected(file);
    dialog->close();
    const auto* notice = window.findChild<NoticeBar*>();
    QTRY_VERIFY2(notice->message().contains("set_replay_data"), qPrintable(notice->message()));
    QVERIFY(QFile::exists(file));
  }

  void a_recording_without_scores_says_so_in_place() {
    MainWindow window;
    open(window, plain_);
    auto* panel = window.findChild<RecordingPanel*>();
    QTRY_VERIFY(panel->isVisible());
    choose(window, "first", 0);
    QTRY_VERIFY(button(*panel, "Switch the branch off")->isEnabled());
    QTest::mouseClick(button(*panel, "Switch the branch off"), Qt::LeftButton);
    const auto* fault = panel->findChild<FaultLine*>();
    QTRY_VERIFY2(fault->text().contains("has no scores of router first"), qPrintable(fault->text()));
    QTRY_VERIFY(!window.runs().running());
    QCOMPARE(rows(*panel).size(), 1);
    QVERIFY(window.view()->has_content());
  }

  void a_run_that_can_be_repeated_offers_its_recorded_choices_too() {
    const QString session = folder_.filePath("own.storm");
    {
      const AllowBlocking now;
      SessionWriter writer(session.toStdString(), some_model());
      RunStart start = some_run();
      start.config = to_json(PlanConfig());
      auto run = writer.begin_run(start);
      record_batches(*run, start.layout, 0, 4);
      run->finish(RunStatus::finished, R"({"settings":{"model":"/nowhere","data":"random:1x1","batch":1}})");
      run.reset();
      writer.close();
    }
    MainWindow window;
    open(window, session);
    const auto* runs = window.findChild<WhatIfPanel*>();
    const auto* recordings = window.findChild<RecordingPanel*>();
    QTRY_VERIFY(runs->isVisible() && !recordings->isVisible());
    auto* only = window.findChild<QCheckBox*>("choices-only");
    QVERIFY(only->isEnabled() && !only->isChecked());
    only->click();
    QVERIFY(recordings->isVisible() && !runs->isVisible());
    only->click();
    QVERIFY(runs->isVisible());
  }
};
STORMCELL_TEST(RecordedTriesTest)

}  // namespace stormcell::studio
#include "recorded_tries_test.moc"
