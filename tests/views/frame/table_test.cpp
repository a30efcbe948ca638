// Tables of a view, as a model and as CSV.
#include "views/frame/table.h"

#include <QAbstractItemModelTester>

#include "tests/testing/testing.h"

namespace stormcell::views {

class TableTest : public QObject {
  Q_OBJECT
 private slots:
  void tables_keep_the_rules_of_models() {
    TableModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.set({{{"name", "who"}, {"count", "how many"}, {"share", "of all"}},
               {{QString("a,b"), 12345LL, 0.5}, {QString("say \"x\""), Value(), 1e-9}}});
    QCOMPARE(model.rowCount(), 2);
    QCOMPARE(model.data(model.index(0, 1), Qt::DisplayRole).toString(), QString("12,345"));
    QCOMPARE(model.data(model.index(0, 1), Qt::AccessibleTextRole).toString(), QString("count: 12,345"));
    QCOMPARE(model.data(model.index(0, 1), TableModel::kSortRole).toLongLong(), 12345LL);
    QVERIFY(model.headerData(2, Qt::Horizontal, Qt::ToolTipRole).toString().contains("of all"));
    QCOMPARE(to_csv(model.table()),
             QString("name,count,share\r\n\"a,b\",12345,0.5\r\n\"say \"\"x\"\"\",,1.0000000000000001e-09\r\n"));
    // Lines above that say where a table comes from; a text that looks like one is quoted.
    QCOMPARE(to_csv({{{"name", ""}}, {{QString("#1")}}}, {"of a\nrun", "two"}),
             QString("# of a run\r\n# two\r\nname\r\n\"#1\"\r\n"));
    model.set({});
    QCOMPARE(model.rowCount(), 0);
  }
};
STORMCELL_TEST(TableTest)

}  // namespace stormcell::views
#include "table_test.moc"
