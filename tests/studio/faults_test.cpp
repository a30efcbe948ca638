// Faults are said in place, and the rest of the window goes on.
#include <QFile>
#include <QLabel>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>

#include "app/studio/main_window.h"
#include "app/studio/notice_bar.h"
#include "core/base/blocking.h"
#include "tests/contract/traces.h"
#include "tests/core/session/session_files.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class FaultsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  QString good_;

  QString made(const char* name, int64_t batches = 12) {
    const AllowBlocking now;
    return QString::fromStdString(make_session(folder_.filePath(name).toStdString(), batches));
  }
  QString written(const char* name, const QByteArray& bytes) {
    QFile file(folder_.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) qFatal("cannot write");
    file.write(bytes);
    return file.fileName();
  }
  static void overwrite(const QString& file, qint64 at, const QByteArray& bytes) {
    QFile f(file);
    QVERIFY(f.open(QIODevice::ReadWrite) && f.seek(at));
    f.write(bytes);
  }
  static QString notice(const MainWindow& window) { return window.findChild<NoticeBar*>()->message(); }
  /// A good session still opens, and what was wrong is not on show any more.
  void verify_goes_on(MainWindow& window) {
    window.open(good_);
    QTRY_VERIFY(window.windowTitle().contains("good.storm"));
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QTRY_VERIFY(notice(window).isEmpty());
  }

 private slots:
  void initTestCase() {
    good_ = made("good.storm");
    forbid_blocking_here();
  }

  void a_damaged_session() {
    MainWindow window;
    const QString damaged = made("damaged.storm", 200);
    overwrite(damaged, 4096, QByteArray(60000, '\x5a'));
    window.open(damaged);
    const auto said = [&] {
      return window.view() && !window.view()->message().startsWith("Reading")
                 ? window.view()->message() + notice(window)
                 : notice(window);
    };
    QTRY_VERIFY2(said().contains("damaged.storm"), qPrintable(said()));
    verify_goes_on(window);
  }

  void damage_that_no_view_meets() {
    MainWindow window;
    const QString damaged = made("elsewhere.storm");
    execute(damaged.toStdString(), "UPDATE label_load SET cells = cells + 1");
    window.open(damaged);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QTRY_VERIFY2(notice(window).contains("elsewhere.storm: the file is damaged: in run #1 the loads of router"),
                 qPrintable(notice(window)));
    verify_goes_on(window);
  }

  void a_session_cut_short() {
    MainWindow window;
    const QString cut = made("cut.storm", 200);
    QFile::resize(cut, QFile(cut).size() / 3);
    window.open(cut);
    const auto said = [&] { return window.view() ? window.view()->message() + notice(window) : notice(window); };
    QTRY_VERIFY2(said().contains("cut.storm"), qPrintable(said()));
    verify_goes_on(window);
  }

  void a_session_of_a_newer_version() {
    MainWindow window;
    const QString newer = made("newer.storm");
    overwrite(newer, 60, QByteArray("\x00\x00\x03\xe7", 4));  // user_version in SQLite's header
    window.open(newer);
    QTRY_VERIFY2(notice(window).contains("newer.storm") && notice(window).contains("newer Stormcell"),
                 qPrintable(notice(window)));
    QVERIFY(!window.view());  // the welcome page is still there
    verify_goes_on(window);
  }

  void a_session_that_goes_away() {
    MainWindow window;
    const QString gone = made("gone.storm");
    window.open(gone);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QFile::remove(gone);
    window.document().poll();
    QTRY_VERIFY2(notice(window).contains("gone"), qPrintable(notice(window)));
    QVERIFY(window.view()->has_content());  // what was read stays
    // A view that has to read says why it cannot, and which buttons help.
    window.show_view("heatmap");
    QTRY_VERIFY2(window.view()->message().contains("gone.storm"), qPrintable(window.view()->message()));
    QVERIFY(!window.view()->findChildren<QPushButton*>().isEmpty());
    verify_goes_on(window);
  }

  void traces_with_faults_data() {
    QTest::addColumn<QByteArray>("trace");
    QTest::addColumn<QString>("words");
    const auto changed = [](const std::string& replacement) {
      return QByteArray::fromStdString(route_trace({}, "made-up.gguf", [&](int64_t row, std::string& line) {
        if (row == 30) line = replacement;
      }));
    };
    QTest::newRow("ragged row") << changed("0,1,3") << "line";
    QTest::newRow("branch out of range") << changed("0,1,1,0,0,800,0.5,1,1000") << "800";
    QTest::newRow("no trace") << QByteArray("name,age\nAda,36\n") << "trace";
  }
  void traces_with_faults() {
    QFETCH(QByteArray, trace);
    QFETCH(QString, words);
    MainWindow window;
    const QString file = written("wrong.csv", trace);
    window.open_anything(file);
    QTRY_VERIFY2(notice(window).contains("wrong.csv") && notice(window).contains(words), qPrintable(notice(window)));
    QVERIFY(!QFile::exists(folder_.filePath("wrong.storm")));
    QTRY_VERIFY(!window.runs().running());
    verify_goes_on(window);
  }

  void a_folder_that_is_no_model() {
    MainWindow window;
    window.open_anything(folder_.path());
    QTRY_VERIFY2(notice(window).contains("is not a model") && notice(window).contains("config.json"),
                 qPrintable(notice(window)));
    verify_goes_on(window);
  }

  void a_run_that_fails_and_one_that_is_cancelled() {
    MainWindow window;
    window.open(good_);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    RunRequest wrong;
    wrong.experiment.model = "/nowhere", wrong.experiment.data = "random:1x1";
    window.runs().start(wrong);
    QTRY_VERIFY2(notice(window).contains("/nowhere"), qPrintable(notice(window)));
    QVERIFY(window.view()->has_content());
    RunRequest real;
    real.experiment.model = "demo:switch-names", real.experiment.data = "random:64x16";
    QSignalSpy cancelled(&window.runs(), &RunController::cancelled),
        progressed(&window.runs(), &RunController::progressed);
    window.runs().start(real);
    QTRY_VERIFY(!progressed.isEmpty());
    QVERIFY(window.actions().trigger("stop"));
    QTRY_COMPARE(cancelled.count(), 1);
    QTRY_VERIFY(!window.runs().running());
    QVERIFY2(notice(window).startsWith("Stopped."), qPrintable(notice(window)));
    QVERIFY(!window.actions().trigger("stop"));
    verify_goes_on(window);
  }

  void no_memory_and_other_exceptions_of_a_background_load() {
    MainWindow window;
    window.open(good_);
    QTRY_VERIFY(window.view() && window.view()->has_content());
    QStringList said;
    const auto take = [&](const QString& message) { said << message; };
    window.background().start(
        Job::show_about, [](const Progress&) -> views::View::Deliver { throw std::bad_alloc(); }, take);
    window.background().start(
        Job::show_contents, [](const Progress&) -> views::View::Deliver { throw 7; }, take);
    QTRY_COMPARE(said.size(), 2);
    QVERIFY2(said.join(' ').contains("memory"), qPrintable(said.join(' ')));
    verify_goes_on(window);
  }
};
STORMCELL_TEST(FaultsTest)

}  // namespace stormcell::studio
#include "faults_test.moc"
