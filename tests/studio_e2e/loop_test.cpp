// The loop with real mouse and keys: a model is dropped, data are typed or dropped, it runs, one thing after another is
// changed, two tries are compared, the first one comes back, a row is exported. Nothing is typed but the data. The times
// are printed; whether they are good is for whoever reads them.
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QDir>
#include <QDrag>
#include <QListWidget>
#include <QMimeData>
#include <QMouseEvent>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QTemporaryDir>
#include <QTimer>
#include <QToolButton>
#include <QUrl>

#include "app/studio/data_box.h"
#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "app/studio/notice_bar.h"
#include "app/studio/open_list.h"
#include "app/studio/opened_model.h"
#include "app/studio/pass_switches.h"
#include "app/studio/what_if_panel.h"
#include "core/base/blocking.h"
#include "core/base/checkout.h"
#include "tests/studio_e2e/real_input.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

namespace {

/// A file manager's icon: dragged away, it brings a file or folder.
class DraggedFile : public QWidget {
 public:
  explicit DraggedFile(const QString& path) : path_(path) {
    setWindowFlag(Qt::FramelessWindowHint);
    setGeometry(1310, 40, 70, 70);
    show();
  }
  QPoint middle() const { return mapToGlobal(rect().center()); }

 protected:
  void mousePressEvent(QMouseEvent*) override {}
  void mouseMoveEvent(QMouseEvent* event) override {
    if (!(event->buttons() & Qt::LeftButton)) return;
    auto* drag = new QDrag(this);
    auto* data = new QMimeData;
    data->setUrls({QUrl::fromLocalFile(path_)});
    drag->setMimeData(data);
    drag->exec(Qt::CopyAction);
  }

 private:
  const QString path_;
};

/// How long the window's thread did not come back to its loop, at most.
class Heartbeat {
 public:
  Heartbeat() {
    QObject::connect(&timer_, &QTimer::timeout, [this] { most_ = std::max(most_, since_.restart()); });
    since_.start();
    timer_.start(5);
  }
  qint64 most() const { return most_; }

 private:
  QTimer timer_;
  QElapsedTimer since_;
  qint64 most_ = 0;
};

}  // namespace

class LoopTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::unique_ptr<MainWindow> window_;
  QElapsedTimer clock_;
  QStringList times_;

  void note(const QString& what) { times_ << QString("%1 %2 s").arg(what).arg(clock_.restart() / 1000.0, 0, 'f', 1); }
  WhatIfPanel* panel() const { return window_->findChild<WhatIfPanel*>(); }
  QListWidget* tries() const { return panel()->findChild<QListWidget*>("tries"); }
  QString shown_try() const {
    const QList<QListWidgetItem*> chosen = tries()->selectedItems();
    return chosen.size() == 1 ? chosen[0]->text() : QString("%1 chosen").arg(chosen.size());
  }
  ModelPage* page() const { return window_->findChild<OpenList*>()->page(); }
  QString notice() const { return window_->findChild<NoticeBar*>()->message(); }

  /// A folder of the demo's model, as a user has one.
  QString model_of(const QString& demo) {
    const QDir from(QString::fromStdString(checkout_source_folder()) + "/resources/demos/" + demo);
    const QString to = folder_.filePath(demo);
    QDir().mkpath(to);
    for (const QString& file : from.entryList(QDir::Files)) QFile::copy(from.filePath(file), to + "/" + file);
    return to;
  }

  /// The wheel brings it into the panel.
  void scroll_to(QWidget* control) {
    auto* area = panel()->findChild<QScrollArea*>();
    const QWidget* view = area->viewport();
    const auto seen = [&] { return view->rect().contains(control->mapTo(view, control->rect().center())); };
    for (int i = 0; i < 60 && !seen(); ++i) {
      const bool down = control->mapTo(view, QPoint()).y() > 0;
      tool(moved_to(view->mapToGlobal(QPoint(3, view->height() / 2))) + QStringList{"click", down ? "5" : "4"});
    }
    QVERIFY2(seen(), qPrintable(control->accessibleName()));
  }
  void click_in_panel(QWidget* control) {
    // Rows come and go with the run on show, and are laid out a turn of the event loop later.
    QTest::qWait(200);
    scroll_to(control);
    click(control);
  }

  /// One change by `act` is run, and its row is on show.
  template <class Act>
  void try_out(const QString& what, const char* row, Act act) {
    const int before = tries()->count();
    act();
    QTRY_VERIFY2_WITH_TIMEOUT(!window_->runs().running() && tries()->count() > before && shown_try().contains(row),
                              qPrintable(what + ": " + shown_try() + " / " + notice()), 120000);
    note(what);
  }

  void open_and_run(const QString& model, const std::function<void()>& give_data) {
    QDir(sessions_folder()).removeRecursively();
    window_ = std::make_unique<MainWindow>();
    window_->setGeometry(0, 0, 1290, 890);
    window_->show();
    QVERIFY(QTest::qWaitForWindowExposed(window_.get()));
    times_.clear();
    clock_.start();
    {
      const DraggedFile icon(model);
      QVERIFY(QTest::qWaitForWindowExposed(const_cast<DraggedFile*>(&icon)));
      drag(icon.middle(), window_->mapToGlobal(window_->rect().center()));
      QTRY_VERIFY2_WITH_TIMEOUT(page(), qPrintable(notice()), 20000);
    }
    note("sheet");
    tool({"windowfocus", QString::number(window_->winId())});
    give_data();
    note("data");
    auto* run = page()->findChild<QPushButton*>("run-model");
    QVERIFY(run && run->isEnabled());
    click(run);
    QTRY_VERIFY2_WITH_TIMEOUT(window_->view() && window_->view()->has_content(), qPrintable(notice()), 60000);
    note("first picture");
    QTRY_VERIFY2_WITH_TIMEOUT(!window_->runs().running(), qPrintable(notice()), 180000);
    QTRY_VERIFY_WITH_TIMEOUT(window_->document().run() && window_->document().run()->result, 20000);
    note("run");
    key("ctrl+shift+w");
    QTRY_VERIFY(panel()->isVisible() && tries()->count() > 0);
  }

  void switch_a_pass_off() {
    click_in_panel(panel()->findChild<QToolButton*>("passes"));
    QCheckBox* on = nullptr;
    for (QCheckBox* box : panel()->findChild<PassSwitches*>()->findChildren<QCheckBox*>())
      if (!on && box->isChecked() && box->isEnabled() && box->accessibleName().isEmpty()) on = box;
    QVERIFY2(on, "no pass is in the plan");
    const QByteArray row = (on->text() + " off").toUtf8();
    try_out("a pass off", row, [&] { click_in_panel(on); });
    click_in_panel(panel()->findChild<QToolButton*>("passes"));
  }

  void switch_a_branch_off() {
    QVERIFY(window_->view());
    key("ctrl+2");
    QTRY_VERIFY(window_->view_id() == "heatmap" && window_->view()->has_content());
    QWidget* picture = window_->view()->picture();
    for (int y = 1; y < 8 && window_->document().selection().branch < 0; ++y)
      click_at(picture->mapToGlobal(QPoint(picture->width() / 2, picture->height() * y / 8)));
    QTRY_VERIFY(window_->document().selection().branch >= 0);
    QPushButton* off = nullptr;
    for (QPushButton* button : panel()->findChildren<QPushButton*>())
      if (button->accessibleName() == "Switch the branch off") off = button;
    QVERIFY(off && off->isEnabled());
    const QByteArray row =
        QString("%1 off")
            .arg(window_->document().selection().router + "/" + QString::number(window_->document().selection().branch))
            .toUtf8();
    try_out("a branch off", row, [&] { click_in_panel(off); });
  }

  void compare_go_back_and_export() {
    const auto at = [&](int row) {
      QListWidget* list = tries();
      list->scrollToItem(list->item(row));
      return list->viewport()->mapToGlobal(list->visualItemRect(list->item(row)).center());
    };
    const int last = tries()->count() - 1;
    click_at(at(0));
    const qint64 first = tries()->item(0)->data(Qt::UserRole).toLongLong();
    QTRY_COMPARE(window_->document().context().main.run, first);
    note("back to the first");
    tool(QStringList{"keydown", "ctrl"} + moved_to(at(last)) + QStringList{"click", "1", "keyup", "ctrl"});
    QTRY_COMPARE(tries()->selectedItems().size(), 2);
    auto* compare = named<QPushButton>(panel(), "Compare");
    QVERIFY(compare && compare->isEnabled());
    click(compare);
    QTRY_VERIFY_WITH_TIMEOUT(window_->view_id() == "compare" && window_->view()->has_content(), 20000);
    QVERIFY(window_->view()->table().rows.size() > 5);
    note("compare");
    click_at(at(last));
    QTRY_COMPARE(tries()->selectedItems().size(), 1);
    auto* copy = named<QPushButton>(panel(), "Copy command");
    QVERIFY(copy && copy->isEnabled());
    click(copy);
    QTRY_VERIFY2(QApplication::clipboard()->text().startsWith("stormcell "),
                 qPrintable(QApplication::clipboard()->text()));
    note("export");
  }

  void report(const char* demo, const Heartbeat& beat, const QElapsedTimer& all) {
    qInfo("%s: %s; %.1f s in all, the window's thread waited %lld ms at most", demo, qPrintable(times_.join(", ")),
          all.elapsed() / 1000.0, static_cast<long long>(beat.most()));
  }

 private slots:
  void initTestCase() {
    QStandardPaths::setTestModeEnabled(true);
    if (const char* missing = missing_for_real_input()) QSKIP(missing);
    forbid_blocking_here();
  }
  void cleanup() {
    window_.reset();
    QDir(sessions_folder()).removeRecursively();
  }

  void names_are_typed_and_a_budget_is_halved() {
    const QString model = model_of("switch-names");
    Heartbeat beat;
    QElapsedTimer all;
    all.start();
    open_and_run(model, [&] {
      click(page()->findChild<DataBox*>());
      for (const char* name : {"Anna", "Bjorn", "Chiara", "Dmitri", "Eszter", "Fatima", "Giorgos", "Hiroshi"}) {
        tool({"type", name});
        key("Return");
      }
      QVERIFY2(page()->data().startsWith("Anna\nBjorn\n"), qPrintable(page()->data()));
    });
    switch_a_pass_off();
    switch_a_branch_off();
    try_out("a budget halved", "weight-budget",
            [&] { click_in_panel(panel()->findChild<QToolButton*>("half-budget")); });
    compare_go_back_and_export();
    report("demo:switch-names", beat, all);
  }

  void digits_are_dropped_and_a_threshold_is_moved() {
    const QString model = model_of("msdnet-digits");
    const QString digits = QString::fromStdString(checkout_source_folder()) + "/resources/sample/digits.safetensors";
    Heartbeat beat;
    QElapsedTimer all;
    all.start();
    open_and_run(model, [&] {
      const DraggedFile icon(digits);
      QVERIFY(QTest::qWaitForWindowExposed(const_cast<DraggedFile*>(&icon)));
      const DataBox* box = page()->findChild<DataBox*>();
      drag(icon.middle(), box->mapToGlobal(box->rect().center()));
      QTRY_COMPARE(page()->data(), digits);
    });
    switch_a_pass_off();
    try_out("a threshold moved", "threshold", [&] {
      window_->show_view("exits");
      QTRY_VERIFY_WITH_TIMEOUT(window_->view()->has_content(), 20000);
      auto* run = named<QPushButton>(window_->view(), "Run with these thresholds");
      QComboBox* threshold = nullptr;
      for (QComboBox* box : window_->view()->findChildren<QComboBox*>())
        if (box->accessibleName() == "Threshold") threshold = box;
      QVERIFY(run && threshold && threshold->count() > 1);
      click(threshold);
      key("Down");
      QTRY_VERIFY(run->isEnabled());
      click(run);
    });
    switch_a_branch_off();  // behind the threshold: a run with changed routing has no curve
    compare_go_back_and_export();
    report("demo:msdnet-digits", beat, all);
  }
};
STORMCELL_TEST(LoopTest)

}  // namespace stormcell::studio
#include "loop_test.moc"
