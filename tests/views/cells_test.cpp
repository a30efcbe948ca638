// The view of cells on fixture sessions.
#include <QCheckBox>
#include <QComboBox>
#include <QElapsedTimer>
#include <QPushButton>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "views/cells/cells_view.h"
#include "views/drawing/theme.h"
#include "views/words/router_names.h"

namespace stormcell::views::cells_test {
namespace {

using namespace stormcell::testing;

const char* const kFirst = "encoder.block.1.layer.1.mlp";

}  // namespace

class CellsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_, other_, without_, plain_;
  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void initTestCase() {
    session_ = make_cells_session(at("main.storm"));
    other_ = make_cells_session(at("other.storm"), {10, 3, 14, 4});
    CellsFixture f;
    f.inputs = false;
    without_ = make_cells_session(at("without.storm"), f);
  }

  void a_range_of_batches_with_listed_items_shows_what_they_hold() {
    CellsFixture f;
    f.scattered = true;
    const std::string session = make_cells_session(at("scattered.storm"), f);
    // Batches 2 and 3 hold the sequences 2, 12, 22, 3, 13, 23.
    const auto range = read_cells_overview(session, 1, 2, 4);
    QVERIFY(range->scattered && range->first_sequence <= 2 && range->end_sequence > 23);
    QCOMPARE(range->end_sequence, int64_t{30});
    QVERIFY(!read_cells_overview(session, 1)->scattered && !read_cells_overview(session_, 1, 2, 4)->scattered);
    CellsView view;
    view.resize(900, 600);
    Selection selection;
    selection.first_batch = 2, selection.end_batch = 4;
    run_load(view, context_of(session), selection);
    QVERIFY2(view.note().contains("from all over the run"), qPrintable(view.note()));
    run_load(view, context_of(session_), selection);
    QVERIFY(!view.note().contains("from all over the run"));
    // A batch of one sequence is a list of one: its neighbours hold others.
    SessionWriter writer(at("single.storm"), some_model());
    auto run = writer.begin_run(some_run("single", cells_layout()));
    for (int64_t number = 0; number < 4; ++number) {
      BatchRecord batch;
      batch.number = number;
      batch.add_space(0, {std::array<int64_t, 4>{3, 0, 2, 1}[static_cast<size_t>(number)], 1, 4, 0, Phase::forward});
      run->batch(batch);
    }
    run->finish(RunStatus::finished);
    QVERIFY(read_cells_overview(at("single.storm"), 1, 0, 2)->scattered);
    const auto near = read_cells_overview(at("single.storm"), 1, 2, 4);
    QVERIFY(!near->scattered);
    QCOMPARE(near->first_sequence, int64_t{1});
    QCOMPARE(near->end_sequence, int64_t{3});
  }

  void cells_without_tokens_show_where_they_lie() {
    CellsFixture f;
    f.inputs = false, f.columns = 5;
    const std::string session = make_cells_session(at("patches.storm"), f);
    const auto page = read_cell_page(session, 1, {"token", 0, 3});
    CellOptions options;
    options.router = kFirst, options.padding = true;
    const ShownPage shown = show_page(*page, options);
    QVERIFY(!shown.tokens && !shown.numbers);
    QCOMPARE(shown.lines[1].chips[13].text, QString("2,3"));
    QVERIFY(describe(*page, shown, 1, 13).contains("row 2, column 3"));
    const Table table = make_cells_table(*page, options);
    QCOMPARE(table.columns[2].name, QString("row"));
    QCOMPARE(std::get<qlonglong>(table.rows[13][2]), 2);
    QCOMPARE(std::get<qlonglong>(table.rows[13][3]), 3);
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    // In a sequence the place alone; a picture that is one cell by its label, or its number.
    const auto sequence = read_cell_page(session, 1, {"decoder_token", 0, 3});
    QCOMPARE(show_page(*sequence, options).lines[0].chips[13].text, QString("13"));
    CellLine picture;
    picture.sequence = 41, picture.cells = 1, picture.position = {0};
    QCOMPARE(place_text(picture, 0), QString("#41"));
    picture.label = "cat";
    QCOMPARE(place_text(picture, 0), QString("cat"));

    CellsView view;
    view.resize(900, 600);
    run_load(view, context_of(session));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    QVERIFY2(view.note().contains("cells show their places"), qPrintable(view.note()));
    // A branch can be looked at, but has no dictionary; nothing is left to be read.
    Selection selection;
    selection.router = kFirst, selection.branch = 2, selection.cell = CellPlace{1, 2};
    run_load(view, context_of(session), selection);
    QVERIFY(view.has_content() && !view.table().rows.empty());
    run_load(view, context_of(session_));
    QVERIFY(!view.note().contains("cells show their places"));
  }

