// The whole way with real mouse and keys: X events by xdotool, so that nothing of Qt's own test events stands in for
// them.
//
// Runs in a display of its own (xvfb-run); without xdotool or a display the test skips and says so.
#include <QApplication>
#include <QCheckBox>
#include <QClipboard>
#include <QImage>
#include <QListWidget>
#include <QProcess>
#include <QPushButton>
#include <QTemporaryDir>

#include "app/studio/main_window.h"
#include "core/base/blocking.h"
#include "core/base/checkout.h"
#include "tests/studio_e2e/real_input.h"
#include "tests/testing/testing.h"
#include "views/optimisations/optimisations_view.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class EndToEndTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void initTestCase() {
    if (const char* missing = missing_for_real_input()) QSKIP(missing);
    forbid_blocking_here();
  }

  void open_run_switch_off_run_undo_compare_export_and_close_while_running() {
    const QString session = folder_.filePath("demo.storm");
    auto window = std::make_unique<MainWindow>();
    window->move(0, 0);
    window->show();
    QVERIFY(QTest::qWaitForWindowExposed(window.get()));
    tool({"windowfocus", QString::number(window->winId())});

    // 1. Run the demo's model on a few names, as the dialog of "Open model" would.
    RunRequest request;
    request.experiment.model = "demo:switch-names";
    request.experiment.data = "demo:switch-names-sample";
    request.experiment.label_field = "language";
    request.experiment.record_inputs = true;
    request.optimize.session = session.toStdString();
    request.optimize.measure_seconds = 0.5;
    window->runs().start(request);
    QTRY_VERIFY_WITH_TIMEOUT(!window->runs().running(), 60000);
    window->open(session);
    QTRY_VERIFY_WITH_TIMEOUT(window->view() && window->view()->has_content(), 10000);

    // 2. Another view by key, a switch by mouse.
    window->show_view("overview");
    key("ctrl+4");
    QTRY_COMPARE(window->view_id(), QString("optimisations"));
    auto* view = qobject_cast<views::OptimisationsView*>(window->view());
    QVERIFY(view && view->state().run > 0);
    const int64_t all_passes = view->state().run;
    auto* box = named<QCheckBox>(view, "Group experts");
    QVERIFY(box && box->isChecked());
    click(box);
    QTRY_VERIFY(!box->isChecked());
    QCOMPARE(view->state().run, int64_t{0});  // this choice is not measured

    // 3. Run it: the figure is another run's.
    auto* run = named<QPushButton>(view, "Run this choice");
    QVERIFY(run);
    click(run);
    QTRY_VERIFY_WITH_TIMEOUT(window->runs().running(), 5000);
    QTRY_VERIFY_WITH_TIMEOUT(!window->runs().running(), 60000);
    QTRY_VERIFY_WITH_TIMEOUT(view->state().run > all_passes, 10000);
    QTRY_VERIFY(window->document().context().main.run > all_passes);  // the list shows it too

    // 4. Undo is instant: nothing runs, and the first figure is back.
    key("ctrl+z");
    QTRY_COMPARE(view->state().run, all_passes);
    QVERIFY(box->isChecked());
    QVERIFY(!window->runs().running());

    // 5. Compare with the first run.
    key("ctrl+k");
    QTRY_VERIFY(!window->document().context().other.empty());
    auto* runs = window->findChild<QListWidget*>("runs");
    QVERIFY(runs);
    const QListWidgetItem* first = nullptr;
    for (int i = 0; i < runs->count(); ++i)
      if (runs->item(i)->data(Qt::UserRole).toLongLong() == all_passes) first = runs->item(i);
    QVERIFY(first);
    const QPoint at = runs->viewport()->mapToGlobal(runs->visualItemRect(first).center());
    tool({"mousemove", QString::number(at.x()), QString::number(at.y()), "click", "1"});
    QTRY_VERIFY(window->document().context().main.run != window->document().context().other.run);
    window->show_view("compare");
    QTRY_VERIFY(window->view()->has_content());
    QVERIFY(window->view()->table().rows.size() > 20);

    // 6. The command that writes this picture, by the palette; it does.
    key("ctrl+shift+p");
    QTRY_VERIFY(QApplication::activeModalWidget() != nullptr);
    // Without a window manager nobody gives a new window the keys.
    tool({"windowfocus", QString::number(QApplication::activeModalWidget()->winId())});
    tool({"type", "copy export"});
    key("Return");
    QTRY_VERIFY(!QApplication::activeModalWidget());
    QTRY_VERIFY(QApplication::clipboard()->text().startsWith("stormcell-studio --export compare"));
    QProcess shell;
    shell.setWorkingDirectory(folder_.path());
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.remove("QT_QPA_PLATFORM");  // it chooses by itself
    environment.insert("PATH", QString::fromStdString(checkout_build_folder()) + "/bin:" + environment.value("PATH"));
    shell.setProcessEnvironment(environment);
    shell.start("sh", {"-c", QApplication::clipboard()->text()});
    QTRY_VERIFY_WITH_TIMEOUT(shell.state() == QProcess::NotRunning, 20000);
    QVERIFY2(shell.exitCode() == 0, shell.readAllStandardError().constData());
    QVERIFY(!QImage(folder_.filePath("compare.png")).isNull());

    // 7. Close in the middle of a run: what was finished is in the session.
    request.optimize.measure_seconds = 30;
    window->runs().start(request);
    QTRY_VERIFY(window->runs().running());
    QTest::qWait(700);
    QElapsedTimer closing;
    closing.start();
    window->close();
    window.reset();
    qInfo("closing in the middle of a run took %lld ms", static_cast<long long>(closing.elapsed()));
    const AllowBlocking now;
    QVERIFY(open_session(session.toStdString()).runs.size() >= 4);
  }
};
STORMCELL_TEST(EndToEndTest)

}  // namespace stormcell::studio
#include "end_to_end_test.moc"
