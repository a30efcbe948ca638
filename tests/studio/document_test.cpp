// The open session, the shared selection, undo, and a session that grows while it is looked at.
#include <QSignalSpy>
#include <QTemporaryDir>

#include "app/studio/actions.h"
#include "app/studio/command_line.h"
#include "app/studio/document.h"
#include "core/base/blocking.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class DocumentTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString at(const char* name) const { return folder_.filePath(name); }

 private slots:
  void initTestCase() { forbid_blocking_here(); }

  void nothing_blocks_the_windows_thread() {
    QVERIFY_THROWS_EXCEPTION(std::logic_error, open_session("x"));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, read_loads("x", 1));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, SessionReader("x"));
    QVERIFY_THROWS_EXCEPTION(std::logic_error, Experiment::open({}, {}));
  }

  void a_session_opens_or_says_why_not() {
    {
      const AllowBlocking now;
      make_session(at("a.storm").toStdString(), 8);
    }
    Background background;
    Document document(background);
    QSignalSpy opened(&document, &Document::opened), failed(&document, &Document::failed);
    document.open(at("a.storm"));
    QVERIFY(document.empty());  // it did not wait
    QTRY_COMPARE(opened.count(), 1);
    QCOMPARE(document.session().runs.size(), size_t{1});
    QCOMPARE(document.context().main.run, int64_t{1});
    document.open(at("missing.storm"));
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(failed[0][0].toString().contains("missing.storm"));
    QVERIFY(!document.empty());  // what was open stays
    document.open(at("a.storm") + "#7");
    QTRY_COMPARE(failed.count(), 2);
    // The latest of three wishes wins.
    document.open(at("missing.storm")), document.open(at("missing.storm")), document.open(at("a.storm"));
    QTRY_COMPARE(opened.count(), 2);
    QTest::qWait(50);
    QCOMPARE(failed.count(), 2);
  }

  void a_run_is_opened_by_its_number_or_its_name() {
    {
      const AllowBlocking now;
      for (const char* name : {"first", "second", "first"})
        make_session(at("named.storm").toStdString(), 4, some_run(name));
    }
    Background background;
    Document document(background);
    QSignalSpy opened(&document, &Document::opened), failed(&document, &Document::failed);
    int times = 0;
    for (const auto& [selector, run] : {std::pair{"#1", 1}, {"#second", 2}, {"#first", 3}, {"", 3}}) {
      document.open(at("named.storm") + selector);
      ++times;
      QTRY_COMPARE(opened.count(), times);
      QCOMPARE(document.context().main.run, int64_t{run});
    }
    document.compare_with(at("named.storm") + "#second");
    QTRY_COMPARE(document.context().other.run, int64_t{2});
    document.open(at("named.storm") + "#third");
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY2(failed[0][0].toString().contains("there is no run \"third\" (it holds #3 first, #2 second, #1 first)"),
             qPrintable(failed[0][0].toString()));
  }

  void selections_are_undone_and_drags_are_one_step() {
    Background background;
    Document document(background);
    views::Selection a, b;
    a.router = "r", a.branch = 1;
    document.select(a);
    b = a;
    for (int i = 1; i < 20; ++i) {
      b.first_batch = i, b.end_batch = i + 5;
      document.select(b);
    }
    QVERIFY(document.selection() == b);
    document.undo_stack().undo();
    QVERIFY(document.selection() == a);
    document.undo_stack().undo();
    QVERIFY(document.selection() == views::Selection());
    document.undo_stack().redo();
    document.undo_stack().redo();
    QVERIFY(document.selection() == b);
  }

  void a_session_that_is_written_is_followed() {
    const RunLayout layout = two_stacks();
    std::unique_ptr<SessionWriter> writer;
    std::unique_ptr<RunWriter> run;
    {
      const AllowBlocking now;
      writer = std::make_unique<SessionWriter>(at("live.storm").toStdString(), some_model());
      run = writer->begin_run(some_run());
      record_batches(*run, layout, 0, 4);
    }
    Background background;
    Document document(background);
    QSignalSpy opened(&document, &Document::opened), changed(&document, &Document::runs_changed);
    document.open(at("live.storm"));
    QTRY_COMPARE(opened.count(), 1);
    QCOMPARE(document.session().runs[0].batches, int64_t{4});
    QCOMPARE(document.session().runs[0].status, RunStatus::running);
    {
      const AllowBlocking now;
      record_batches(*run, layout, 4, 6);
    }
    document.poll();
    QTRY_COMPARE(changed.count(), 1);
    QCOMPARE(document.session().runs[0].batches, int64_t{10});
    QVERIFY(changed[0][0].toString().contains("10 batches"));
    {
      const AllowBlocking now;
      run->finish(RunStatus::finished);
      run.reset();
      writer->close();
    }
    document.poll();
    QTRY_COMPARE(document.session().runs[0].status, RunStatus::finished);
    QSignalSpy failed(&document, &Document::failed);
    QFile::remove(at("live.storm"));
    document.poll();
    QTRY_COMPARE(failed.count(), 1);
    QVERIFY(!document.empty());
  }

  void commands_are_what_a_shell_takes() {
    QCOMPARE(shell_quoted("plain/path.storm#3"), QString("plain/path.storm#3"));
    QCOMPARE(shell_quoted("it's here"), QString("'it'\\''s here'"));
    const std::string settings = R"({"model":"my model","data":"random:8x8","batch":4,"batches":-1,"seed":7})";
    QCOMPARE(
        command_of(settings, "s.storm", {{}, {"dead-path"}, {}}),
        QString("stormcell optimize 'my model' --data random:8x8 --batch 4 --seed 7 --disable dead-path -o s.storm"));
    // The options of the run are in the command, all of it.
    QCOMPARE(
        command_of(
            R"({"model":"m","data":"d","dtype":"bf16","threads":2,"verify_seconds":0.5,"allow_nonfinite":true,"record_scores":true})",
            ""),
        QString("stormcell optimize m --data d --threads 2 --dtype bf16 --verify-seconds 0.5 --allow-nonfinite "
                "--record-scores"));
    QCOMPARE(command_of(R"({"model":"m","profile_split":"first","keep_all":true})", ""),
             QString("stormcell optimize m --profile-split first --keep-all"));
    QVERIFY(command_of("", "s.storm").isEmpty());
    QCOMPARE(export_command("compare", "c.png", "b c.storm#2", "a.storm#1"),
             QString("stormcell-studio --export compare -o c.png --compare-with a.storm#1 'b c.storm#2'"));
    QCOMPARE(parse_settings(settings)->batch, int64_t{4});
  }

  void the_palette_finds_by_first_letters() {
    QVERIFY(fit("ra", "Run again") > fit("ra", "Clear selection batches"));
    QVERIFY(fit("run a", "Run again") > fit("run a", "Redo until nothing at all"));
    QCOMPARE(fit("xyz", "Run again"), -1);
  }
};
STORMCELL_TEST(DocumentTest)

}  // namespace stormcell::studio
#include "document_test.moc"