  void cells_that_no_router_got_are_shown_as_not_computed() {
    CellsFixture f;
    f.computes_padding = false;
    const std::string session = make_cells_session(at("unpadded.storm"), f);
    const auto page = read_cell_page(session, 1, {"token", 0, 3}),
               padded = read_cell_page(session_, 1, {"token", 0, 3});
    CellOptions options;
    options.router = kFirst;
    options.padding = true;
    const Table table = make_cells_table(*page, options), table_padded = make_cells_table(*padded, options);
    const size_t branches = table.columns.size() - 2, weight = 5;
    int left_out = 0;
    size_t row = 0;
    for (size_t l = 0; l < 3; ++l)
      for (size_t c = 0; c < 14; ++c, ++row) {
        const bool real = page->lines[l].real[c];
        QCOMPARE(page->lines[l].seen[c] != 0, real);
        QVERIFY(padded->lines[l].seen[c]);
        const bool said = std::get<QString>(table.rows[row][branches]) == "not computed";
        QCOMPARE(said, !real);
        QCOMPARE(std::holds_alternative<double>(table.rows[row][weight]), real);
        QVERIFY(std::get<QString>(table_padded.rows[row][branches]) != "not computed");
        left_out += !real;
      }
    QVERIFY(left_out > 0);
    const ShownPage shown = show_page(*page, options);
    const auto& chips = shown.lines[0].chips;
    for (size_t c = 0; c < chips.size(); ++c)
      QCOMPARE(describe(*page, shown, 0, c).contains("padding: not computed"), !chips[c].real);
    const ShownPage both = show_page(*padded, options);
    for (size_t c = 0; c < both.lines[0].chips.size(); ++c)
      QCOMPARE(describe(*padded, both, 0, c).contains("but computed"), !both.lines[0].chips[c].real);

    CellsView view;
    view.resize(900, 600);
    run_load(view, context_of(session));
    QVERIFY(!view.note().contains("not computed"));
    view.findChild<QCheckBox*>()->setChecked(true);
    QVERIFY2(view.note().contains("not computed"), qPrintable(view.note()));
    run_load(view, context_of(session_));
    QVERIFY(!view.note().contains("not computed"));
  }

  void it_says_what_is_missing() {
    CellsView view;
    run_load(view, {});
    QVERIFY(!view.has_content() && view.message().contains("No session"));
    run_load(view, context_of("/nowhere/a.storm"));
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/a.storm"));
    CellsFixture sums;
    sums.decisions = false;
    run_load(view, context_of(make_cells_session(at("sums.storm"), sums)));
    QVERIFY(!view.has_content() && view.message().contains("keeps sums"));
    // Without inputs there are decisions to show: no more is missing.
    run_load(view, context_of(without_));
    QVERIFY(view.has_content());
  }

