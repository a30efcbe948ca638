// The view of exits: figures of a run and of its curve, items by exit, choosing a threshold, and the view on fixture
// sessions.
#include <QComboBox>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/configuration/plan_config.h"
#include "core/summary/exits_text.h"
#include "core/summary/summary_json.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/exits_fixture.h"
#include "views/drawing/theme.h"
#include "views/exits/exits_view.h"

namespace stormcell::views::exits_test {
namespace {

using namespace stormcell::testing;

}  // namespace

class ExitsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_;

 private slots:
  void initTestCase() { session_ = make_exits_session(folder_.filePath("exits.storm").toStdString()); }

  void items_left_where_the_decisions_say() {
    const auto run = read_exits_of_run(session_, 1, 1000);
    QCOMPARE(run->routers, (std::vector<std::string>{"exits.0.router", "exits.1.router"}));
    QCOMPARE(run->cells_by_exit, (std::vector<int64_t>{72, 24, 24}));
    QCOMPARE(run->gallery.size(), size_t{120});
    for (const ExitItem& item : run->gallery) {
      QCOMPARE(item.exit, exit_of(item.sequence));
      QCOMPARE(item.label, std::to_string(item.sequence % 10));
      QVERIFY(item.margin && *item.margin == 0.125);
    }
    QCOMPARE(run->headline, std::string("some-digits answers 60.0 % of the pictures at the first exit, and needs 61.6 "
                                        "% of the operations of the whole network"));
    const auto few = read_exits_of_run(session_, 1, 2);
    QCOMPARE(few->gallery.size(), size_t{6});
  }

  /// A router that stands alone says nothing of it by who is nested in it.
  void the_branch_by_which_items_leave_is_the_router_s_own() {
    for (const int32_t leave : {0, 1}) {
      RunLayout layout;
      layout.spaces = {"picture"};
      layout.routers = {{"exit", 2, 1, "exit-threshold", 0, "picture"}};
      layout.routers[0].residual = leave;
      const std::string path = folder_.filePath(QString("alone%1.storm").arg(leave)).toStdString();
      SessionWriter writer(path, some_model());
      auto run = writer.begin_run(some_run("exits", layout));
      Recorder recorder({run.get()});
      BatchRecord& batch = recorder.begin_batch();
      batch.number = 0;
      batch.add_space(0, {0, 4, 1, 0, Phase::forward, 0});
      const std::vector<int32_t> choice = {1, 1, 0, 1};
      const std::vector<float> ones(4, 1);
      batch.add_decision({.router = 0, .choice = choice, .weight = ones});
      for (int i = 0; i < 4; ++i) batch.add_sequence("");
      recorder.submit();
      recorder.finish();
      run->finish(RunStatus::finished, "");
      run.reset();
      writer.close();
      const auto exits = read_exits_of_run(path, 1, 10);
      QCOMPARE(exits->cells_by_exit, leave == 1 ? (std::vector<int64_t>{3, 1}) : (std::vector<int64_t>{1, 3}));
      for (const ExitItem& item : exits->gallery) QCOMPARE(item.exit, (item.sequence == 2) == (leave == 0) ? 0 : 1);
    }
  }

  void the_page_has_all_points_and_the_table_too() {
    const ExitsPage page = make_exits_page(*read_exits_of_run(session_, 1, 5));
    QVERIFY(page.has_curve() && page.no_curve.isEmpty());
    QCOMPARE(page.points.size(), size_t{6});
    QCOMPARE(page.target, QString("target met: accuracy of at least 96.0 %"));
    QVERIFY(page.target_value == 0.96 && !page.target_cost);
    ExitsOfRun gained = *read_exits_of_run(session_, 1, 5);
    gained.target->speedup_over_model = 2.5, gained.target->item = "picture",
    gained.target->held_out.items = {40, 0, 0};
    QCOMPARE(make_exits_page(gained).target,
             QString("target met: accuracy of at least 96.0 %; 2.5 times as fast as "
                     "the model as it came, with its own thresholds; exit 1 takes all 40 pictures"));
    QCOMPARE(page.points.back().name, QString("none leaves"));
    QCOMPARE(share_at(page.points.front().items, 0), 0.6);
    QCOMPARE(page.classes.size(), size_t{10});
    QVERIFY(describe(page, 2).contains("50.0 % of the operations, accuracy 94.0 % [91.0, 96.0]"));
    const Table table = make_exits_table(page);
    QCOMPARE(table.rows.size(), size_t{16});
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    QVERIFY(describe(page, page.gallery.front()).contains("#0, label 0: answered at exit 1"));
  }

