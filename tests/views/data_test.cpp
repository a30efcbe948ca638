// The view of a session's contents.
#include <QTemporaryDir>
#include <QTextBrowser>

#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "views/data/data_view.h"
#include "views/drawing/theme.h"

namespace stormcell::views {
using namespace stormcell::testing;

class DataTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_;
  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void initTestCase() {
    session_ = make_cells_session(at("main.storm"));
    CellsFixture without;
    without.inputs = false, without.margins = true;
    make_cells_session(session_, without);  // a second run
    without.decisions = false;
    make_cells_session(session_, without);
  }

  void what_is_recorded_is_seen_and_what_is_not_is_said() {
    const auto data = read_session_data(session_, 1);
    QCOMPARE(data->runs.size(), size_t{3});
    for (const Kept k :
         {Kept::sums, Kept::decisions, Kept::weights, Kept::tokens, Kept::texts, Kept::pieces, Kept::labels})
      QVERIFY2(data->runs[0].has(k), qPrintable(text_of(k).name));
    for (const Kept k : {Kept::margins, Kept::scores, Kept::events, Kept::guards})
      QVERIFY2(!data->runs[0].has(k), qPrintable(text_of(k).name));
    QVERIFY(data->runs[1].has(Kept::margins) && !data->runs[1].has(Kept::tokens) && !data->runs[1].has(Kept::texts) &&
            !data->runs[1].has(Kept::pieces));
    QVERIFY(!data->runs[2].has(Kept::decisions) && data->runs[2].has(Kept::sums));
    QCOMPARE(data->runs[0].sequences, int64_t{30});
    QCOMPARE(data->runs[0].routers.size(), size_t{3});
    QVERIFY(data->runs[1].routers.empty());
    QCOMPARE(data->runs[0].labels, (std::vector<std::string>{"long", "short"}));
    const Table table = make_table(*data);
    QCOMPARE(table.rows.size(), 3 * kKeptKinds);
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    for (size_t k = 0; k < kKeptKinds; ++k) {
      const KeptText text = text_of(static_cast<Kept>(k));
      QVERIFY(!text.name.isEmpty() && !text.use.isEmpty() && !text.how.isEmpty());
    }
  }

  void the_page_names_the_run_on_show_and_says_what_is_missing() {
    DataView view;
    run_load(view, {});
    QVERIFY(!view.has_content() && view.message().contains("No session"));
    run_load(view, context_of("/nowhere/a.storm"));
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/a.storm"));
    run_load(view, context_of(session_, 2));
    QVERIFY(view.has_content());
    const QString text = view.findChild<QTextBrowser*>()->toPlainText();
    QVERIFY(text.contains("Run on show: #2") && text.contains("--record-inputs") && text.contains("switch-tiny"));
    QCOMPARE(view.table().rows.size(), 3 * kKeptKinds);
  }

  void a_run_under_a_budget_and_one_that_failed_say_so() {
    SessionData data = *read_session_data(session_, 2);
    const auto page_of = [&] {
      QTextBrowser page;
      page.setHtml(make_page(data, 2, Theme::light()));
      return page.toPlainText();
    };
    const auto budgets = [&] {
      const Table table = make_table(data);
      const auto column =
          std::find_if(table.columns.begin(), table.columns.end(), [](const auto& c) { return c.name == "budget"; });
      QStringList values;
      for (const auto& row : table.rows) values << to_text(row.at(static_cast<size_t>(column - table.columns.begin())));
      values.removeDuplicates();
      return values;
    };
    QVERIFY(!page_of().contains("budget") && budgets() == QStringList{""});
    data.runs[1].line.weight_budget = 1 << 20, data.runs[1].line.status = RunStatus::failed;
    QVERIFY(page_of().contains("1.0 MiB for weights of branches") && page_of().contains("failed; begun"));
    QCOMPARE(budgets(), (QStringList{"", "1,048,576"}));
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::newRow("data-light") << false;
    QTest::newRow("data-dark") << true;
  }
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    // Paths and times are another in each run: figures that are fixed.
    SessionData data = *read_session_data(session_, 1);
    data.file = "main.storm", data.created = "2024-01-01T00:00:00.000Z", data.program = "0", data.bytes = 123456;
    for (RunContents& r : data.runs)
      r.line.started = "2024-01-01T00:00:00.000Z", r.line.finished = "2024-01-01T00:00:01.000Z";
    QTextBrowser page;
    page.setFrameShape(QFrame::NoFrame);
    page.setWordWrapMode(QTextOption::WordWrap);
    page.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    page.setHtml(make_page(data, 1, dark ? Theme::dim() : Theme::light()));
    const QString trouble = compare_with_golden(draw(page, {720, 480}), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(DataTest)

}  // namespace stormcell::views
#include "data_test.moc"