  void mouse_and_keys_choose_and_the_tables_agree() {
    CellsView view;
    view.resize(900, 600);
    run_load(view, context_of(session_));
    QVERIFY(view.has_content());
    // Beside the list of views it must fit into a window of 1280.
    QVERIFY2(view.minimumSizeHint().width() < 1000, qPrintable(QString::number(view.minimumSizeHint().width())));
    auto* picture = view.findChild<CellsPicture*>();
    picture->resize(900, 560);
    draw(*picture, {900, 560});
    QSignalSpy wanted(&view, &View::selection_wanted);
    const auto last = [&] { return wanted.last()[0].value<Selection>(); };
    QTest::mouseClick(picture, Qt::LeftButton, {}, picture->chip_rect(0, {1, 2}).center().toPoint());
    QVERIFY(last().cell == (CellPlace{1, 2}));
    run_load(view, context_of(session_), last());
    QTest::keyClick(picture, Qt::Key_Right);
    QVERIFY(last().cell == (CellPlace{1, 3}));
    run_load(view, context_of(session_), last());
    QTest::keyClick(picture, Qt::Key_Up);
    QCOMPARE(last().cell->sequence, int64_t{0});
    QTest::mouseClick(picture, Qt::LeftButton, {}, picture->branch_rect(2).center().toPoint());
    QCOMPARE(last().branch, 2);
    QCOMPARE(last().router, QString(kFirst));
    run_load(view, context_of(session_), last());
    const auto dictionary = read_branch_dictionary(session_, 1, kFirst, 2);
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Table") box->setCurrentIndex(1);
    QCOMPARE(view.table().rows.size(), dictionary->entries.size());
    for (const auto& row : view.table().rows) QCOMPARE(row.size(), view.table().columns.size());
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Table") box->setCurrentIndex(0);
    const Table cells = view.table();
    for (const auto& row : cells.rows) QCOMPARE(row.size(), cells.columns.size());
    QCOMPARE(std::get<QString>(cells.rows[0][4]), QString("long"));
    // A router of another cell space: other cells come.
    Selection decoder;
    decoder.router = "decoder.block.1.layer.2.mlp";
    run_load(view, context_of(session_), decoder);
    QVERIFY(view.table().columns.back().name == decoder.router);
    QTest::keyClick(picture, Qt::Key_Escape);
    QVERIFY(!last().cell);
  }

  void cells_of_other_labels_and_phases_step_back() {
    QTemporaryDir folder;
    const std::string session = make_cells_session(folder.filePath("phases.storm").toStdString(), {.phases = true});
    const auto page = read_cell_page(session, 1, {"token", 0, 12});
    const QString router = QString::fromStdString(page->routers[0].name);
    const ShownPage label = show_page(*page, {CellColor::branch, router, -1, true, "short", {}}),
                    phase = show_page(*page, {CellColor::branch, router, -1, true, {}, "prefill"});
    for (size_t l = 0; l < page->lines.size(); ++l)
      for (size_t c = 0; c < label.lines[l].chips.size(); ++c) {
        QCOMPARE(label.lines[l].chips[c].faded, l % 3 != 1);
        QCOMPARE(phase.lines[l].chips[c].faded, (l / 3) % 3 != 0);
      }
    // A label is sought from the top on.
    CellsView view;
    view.resize(600, 300);
    run_load(view, context_of(session));
    Selection selection;
    selection.label = "short";
    run_load(view, context_of(session), selection);
    QCOMPARE(view.findChild<CellsPicture*>()->scroll().sequence, int64_t{1});
    QVERIFY(view.note().contains("dimmed"));
  }

  void a_phase_that_no_cell_on_show_has_dims_none() {
    // As decoding with an encoder is recorded: its cells are all of the prompt, the decoder's are all written.
    SessionWriter writer(at("decoded.storm"), some_model());
    auto run = writer.begin_run(some_run("decoded", cells_layout()));
    for (int64_t number = 0; number < 3; ++number) {
      BatchRecord batch;
      batch.number = number;
      const int32_t space = number == 0 ? 0 : 1, cells = number == 0 ? 4 : 1, position = static_cast<int32_t>(number);
      batch.add_space(space,
                      {0, 1, cells, number == 0 ? 0 : position - 1, number == 0 ? Phase::prefill : Phase::decode});
      const std::vector<int32_t> choice = number == 0 ? std::vector<int32_t>{1, 1, 1, 1} : std::vector<int32_t>{1, 2};
      for (const int32_t router : number == 0 ? std::vector<int32_t>{0, 1} : std::vector<int32_t>{2}) {
        DecisionRecord d;
        d.router = router;
        d.choice = choice;
        batch.add_decision(d);
      }
      run->batch(batch);
    }
    run->finish(RunStatus::finished);
    const auto overview = read_cells_overview(at("decoded.storm"), 1);
    QVERIFY(overview->has_phase("token", "prefill") && !overview->has_phase("token", "decode"));
    QVERIFY(overview->has_phase("decoder_token", "decode") && !overview->has_phase("decoder_token", "prefill"));
    CellsView view;
    view.resize(900, 400);
    // Nobody chose a router: one whose cells are written tokens is shown.
    Selection selection;
    selection.phase = "decode";
    run_load(view, context_of(at("decoded.storm")), selection);
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    const auto shows = [&](const QString& router) {
      const auto boxes = view.findChildren<QComboBox*>();
      return std::any_of(boxes.begin(), boxes.end(),
                         [&](const QComboBox* box) { return box->currentText() == router; });
    };
    QVERIFY(shows("decoder.block.1.layer.2.mlp"));
    QVERIFY2(view.note().contains("dimmed") && !view.note().contains("none is dimmed"), qPrintable(view.note()));
    selection.router = kFirst;
    run_load(view, context_of(at("decoded.storm")), selection);
    QVERIFY2(view.note().contains("No cell here is of phase decode: none is dimmed"), qPrintable(view.note()));
    QVERIFY(!view.note().contains("Other cells"));
  }