  void what_is_drawn_at_a_place_is_found_there() {
    const ExitsPage page = make_exits_page(*read_exits_of_run(session_, 1, 40));
    for (const QSizeF size :
         {QSizeF(900, 560), QSizeF(500, 300), QSizeF(320, 200), QSizeF(240, 150), QSizeF(2000, 1400)}) {
      const ExitsLayout layout(page, size, 16, 8);
      for (size_t p = 1; p < page.points.size(); ++p) QCOMPARE(layout.point_near(layout.point(p)), std::optional(p));
      QVERIFY(layout.point(1).x() < layout.point(5).x() && layout.point(1).y() > layout.point(5).y());
      QVERIFY(!layout.point_near({1, 1}));
      for (size_t i = 0; i < page.gallery.size(); ++i) {
        const QRectF tile = layout.tile(i);
        if (tile.isEmpty()) continue;
        QCOMPARE(layout.item_at(tile.center()), std::optional(i));
        QVERIFY(layout.gallery_row(static_cast<size_t>(page.gallery[i].exit)).contains(tile));
      }
      for (size_t c = 0; c < layout.shown_classes(); ++c) {
        double width = 0;
        for (size_t e = 0; e < 3; ++e) width += layout.class_part(c, e).width();
        QVERIFY(std::fabs(width - (layout.class_row(c).right() - layout.class_part(c, 0).left())) < 1e-6);
      }
      for (const QRectF& part : {layout.bars, layout.plot, layout.classes, layout.gallery})
        QVERIFY(QRectF(QPointF(), size).contains(part));
    }
  }

  void without_a_curve_the_others_have_its_room() {
    ExitsPage page = make_exits_page(*read_exits_of_run(
        make_exits_session(folder_.filePath("unlabelled.storm").toStdString(), {.figures = false}), 1, 40));
    QVERIFY(!page.has_curve() && !page.gallery.empty() && page.classes.empty());
    for (const QSizeF size : {QSizeF(900, 560), QSizeF(500, 400), QSizeF(320, 200)}) {
      const ExitsLayout layout(page, size, 16, 8);
      const std::vector<QRectF> parts = {layout.headline, layout.bars, layout.plot, layout.gallery};
      for (size_t a = 0; a < parts.size(); ++a) {
        QVERIFY(QRectF(QPointF(), size).contains(parts[a]) && parts[a].width() > 0.9 * size.width());
        for (size_t b = a + 1; b < parts.size(); ++b) QVERIFY(!parts[a].intersects(parts[b]));
      }
    }
    const ExitsLayout large(page, {900, 560}, 16, 8);
    QVERIFY(large.gallery.height() > 250);
    int shown = 0;
    for (size_t i = 0; i < page.gallery.size(); ++i) shown += !large.tile(i).isEmpty();
    QVERIFY2(shown >= 80, qPrintable(QString::number(shown)));
    page.gallery.clear();
    QVERIFY(ExitsLayout(page, {900, 560}, 16, 8).bars.height() > 350);
  }

