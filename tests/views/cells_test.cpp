// The view of cells: what it reads, where chips lie, and the view on fixture sessions.
#include <QCheckBox>
#include <QComboBox>
#include <QElapsedTimer>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>

#include "core/session/session_reader.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "views/cells/cells_view.h"
#include "views/drawing/theme.h"
#include "views/words/router_names.h"

namespace stormcell::views {
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

  void a_page_is_what_was_recorded() {
    const auto overview = read_cells_overview(session_, 1);
    QVERIFY(overview->tokens && overview->texts && overview->labels && overview->pieces && overview->decisions && !overview->margins);
    QCOMPARE(overview->sequences, int64_t{30});
    const auto page = read_cell_page(session_, 1, {"token", 4, 7});
    QCOMPARE(page->lines.size(), size_t{7});
    QCOMPARE(page->routers.size(), size_t{2});
    const SessionReader reader(session_);
    for (const CellLine& line : page->lines) {
      const int64_t batch = line.sequence / 3;
      QCOMPARE(line.position.size(), size_t{14});
      for (size_t r = 0; r < 2; ++r) {
        const auto stored = reader.decision(1, static_cast<int32_t>(r), batch);
        for (size_t c = 0; c < 14; ++c) QCOMPARE(line.routed[r].choice[c], stored->choice[static_cast<size_t>(line.sequence % 3) * 14 + c]);
      }
      const auto spaces = reader.spaces(1, batch);
      const auto begin = spaces[0].tokens.begin() + line.sequence % 3 * 14;
      QCOMPARE(line.token, (std::vector<int32_t>(begin, begin + 14)));
      QVERIFY(!line.text.empty() && !line.label.empty());
    }
    QCOMPARE(page->pieces.at(1), std::string("</s>"));
    QCOMPARE(read_cell_page(session_, 1, {"decoder_token", 0, 2})->routers[0].fan_out, 2);
    QVERIFY(read_cell_page(session_, 1, {"nowhere", 0, 2})->lines.empty());
    QVERIFY(read_cell_page(session_, 1, {"token", 1000, 2})->lines.empty());
    // Few choices allowed: a whole batch at least, never nothing.
    QCOMPARE(read_cell_page(session_, 1, {"token", 0, 30, 16384, 1})->lines.size(), size_t{3});
    const auto cut = read_cell_page(session_, 1, {"token", 0, 1, 5});
    QCOMPARE(cut->lines[0].position.size(), size_t{5});
    QCOMPARE(cut->lines[0].cells, int64_t{14});
    // A range of batches is a range of sequences.
    const auto range = read_cells_overview(session_, 1, 2, 4);
    QCOMPARE(range->first_sequence, int64_t{6});
    QCOMPARE(range->end_sequence, int64_t{12});
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
    const auto page = read_cell_page(session, 1, {"token", 0, 3}), padded = read_cell_page(session_, 1, {"token", 0, 3});
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
    for (size_t c = 0; c < chips.size(); ++c) QCOMPARE(describe(*page, shown, 0, c).contains("padding: not computed"), !chips[c].real);
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

  void a_dictionary_is_counted_from_the_decisions() {
    const auto page = read_cell_page(session_, 1, {"token", 0, 1000});
    std::map<int32_t, int64_t> count, everywhere;
    int64_t cells = 0, all = 0;
    for (const CellLine& line : page->lines)
      for (size_t c = 0; c < line.position.size(); ++c) {
        const int32_t choice = line.routed[0].choice[c];
        if (!line.real[c] || choice < 0) continue;
        ++everywhere[line.token[c]], ++all;
        if (choice == 2) ++count[line.token[c]], ++cells;
      }
    const auto d = read_branch_dictionary(session_, 1, kFirst, 2);
    QCOMPARE(d->cells, cells);
    QCOMPARE(d->all, all);
    QVERIFY(d->complete);
    QCOMPARE(d->entries.size(), count.size());
    for (const auto& e : d->entries) {
      QCOMPARE(e.count, count[e.token]);
      QCOMPARE(e.everywhere, everywhere[e.token]);
      const double lift =
          (static_cast<double>(e.count) / static_cast<double>(cells)) / (static_cast<double>(e.everywhere) / static_cast<double>(all));
      QVERIFY(std::abs(e.lift - lift) < 1e-9);
      QCOMPARE(e.piece, std::string(kPieces[static_cast<size_t>(e.token)]));
    }
    for (const auto& e : ordered(*d, DictionaryOrder::lift)) QVERIFY(e.count >= kLeastForLift);
    QVERIFY(read_branch_dictionary(session_, 1, "nobody", 0)->entries.empty());
    QVERIFY(read_branch_dictionary(session_, 1, kFirst, 99)->entries.empty());
  }

  void pieces_are_read_as_people_write() {
    QCOMPARE(piece_text("\u2581the").text, QString("the"));
    QVERIFY(piece_text("\u2581the").word && !piece_text("ing").word);
    QCOMPARE(piece_text("\u2581").text, QString(QChar(0x2423)));
    QCOMPARE(piece_text("a\nb").text, QString::fromUtf8("a\u00b7b"));
    std::vector<RouterLine> routers(2);
    routers[0].name = kFirst, routers[1].name = "encoder.block.3.layer.1.mlp";
    QCOMPARE(short_names(routers), (std::vector<QString>{"block.1", "block.3"}));
    routers[1].name = routers[0].name;
    QCOMPARE(short_names(routers).size(), size_t{2});
    QCOMPARE(short_names({routers[0]})[0], QString(kFirst));
  }

  void bytes_that_spell_a_letter_are_shown_as_it() {
    CellPage page;
    const char* pieces[] = {"a", "<0xE3>", "<0x81>", "<0x82>", "<0xC3>", "<0xA9>", "<0x0A>", "<0xFF>"};
    for (int32_t t = 0; t < 8; ++t) page.pieces[t] = pieces[t];
    const auto shown = [&](const std::vector<int32_t>& tokens, int32_t gap_at = -1) {
      CellLine line;
      line.token = tokens;
      for (size_t i = 0; i < tokens.size(); ++i) {
        line.position.push_back(static_cast<int32_t>(i) + (gap_at >= 0 && static_cast<int32_t>(i) >= gap_at ? 5 : 0));
        line.real.push_back(1);
        line.seen.push_back(1);
        line.phase.push_back(0);
      }
      line.cells = static_cast<int64_t>(tokens.size());
      page.lines = {line};
      QStringList texts;
      const ShownPage all = show_page(page, {});
      for (const Chip& chip : all.lines[0].chips) texts << chip.text + (chip.part.isEmpty() ? "" : " (" + chip.part + ")");
      return texts;
    };
    const QString a = QString::fromUtf8("あ"), e = QString::fromUtf8("é"), rest(QChar(0x2039));
    QCOMPARE(shown({0, 1, 2, 3, 4, 5, 0}), (QStringList{"a", a + " (byte 1 of 3 of " + a + ")", rest + " (byte 2 of 3 of " + a + ")",
                                                        rest + " (byte 3 of 3 of " + a + ")", e + " (byte 1 of 2 of " + e + ")",
                                                        rest + " (byte 2 of 2 of " + e + ")", "a"}));
    // What spells nothing stays as the vocabulary has it: cut short, begun in the middle, across a gap, no letter.
    QCOMPARE(shown({1, 2, 0}), (QStringList{"<0xE3>", "<0x81>", "a"}));
    QCOMPARE(shown({2, 3, 6, 7}), (QStringList{"<0x81>", "<0x82>", "<0x0A>", "<0xFF>"}));
    QCOMPARE(shown({4, 5}, 1), (QStringList{"<0xC3>", "<0xA9>"}));
    QCOMPARE(shown({}), QStringList());
  }

  void tones_are_the_figures() {
    const auto page = read_cell_page(session_, 1, {"token", 0, 9});
    CellOptions options;
    options.router = kFirst;
    for (const CellColor color : {CellColor::branch, CellColor::weight, CellColor::drops, CellColor::work, CellColor::margin}) {
      options.color = color;
      const ShownPage shown = show_page(*page, options);
      for (size_t l = 0; l < shown.lines.size(); ++l)
        for (const Chip& chip : shown.lines[l].chips) {
          const auto& routed = page->lines[l].routed[0];
          const auto c = static_cast<size_t>(chip.cell);
          QVERIFY(chip.real && chip.dropped == (routed.choice[c] < 0));
          QCOMPARE(chip.branch, routed.choice[c] < 0 ? -1 : routed.choice[c]);
          if (color == CellColor::weight) QCOMPARE(chip.tone, routed.choice[c] < 0 ? -1.f : routed.weight[c]);
          if (color == CellColor::drops) QCOMPARE(chip.value, chip.dropped ? 1.0 : 0.0);
          if (color == CellColor::work) QCOMPARE(chip.value, chip.dropped ? 1.0 : 2.0);
          if (color == CellColor::margin) QCOMPARE(chip.tone, -1.f);
        }
    }
    options.branch = 1;
    for (const ShownLine& line : show_page(*page, options).lines)
      for (const Chip& chip : line.chips) QCOMPARE(chip.faded, chip.branch != 1);
    options.padding = true;
    for (const ShownLine& line : show_page(*page, options).lines) QCOMPARE(line.chips.size(), size_t{14});
    // The other run differs at the second router, and only there.
    const auto other = read_cell_page(other_, 1, {"token", 3, 9});
    int64_t differing = 0;
    CellOptions second;
    second.router = "encoder.block.3.layer.1.mlp";
    for (const ShownLine& line : show_page(*other, second, page.get()).lines) differing += line.differing;
    QVERIFY(differing > 0);
    for (const ShownLine& line : show_page(*page, second, page.get()).lines) QVERIFY(line.differing == 0 && line.compared > 0);
  }

  void chips_lie_in_rows_and_are_found_again() {
    CellsMetrics m;
    m.width = 300, m.gutter = 100, m.stripes = 8;
    std::vector<double> widths;
    std::vector<bool> words;
    for (int i = 0; i < 60; ++i) widths.push_back(12 + (i * 37) % 90), words.push_back(i % 3 != 0);
    widths.push_back(900), words.push_back(true);
    const LineLayout layout = lay_out(widths, words, m, false);
    for (size_t i = 0; i < widths.size(); ++i) {
      const QRectF& c = layout.chips[i];
      QVERIFY(c.left() >= m.gutter && c.right() <= m.width + 1e-9 && c.bottom() + m.stripes < layout.height);
      QCOMPARE(layout.at(c.center()), static_cast<int>(i));
      if (i > 0)
        QVERIFY(layout.row[i] == layout.row[i - 1] ? c.left() > layout.chips[i - 1].right() : c.top() > layout.chips[i - 1].bottom());
      if (const int below = layout.neighbour(static_cast<int>(i), 1); below >= 0)
        QCOMPARE(layout.row[static_cast<size_t>(below)], layout.row[i] + 1);
    }
    QCOMPARE(layout.neighbour(0, -1), -1);
    QCOMPARE(layout.at({-5, 5}), -1);
    QCOMPARE(lay_out({}, {}, m, true).chips.size(), size_t{0});
  }

  void scrolling_goes_through_any_number_of_sequences() {
    const auto height = [](int64_t s) { return 40.0 + static_cast<double>(s % 5) * 30; };
    CellScroll scroll{0, 0};
    for (int i = 0; i < 500; ++i) scroll = scrolled(scroll, 33, 0, 100'000'000, height);
    const CellScroll far = scroll;
    for (int i = 0; i < 500; ++i) scroll = scrolled(scroll, -33, 0, 100'000'000, height);
    QVERIFY(far.sequence > 100 && (scroll == CellScroll{0, 0}));
    QCOMPARE(scrolled({0, 0}, -50, 0, 10, height).offset, 0.0);
    QCOMPARE(scrolled({9, 0}, 1e6, 0, 10, height).sequence, int64_t{9});
    QCOMPARE(scrolled({3, 5}, 10, 4, 4, height).sequence, int64_t{4});
    QCOMPARE(stripe_height(2, 48), 5.0);
    QCOMPARE(stripe_height(60, 48), 1.0);
    QCOMPARE(legend_boxes({50, 50, 50, 50}, QRectF(0, 0, 140, 44), 20).size(), size_t{4});
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
      batch.add_space(space, {0, 1, cells, number == 0 ? 0 : position - 1, number == 0 ? Phase::prefill : Phase::decode});
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
      return std::any_of(boxes.begin(), boxes.end(), [&](const QComboBox* box) { return box->currentText() == router; });
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
    const QRectF first = picture->chip_rect(0, {0, 0}), right = picture->chip_rect(0, {0, 1}), below = picture->chip_rect(0, {0, 5});
    QVERIFY(!first.isEmpty() && right.top() == first.top() && right.left() > first.right());
    if (!below.isEmpty()) QVERIFY(below.left() == first.left() && below.top() > first.bottom());
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
    run_load(view, context_of(session_, 1, pair ? other_ : std::string()), selection);
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Colour") box->setCurrentIndex(color);
    const QString trouble = compare_with_golden(draw(*view.picture(), {720, 480}, scale), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(CellsTest)

}  // namespace stormcell::views
#include "cells_test.moc"
