// Files that change while the window has them open: a model that is written anew, that is gone, that is damaged, and
// a disk that is full in the middle of a run. One line says so in place, and the rest of the window goes on.
#include <signal.h>
#include <sys/resource.h>

#include <QDir>
#include <QFile>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <utility>

#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "app/studio/notice_bar.h"
#include "app/studio/open_list.h"
#include "core/base/blocking.h"
#include "core/base/checkout.h"
#include "tests/testing/model_headers.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

namespace {

/// No file of this process grows beyond so many bytes: stands for the end of the disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  void (*handler_)(int);
  rlimit before_{};
};

}  // namespace

class ChangedFilesTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  QString mixture(const QString& name, int layers) {
    const GgufBytes bytes = gguf_mixture(layers);
    const std::string header = bytes.header();
    QFile file(folder_.filePath(name));
    if (!file.open(QIODevice::WriteOnly)) qFatal("%s", qPrintable(file.errorString()));
    file.write(QByteArray::fromStdString(header));
    file.resize(static_cast<qint64>(header.size() + bytes.data_bytes()));
    return file.fileName();
  }
  static ModelPage* page(const MainWindow& window) { return window.findChild<OpenList*>()->page(); }
  static QString notice(const MainWindow& window) { return window.findChild<NoticeBar*>()->message(); }
  static void set(const MainWindow& window, const QString& title, const QString& word) {
    for (QLineEdit* line : page(window)->findChildren<QLineEdit*>())
      if (line->accessibleName() == title) return line->setText(word);
    qFatal("no setting %s", qPrintable(title));
  }
  static void press(QWidget& in, const char* button) {
    auto* found = in.findChild<QPushButton*>(button);
    QVERIFY(found && found->isVisible());
    QTest::mouseClick(found, Qt::LeftButton);
  }
  /// A folder of a demo's model, which can be run.
  QString runnable(const QString& name) {
    const QDir from(QString::fromStdString(checkout_source_folder()) + "/resources/demos/switch-names");
    const QString to = folder_.filePath(name);
    QDir().mkpath(to);
    for (const QString& file : from.entryList(QDir::Files)) QFile::copy(from.filePath(file), to + "/" + file);
    return to;
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    forbid_blocking_here();
  }

  void a_model_that_is_written_anew_is_read_again_on_request() {
    MainWindow window;
    window.show();
    const QString file = mixture("grows.gguf", 6);
    window.open_anything(file);
    QTRY_VERIFY(page(window));
    QCOMPARE(page(window)->model().routers.size(), size_t{6});
    QVERIFY(page(window)->changed().isEmpty());
    mixture("grows.gguf", 9);
    QTRY_VERIFY2(page(window)->changed().contains("have changed"), qPrintable(page(window)->changed()));
    QCOMPARE(page(window)->model().routers.size(), size_t{6});  // nothing was exchanged unasked
    press(*page(window), "read-again");
    QTRY_COMPARE(page(window)->model().routers.size(), size_t{9});
    QVERIFY(page(window)->isVisible() && page(window)->changed().isEmpty());
    QCOMPARE(window.findChild<OpenList*>()->size(), 1);
  }

  void a_model_that_was_cut_or_is_gone_says_so_on_its_page() {
    MainWindow window;
    window.show();
    const QString file = mixture("cut.gguf", 6);
    window.open_anything(file);
    QTRY_VERIFY(page(window));
    QFile::resize(file, 40);
    QTRY_VERIFY(!page(window)->changed().isEmpty());
    press(*page(window), "read-again");
    QTRY_VERIFY2(page(window)->changed().contains("cut.gguf"), qPrintable(page(window)->changed()));
    QCOMPARE(page(window)->model().routers.size(), size_t{6});
    QVERIFY(notice(window).isEmpty());
    QFile::remove(file);
    window.open_anything(mixture("other.gguf", 3));
    QTRY_VERIFY(page(window) && page(window)->model().routers.size() == 3);
    QVERIFY(page(window)->changed().isEmpty());
  }

  void a_run_whose_model_changes_meanwhile_is_not_trusted() {
    const QString model = runnable("changes");
    MainWindow window;
    RunRequest request;
    request.experiment.model = model.toStdString(), request.experiment.data = "random:8x8";
    request.experiment.verify_seconds = 0.1;
    request.optimize.measure_seconds = 0.5;
    QSignalSpy finished(&window.runs(), &RunController::finished),
        changed(&window.runs(), &RunController::files_changed), progressed(&window.runs(), &RunController::progressed);
    window.runs().start(request);
    QTRY_VERIFY_WITH_TIMEOUT(progressed.count() > 2, 20000);
    QFile beside(model + "/added.txt");
    QVERIFY(beside.open(QIODevice::WriteOnly));
    beside.close();
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 60000);
    QTRY_COMPARE(changed.count(), 1);
    const QString log = window.findChild<QPlainTextEdit*>()->toPlainText();
    QVERIFY2(log.contains("changed while the run went on"), qPrintable(log));
    // The next run reads them anew.
    window.runs().start(request);
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 2, 60000);
    QTRY_VERIFY(!window.runs().running());
    QCOMPARE(changed.count(), 1);
    QCOMPARE(window.runs().opened(), 2);
  }

  void a_full_disk_in_the_middle_of_a_run_is_one_line_and_the_window_goes_on() {
    MainWindow window;
    window.show();
    window.open_anything(QString("demo:switch-names"));
    QTRY_VERIFY_WITH_TIMEOUT(page(window), 20000);
    set(window, "Measure seconds", "0.2"), set(window, "Verify seconds", "0.1");
    set(window, "Session", folder_.filePath("full.storm"));
    page(window)->set_data("random:256x32");
    QSignalSpy finished(&window.runs(), &RunController::finished), failed(&window.runs(), &RunController::failed);
    {
      const SmallDisk disk(300 * 1024);
      press(*page(window), "run-model");
      QTRY_VERIFY_WITH_TIMEOUT(finished.count() + failed.count() == 1, 60000);
    }
    QVERIFY2(failed.count() == 1, "the disk was large enough");
    QTRY_VERIFY(!window.runs().running() && window.background().idle());
    QTRY_VERIFY2(notice(window).contains("full.storm") && !notice(window).contains('\n'), qPrintable(notice(window)));
    // With room on the disk it goes on where it is.
    set(window, "Session", folder_.filePath("room.storm"));
    window.show_view("model");
    press(*page(window), "run-model");
    QTRY_COMPARE_WITH_TIMEOUT(finished.count(), 1, 60000);
    QTRY_VERIFY(window.view() && window.view()->has_content());
  }
};
STORMCELL_TEST(ChangedFilesTest)

}  // namespace stormcell::studio
#include "changed_files_test.moc"