  void a_threshold_is_chosen_by_keys_by_dragging_and_by_its_control() {
    ExitsView view;
    view.resize(900, 560);
    run_load(view, context_of(session_));
    QVERIFY(view.has_content());
    auto* picture = dynamic_cast<ExitsPicture*>(view.picture());
    auto* threshold = view.findChild<QComboBox*>();
    QVERIFY(picture && threshold && !picture->accessibleName().isEmpty());
    QCOMPARE(threshold->property(kNumbersAlone).toPointF(), QPointF(kLeastExitThreshold, kMostExitThreshold));
    QTest::keyClick(picture, Qt::Key_Right);
    QVERIFY(picture->point() == 1 && threshold->currentIndex() == 1);
    QTest::keyClick(picture, Qt::Key_Home);
    QTest::keyClick(picture, Qt::Key_Left);
    QCOMPARE(picture->point(), size_t{5});
    QVERIFY(picture->accessibleDescription().contains("none leaves"));
    threshold->setCurrentIndex(2);
    QCOMPARE(picture->point(), size_t{2});
    picture->resize(900, 520);
    QTest::mousePress(picture, Qt::LeftButton, {}, picture->layout_of_page().point(4).toPoint());
    QCOMPARE(picture->point(), size_t{4});
    QMouseEvent drag(QEvent::MouseMove, picture->layout_of_page().point(3), picture->mapToGlobal(QPointF()),
                     Qt::NoButton, Qt::LeftButton, {});
    QCoreApplication::sendEvent(picture, &drag);
    QCOMPARE(picture->point(), size_t{3});
    QTest::mouseRelease(picture, Qt::LeftButton);
    run_load(view, context_of(session_, 0));  // read again: what was chosen stays
    QVERIFY(picture->point() == 3 && threshold->currentIndex() == 3);
    QSignalSpy said(&view, &View::said);
    const auto type = [&](const QString& text) {
      threshold->setEditText(text);
      emit threshold->lineEdit()->editingFinished();
    };
    type("0.93");  // no point of the curve
    QVERIFY(picture->point() == 4 && threshold->currentText() == "0.95");
    QVERIFY2(said.size() == 1 && said[0][0].toString().endsWith("0.95."), qPrintable(threshold->currentText()));
    type("nonsense");
    QVERIFY(picture->point() == 4 && threshold->currentText() == "0.95" && said.size() == 2);
    ExitsView typed_before;
    auto* early = typed_before.findChild<QComboBox*>();
    early->setEditText("0.83");
    emit early->lineEdit()->editingFinished();
    run_load(typed_before, context_of(session_));
    QVERIFY(early->currentIndex() == 3 && dynamic_cast<ExitsPicture*>(typed_before.picture())->point() == 3);
    QSignalSpy wanted(&view, &View::selection_wanted);
    QTest::mouseClick(picture, Qt::LeftButton, {}, picture->layout_of_page().tile(0).center().toPoint());
    QCOMPARE(wanted.size(), 1);
    QVERIFY(wanted.front().front().value<Selection>().cell == (CellPlace{0, 0}));
    QCOMPARE(view.table().rows.size(), size_t{16});
  }

  void thresholds_that_ran_are_told_as_numbers() {
    ExitsOfRun run = *read_exits_of_run(session_, 1, 5);
    const QString gain = gain_text(make_exits_page(run), 0);
    QVERIFY2(gain.startsWith("Thresholds, those that ran (0.9): "), qPrintable(gain));
    run.curve->thresholds = {0.625, 0};
    QCOMPARE(make_exits_page(run).points[0].title(), QString("those that ran (0.625, all leave)"));
    QCOMPARE(make_exits_page(run).points[1].title(), QString("all leave"));
  }

  void answered_wrong_come_first_and_lines_fill_the_room() {
    ExitsOfRun run = *read_exits_of_run(session_, 1, 100);
    for (ExitItem& item : run.gallery)
      if (item.sequence == 119) item.answer = "3", item.wrong = true;
    std::erase_if(run.gallery, [](const ExitItem& item) { return item.exit != 0 && !item.wrong; });
    const ExitsPage page = make_exits_page(run);
    QVERIFY(page.gallery[0].sequence == 119 && page.gallery[0].wrong && !page.gallery[1].wrong);
    const ExitsLayout layout(page, {900, 560}, 16, 8);
    QVERIFY(!layout.tile(0).isEmpty());
    // Exits without items leave their room to the others.
    int shown = 0;
    for (size_t i = 0; i < page.gallery.size(); ++i) shown += !layout.tile(i).isEmpty();
    QVERIFY2(shown >= 40, qPrintable(QString::number(shown)));
  }