  void cells_of_a_grid_lie_as_in_their_picture() {
    CellsMetrics m;
    m.width = 300, m.gutter = 100, m.stripes = 8;
    std::vector<double> widths;
    std::vector<QPoint> places;
    for (int row = 0; row < 3; ++row)
      for (int column = 0; column < 5; ++column) widths.push_back(10 + column * 4), places.emplace_back(column, row);
    const LineLayout layout = lay_out_grid(widths, places, m, false);
    for (size_t i = 0; i < places.size(); ++i) {
      QCOMPARE(layout.chips[i], QRectF(m.gutter + places[i].x() * 27, places[i].y() * m.pitch(), 26, m.chip));
      QCOMPARE(layout.at(layout.chips[i].center()), static_cast<int>(i));
    }
    QCOMPARE(layout.neighbour(7, 1), 12);
    QVERIFY(layout.height >= 3 * m.pitch());
    // More columns than there is room for: narrower, still one row a row.
    places.clear();
    for (int column = 0; column < 60; ++column) places.emplace_back(column, 0);
    const LineLayout narrow = lay_out_grid(std::vector<double>(60, 20), places, m, false);
    QVERIFY(narrow.chips.back().top() == 0 && narrow.chips.back().width() >= 3);
    // The view lays out a picture's patches so.
    CellsFixture f;
    f.inputs = false, f.columns = 5;
    const std::string session = make_cells_session(at("grid.storm"), f);
    CellsView view;
    view.resize(900, 600);
    run_load(view, context_of(session));
    const auto* picture = view.findChild<CellsPicture*>();
    const QRectF first = picture->chip_rect(0, {0, 0}), right = picture->chip_rect(0, {0, 1}),
                 below = picture->chip_rect(0, {0, 5});
    QVERIFY(!first.isEmpty() && right.top() == first.top() && right.left() > first.right());
    if (!below.isEmpty()) QVERIFY(below.left() == first.left() && below.top() > first.bottom());
  }

