// The words of all views: whatever has a name says on hover what it means.
#include <QComboBox>
#include <QHeaderView>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <set>

#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "tests/views/mixture_fixture.h"
#include "views/registry.h"
#include "views/words/glossary.h"

namespace stormcell::views {
using namespace stormcell::testing;

class GlossaryTest : public QObject {
  Q_OBJECT

 private slots:
  void terms_are_whole_and_found_in_any_form() {
    std::set<QString> names;
    for (const Term& t : glossary()) {
      QVERIFY2(!t.definition.isEmpty() && !t.definition.endsWith('.') && names.insert(t.name).second,
               qPrintable(t.name));
      QVERIFY2(t.formula.isEmpty() || !t.origin.isEmpty(), qPrintable(t.name));  // a figure says where it comes from
      QVERIFY(glossary_page().contains(t.definition.toHtmlEscaped()));
    }
    QVERIFY(glossary_tip("Branches").contains(term("branch").definition.toHtmlEscaped()));
    QVERIFY(glossary_tip("share of branch").contains(term("share").definition.toHtmlEscaped()));
    QVERIFY(!glossary_tip("weight mass").contains(term("weight").definition.toHtmlEscaped()));
    QVERIFY(glossary_tip("nothing of the kind").isEmpty());
    QVERIFY_THROWS_EXCEPTION(std::logic_error, term("nothing"));
  }

  void every_column_and_every_choice_has_a_tip_data() {
    QTest::addColumn<int>("view");
    for (int i = 0; i < static_cast<int>(all_views().size()); ++i)
      QTest::newRow(all_views()[static_cast<size_t>(i)].id) << i;
  }
  void every_column_and_every_choice_has_a_tip() {
    QFETCH(int, view);
    QTemporaryDir folder;
    const std::string session = make_cells_session(folder.filePath("a.storm").toStdString(), {.margins = true});
    const std::string placed = make_mixture_session(folder.filePath("b.storm").toStdString());
    const std::unique_ptr<View> shown(all_views()[static_cast<size_t>(view)].make(nullptr));
    run_load(*shown, context_of(session));
    if (shown->table().columns.empty())
      run_load(*shown, context_of(placed));  // it is about mixtures whose sizes are told
    shown->show_table(true);
    TableModel model;
    model.set(shown->table());
    for (int c = 0; c < model.columnCount(); ++c) {
      const QString tip = model.headerData(c, Qt::Horizontal, Qt::ToolTipRole).toString();
      QVERIFY2(!tip.isEmpty(), qPrintable(model.headerData(c, Qt::Horizontal, Qt::DisplayRole).toString()));
    }
    QVERIFY(model.columnCount() > 0);
    for (const QComboBox* box : shown->findChildren<QComboBox*>()) {
      QVERIFY2(!box->toolTip().isEmpty(), qPrintable(box->accessibleName()));
      for (int i = 0; i < box->count(); ++i) {
        const bool named_by_the_model = box->itemData(i).isValid();  // routers
        QVERIFY2(named_by_the_model || !box->itemData(i, Qt::ToolTipRole).toString().isEmpty(),
                 qPrintable(box->itemText(i)));
      }
    }
  }
};
STORMCELL_TEST(GlossaryTest)

}  // namespace stormcell::views
#include "glossary_test.moc"