  void a_class_that_names_fewer_exits_has_none_at_the_others() {
    ExitsOfRun run = *read_exits_of_run(session_, 1, 5);
    run.curve->classes[0].items = {7};
    run.curve->classes[1].items.clear();
    const ExitsPage page = make_exits_page(run);
    QCOMPARE(page.classes[0].items, (std::vector<int64_t>{7, 0, 0}));
    QCOMPARE(page.classes[1].items, (std::vector<int64_t>{0, 0, 0}));
  }

  void a_point_without_a_value_is_none_of_the_curve() {
    ExitsOfRun run = *read_exits_of_run(session_, 1, 5);
    run.curve->curve[1].value.reset();
    const ExitsPage page = make_exits_page(run);
    QCOMPARE(page.points.size(), size_t{5});
    for (const ShownPoint& p : page.points) QVERIFY2(p.name != "0.5" && p.value > 0, qPrintable(p.name));
  }

  void costs_say_of_which_plan_they_are() {
    ExitsOfRun run = *read_exits_of_run(session_, 1, 5);
    run.curve->plan = CurvePlan::optimized;
    const ExitsPage page = make_exits_page(run);
    QVERIFY2(describe(page, 2).contains("50.0 % of the operations as the optimised plan runs, accuracy 94.0 %"),
             qPrintable(describe(page, 2)));
    QCOMPARE(with_plan(page, "of all"), QString("of all as the optimised plan runs"));
    run.curve->plan = CurvePlan::baseline;
    QVERIFY(describe(make_exits_page(run), 2).contains("50.0 % of the operations in the model's own order, accuracy"));
  }

  void without_labels_decisions_or_exits_it_says_what_is_lacking() {
    ExitsView bare;
    run_load(bare, context_of(make_exits_session(folder_.filePath("bare.storm").toStdString(),
                                                 {.decisions = false, .figures = false})));
    QVERIFY(bare.has_content());
    const ExitsPage& page = dynamic_cast<ExitsPicture*>(bare.picture())->page();
    QVERIFY(!page.has_curve() && page.no_curve.contains("Labels") && page.gallery_note.contains("stormcell profile") &&
            page.gallery.empty());
    QCOMPARE(page.points.front().items, (std::vector<int64_t>{72, 24, 24}));
    QCOMPARE(bare.table().rows.size(), size_t{1});
    draw(*bare.picture(), {900, 560});
    ExitsView none;
    run_load(none, context_of(make_cells_session(folder_.filePath("none.storm").toStdString())));
    QVERIFY(!none.has_content() && none.message().contains("No router of this run is an exit"));
    ExitsView empty;
    run_load(empty, {});
    QVERIFY(!empty.has_content() && !empty.message().isEmpty());
  }