  void cells_lie_on_the_pictures_that_are_kept() {
    CellsFixture f;
    f.columns = 5, f.picture_every = 2;
    const std::string session = make_cells_session(at("pictures.storm"), f);
    QCOMPARE(read_cells_overview(session, 1)->thumbnails, int64_t{20});
    const auto page = read_cell_page(session, 1, {"token", 0, 3});
    QVERIFY(page->lines[0].picture == some_thumbnail(0) && page->lines[1].picture.empty());
    CellOptions options;
    options.router = kFirst;
    QVERIFY(show_page(*page, options).lines[0].picture.size() == QSize(32, 24));
    QVERIFY(show_page(*page, options).pictures && show_page(*page, options).lines[1].picture.isNull());
    options.tint = PictureTint::none;
    QVERIFY(!show_page(*page, options).pictures);
    // Cells that have no place on it are shown as ever.
    QVERIFY(!show_page(*read_cell_page(session, 1, {"decoder_token", 0, 3}), CellOptions()).pictures);

    CellsView view;
    view.resize(900, 600);
    view.show();
    run_load(view, context_of(session));
    auto* picture = view.findChild<CellsPicture*>();
    const QRectF first = picture->chip_rect(0, {0, 0}), right = picture->chip_rect(0, {0, 1});
    QVERIFY(std::abs(first.right() - right.left()) < 1e-6 && first.top() == right.top());
    // Those that are kept stand side by side; of the sequence between them none is.
    const QRectF beside = picture->chip_rect(0, {2, 0});
    QVERIFY(picture->chip_rect(0, {1, 0}).isEmpty());
    QVERIFY(picture->across() > 1 && beside.top() == first.top() &&
            beside.left() > picture->chip_rect(0, {0, 4}).right());
    // The picture is drawn there: its colours turn red from left to right; a choice of the view takes the
    // colours of the cells away.
    QComboBox* pictures = nullptr;
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Pictures") pictures = box;
    QVERIFY(pictures && pictures->isVisibleTo(&view));
    pictures->setCurrentIndex(2);
    const QImage plain = draw(*picture, picture->size());
    QVERIFY(plain.pixelColor(right.center().toPoint()).red() > plain.pixelColor(first.center().toPoint()).red());
    pictures->setCurrentIndex(0);
    QVERIFY(draw(*picture, picture->size()) != plain);
    // It plays: what has a picture comes to the top, and behind the last the first.
    QPushButton* play = nullptr;
    for (QPushButton* button : view.findChildren<QPushButton*>())
      if (button->text() == "Play") play = button;
    QVERIFY(play && play->isEnabled());
    play->setChecked(true);
    QTRY_COMPARE(picture->scroll().sequence, int64_t{2});
    picture->show_sequence(29);
    run_load(view, context_of(session));
    QTRY_COMPARE(picture->scroll().sequence, int64_t{0});
    play->setChecked(false);
    QVERIFY2(!view.note().contains("cells show their places"), qPrintable(view.note()));
    QVERIFY2(view.note().contains("20 of 30 pictures are kept"), qPrintable(view.note()));
    run_load(view, context_of(session_));
    QVERIFY(!pictures->isVisibleTo(&view) && !play->isVisibleTo(&view));
  }

  void pictures_use_the_room_in_whole_multiples() {
    const auto grid = [](QSizeF room, QSize shape, int64_t count) {
      return grid_of_pictures(room, shape, count, {12, 9}, 20);
    };
    // Eight digits fill a window; one does not grow without end.
    const PictureGrid eight = grid({1180, 840}, {28, 28}, 8);
    QVERIFY(eight.across == 4 && eight.longer == 280);
    QCOMPARE(grid({1180, 840}, {28, 28}, 1).longer, 28.0 * 17);
    // Whatever the room all are seen, or they are of a size that tells something.
    for (const QSizeF room : {QSizeF(200, 150), QSizeF(700, 500), QSizeF(2400, 1600)})
      for (const QSize shape : {QSize(28, 28), QSize(96, 54), QSize(72, 96), QSize(1, 1)})
        for (const int64_t count : {1, 5, 60, 1000}) {
          const PictureGrid g = grid(room, shape, count);
          const double longer = std::max(shape.width(), shape.height()), times = g.longer / longer;
          QCOMPARE(times, std::floor(times));
          QVERIFY(g.across >= 1 && (g.across * (times * shape.width() + 12) - 12 <= room.width() || times == 1));
          const double rows = std::ceil(static_cast<double>(count) / g.across),
                       high = rows * (times * shape.height() + 29) - 9;
          QVERIFY(high <= room.height() || g.longer < 120 + longer);
        }
  }

  void parts_of_a_picture_tile_it() {
    CellsMetrics m;
    m.picture = 120, m.gutter = 50, m.width = 400, m.stripes = 7;
    const LineLayout six = lay_out_picture({32, 16}, {3, 2}, {{0, 0}, {1, 0}, {2, 0}, {0, 1}, {1, 1}, {2, 1}}, m);
    QCOMPARE(six.picture, QRectF(50, 0, 120, 60));
    QCOMPARE(six.chips[4], QRectF(90, 30, 40, 30));
    QCOMPARE(six.at({95, 45}), 4);
    QCOMPARE(six.neighbour(1, 1), 4);
    const LineLayout whole = lay_out_picture({16, 32}, {1, 1}, {{0, 0}}, m);
    QCOMPARE(whole.chips[0], whole.picture);
    QCOMPARE(whole.height, 120 + 7 + m.block_gap);
    m.width = 80;
    QCOMPARE(lay_out_picture({32, 16}, {1, 1}, {{0, 0}}, m).picture.width(), 30.0);
    // Batches that are not shown leave a gap.
    QCOMPARE(lay_out_picture({32, 16}, {3, 2}, {{0, 0}}, m).chips[0].width(), 10.0);
  }

