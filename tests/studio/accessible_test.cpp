// The window without eyes and without a mouse: everything that can be reached has a name, every command says what it
// does.
#include <QAccessible>
#include <QComboBox>
#include <QTemporaryDir>

#include "app/studio/main_window.h"
#include "app/studio/model_page.h"
#include "core/base/blocking.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "views/registry.h"

namespace stormcell::studio {
using namespace stormcell::testing;

class AccessibleTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  /// The parts of Qt's own widgets are told by what they are part of.
  static bool of_qt(const QWidget* widget) {
    for (const char* type : {"QComboBoxPrivateContainer", "QScrollBar", "QHeaderView", "QTableCornerButton",
                             "QComboBoxListView", "QDockWidgetTitleButton"})
      if (widget->inherits(type)) return true;
    return widget->objectName().startsWith("qt_");
  }
  static void verify_named(const QWidget& window) {
    for (QWidget* widget : window.findChildren<QWidget*>()) {
      if (widget->focusPolicy() == Qt::NoFocus || of_qt(widget)) continue;
      const QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
      const QString name = face ? face->text(QAccessible::Name) : QString();
      QVERIFY2(!name.isEmpty(),
               qPrintable(QString("%1 '%2' in %3")
                              .arg(widget->metaObject()->className(), widget->objectName(),
                                   widget->parent() ? widget->parent()->metaObject()->className() : "")));
    }
  }

 private slots:
  void initTestCase() { forbid_blocking_here(); }

  void everything_that_takes_the_focus_has_a_name() {
    QString session;
    {
      const AllowBlocking now;
      session = QString::fromStdString(make_cells_session(folder_.filePath("a.storm").toStdString()));
    }
    MainWindow window;
    window.show();
    verify_named(window);
    window.open(session);
    for (const views::ViewEntry& entry : views::all_views()) {
      window.show_view(entry.id);
      QTRY_VERIFY(window.view() && window.background().idle());
      verify_named(window);
      window.view()->show_table(true);
      verify_named(window);
    }
  }

  void the_page_of_a_model_has_names_too() {
    MainWindow window;
    window.show();
    window.open_anything(QString("demo:switch-names"));
    QTRY_VERIFY_WITH_TIMEOUT(window.findChild<ModelPage*>(), 20000);
    verify_named(window);
  }

  void every_command_says_what_it_does_and_why_not() {
    MainWindow window;
    for (const ActionRow& row : window.actions().rows()) {
      QVERIFY2(!row.tip.isEmpty(), qPrintable(row.id));
      const QAction* action = window.actions().action(row.id);
      QVERIFY2(action->toolTip().startsWith(row.tip), qPrintable(row.id));
      QVERIFY2(action->isEnabled() || action->toolTip().contains("Not now"), qPrintable(row.id));
    }
  }
};
STORMCELL_TEST(AccessibleTest)

}  // namespace stormcell::studio
#include "accessible_test.moc"