  void items_whose_pictures_are_kept_come_first_and_are_drawn() {
    ExitsFixture fixture;
    fixture.pictures = true;
    const std::string session = make_exits_session(folder_.filePath("pictures.storm").toStdString(), fixture);
    const auto run = read_exits_of_run(session, 1, 20);
    QCOMPARE(run->thumbnails, int64_t{60});
    std::array<int, 3> pictures{}, all{};
    bool ended = false;
    for (const ExitItem& item : run->gallery) {
      QVERIFY(item.picture.empty() || (item.sequence % 2 == 0 && !ended));
      ended = ended || item.picture.empty();
      pictures[static_cast<size_t>(item.exit)] += !item.picture.empty(), ++all[static_cast<size_t>(item.exit)];
    }
    QVERIFY(all == (std::array<int, 3>{20, 20, 20}) && pictures[0] == 20 && pictures[1] > 0);
    const ExitsPage page = make_exits_page(*run);
    QVERIFY(page.pictures.size() == page.gallery.size() && page.pictures[0].size() == QSize(32, 24));
    QCOMPARE(page.gallery_note, QString("60 of 120 pictures are kept: some of every label and way through the routers "
                                        "(--record-inputs keeps more)."));
    const ExitsLayout layout(page, {900, 560}, 16, 8);
    QVERIFY(layout.tile(0).width() == layout.tile(0).height() && layout.tile(0).height() >= 40);
    const Table items = make_items_table(page);
    QCOMPARE(items.rows.size(), page.gallery.size());
    for (const auto& row : items.rows) QCOMPARE(row.size(), items.columns.size());
    QCOMPARE(std::get<QString>(items.rows[0][4]), QString("32 x 24"));
    ExitsView view;
    run_load(view, context_of(session));
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Table") box->setCurrentIndex(1);
    QCOMPARE(view.table().columns.size(), items.columns.size());
    const QString difference = compare_with_golden(draw(*view.picture(), {900, 560}), "exits-pictures");
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  void many_items_are_looked_at_up_to_a_bound() {
    const std::string large = make_exits_session(folder_.filePath("large.storm").toStdString(),
                                                 {.batches = 100, .per_batch = 1000, .margins = false});
    const auto run = read_exits_of_run(large, 1, 400);
    QCOMPARE(run->gallery.size(), size_t{1200});
    QVERIFY(run->items == 100'000 && run->cells_by_exit[0] == 60'000);
    // Those of which the fewest leave decide: a fifth at the second exit, of which 1,600 are looked at, and a page
    // more.
    QVERIFY2(run->looked_at >= 8000 - 10 && run->looked_at <= 8000 + 512, qPrintable(QString::number(run->looked_at)));
    const auto by_place = [](const ExitItem& a, const ExitItem& b) { return a.sequence < b.sequence; };
    const auto [first, last] = std::minmax_element(run->gallery.begin(), run->gallery.end(), by_place);
    QVERIFY2(first->sequence < 10'000 && last->sequence > 90'000, qPrintable(QString::number(last->sequence)));
    const auto few = read_exits_of_run(large, 1, 15);
    QVERIFY(few->looked_at == 512 && few->gallery.size() == 45);
    const auto bounded = read_exits_of_run(large, 1, 400, 1000);
    QVERIFY(bounded->looked_at == 1024 && bounded->gallery.size() < 1200 && bounded->gallery.size() > 600);
  }

  /// One page of 10,000 items is read, and the four that are wrong, wherever they are.
  void those_answered_wrong_are_found_among_many_items() {
    ExitsFixture fixture{.batches = 20, .per_batch = 500, .margins = false};
    fixture.wrong = {7, 4321, 4325, 9999};
    const std::string session = make_exits_session(folder_.filePath("wrong.storm").toStdString(), fixture);
    const auto run = read_exits_of_run(session, 1, 10);
    QCOMPARE(run->gallery.size(), size_t{30});
    QCOMPARE(run->looked_at, int64_t{512});
    std::vector<int64_t> wrong;
    for (const ExitItem& item : run->gallery) {
      QCOMPARE(item.answer, item.wrong ? std::string("none") : item.label);
      if (item.wrong) wrong.push_back(item.sequence);
    }
    std::sort(wrong.begin(), wrong.end());
    QCOMPARE(wrong, fixture.wrong);
    for (size_t i = 0; i < run->gallery.size(); ++i) QCOMPARE(run->gallery[i].wrong, i < wrong.size());
  }

  /// 500 of 50,000 items have pictures: those are read one by one, as many as it takes.
  void pictures_among_many_items_are_found() {
    const std::string sparse = make_exits_session(
        folder_.filePath("sparse.storm").toStdString(),
        {.batches = 100, .per_batch = 500, .margins = false, .pictures = true, .picture_every = 101});
    const auto run = read_exits_of_run(sparse, 1, 15);
    QVERIFY(run->thumbnails == 500 && run->gallery.size() == 45);
    QVERIFY(std::all_of(run->gallery.begin(), run->gallery.end(),
                        [](const ExitItem& item) { return !item.picture.empty(); }));
    QVERIFY2(run->looked_at >= 180 && run->looked_at < 500, qPrintable(QString::number(run->looked_at)));
  }

  void pictures_look_as_they_did() {
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      ExitsView view;
      view.setPalette(theme->palette());
      run_load(view, context_of(session_));
      dynamic_cast<ExitsPicture*>(view.picture())->set_point(theme->dark ? 4 : 0);
      const QString difference =
          compare_with_golden(draw(*view.picture(), {900, 560}), theme->dark ? "exits-dark" : "exits-light");
      QVERIFY2(difference.isEmpty(), qPrintable(difference));
    }
  }
};
STORMCELL_TEST(ExitsTest)

}  // namespace stormcell::views::exits_test
#include "exits_test.moc"