  void whatever_the_height_all_sequences_can_be_scrolled_to() {
    CellsView view;
    run_load(view, context_of(session_));
    auto* picture = view.findChild<CellsPicture*>();
    const auto* bar = picture->findChild<QScrollBar*>();
    for (int height = 300; height < 400; height += 3) {
      view.resize(1100, height);
      draw(*picture, {1100, height});
      picture->show_sequence(20);
      QVERIFY2(bar->isVisibleTo(picture) && picture->scroll().sequence == 20, qPrintable(QString::number(height)));
    }
    // Another run comes: what is on show has been read.
    run_load(view, context_of(other_));
    QVERIFY(!picture->chip_rect(0, {picture->scroll().sequence, 0}).isEmpty());
  }

  void a_huge_run_opens_by_reading_a_page() {
    // 10^6 places here; what is read does not depend on their number. STORMCELL_HUGE_BATCHES=125000 makes 10^8 of them.
    CellsFixture f;
    const int wanted = qEnvironmentVariableIntValue("STORMCELL_HUGE_BATCHES");
    f.batches = wanted > 0 ? wanted : 20'000, f.sequences = 5;
    if (wanted > 0) f.sequences = 8, f.per_sequence = 100;
    const int64_t last = f.batches * f.sequences - 1;
    const std::string huge = make_cells_session(at("huge.storm"), f);
    QElapsedTimer timer;
    timer.start();
    CellsView view;
    run_load(view, context_of(huge));
    QVERIFY(view.has_content());
    const qint64 opened = timer.restart();
    auto* picture = view.findChild<CellsPicture*>();
    QSignalSpy more(&view, &View::load_wanted);
    picture->show_sequence(last - 9);
    QCOMPARE(more.count(), 1);
    run_load(view, context_of(huge));
    QVERIFY(std::get<qlonglong>(view.table().rows[0][0]) > last - 900);
    QCOMPARE(std::get<qlonglong>(view.table().rows.back()[0]), static_cast<qlonglong>(last));
    qInfo("opened in %lld ms, jumped in %lld ms", opened, timer.elapsed());
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<int>("color");
    QTest::addColumn<bool>("pair");
    QTest::addColumn<double>("scale");
    QTest::newRow("cells-light") << false << 0 << false << 1.0;
    QTest::newRow("cells-dark") << true << 0 << false << 1.0;
    QTest::newRow("cells-weight") << false << 1 << false << 1.0;
    QTest::newRow("cells-beside") << true << 0 << true << 1.0;
    QTest::newRow("cells-2x") << false << 0 << false << 2.0;
    QTest::newRow("cells-pictures") << false << 0 << false << 1.0;
  }
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    QFETCH(int, color);
    QFETCH(bool, pair);
    QFETCH(double, scale);
    CellsView view;
    view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    Selection selection;
    selection.cell = CellPlace{1, 2};
    selection.router = pair ? "encoder.block.3.layer.1.mlp" : kFirst;
    if (!pair && scale > 1) selection.branch = 2;
    CellsFixture pictures;
    pictures.columns = 5, pictures.picture_every = 1, pictures.sequences = 2;
    const bool pictured = QTest::currentDataTag() == QString("cells-pictures");
    run_load(view,
             context_of(pictured ? make_cells_session(at("shown.storm"), pictures) : session_, 1,
                        pair ? other_ : std::string()),
             selection);
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Colour") box->setCurrentIndex(color);
    const QString trouble = compare_with_golden(draw(*view.picture(), {720, 480}, scale), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(CellsTest)

}  // namespace stormcell::views::cells_test
#include "cells_test.moc"
