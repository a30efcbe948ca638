// Data of the view of cells and its layout, without a window.
#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <string>

#include "core/session/session_reader.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "views/cells/cells_painter.h"
#include "views/cells/cells_view.h"
#include "views/drawing/theme.h"
#include "views/words/router_names.h"

namespace stormcell::views::cells_model_test {
namespace {

using namespace stormcell::testing;

const char* const kFirst = "encoder.block.1.layer.1.mlp";

}  // namespace

class CellsModelTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_, other_;
  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void initTestCase() {
    session_ = make_cells_session(at("main.storm"));
    other_ = make_cells_session(at("other.storm"), {10, 3, 14, 4});
  }

  void a_page_is_what_was_recorded() {
    const auto overview = read_cells_overview(session_, 1);
    QVERIFY(overview->tokens && overview->texts && overview->labels && overview->pieces && overview->decisions &&
            !overview->margins);
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
        for (size_t c = 0; c < 14; ++c)
          QCOMPARE(line.routed[r].choice[c], stored->choice[static_cast<size_t>(line.sequence % 3) * 14 + c]);
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
      const double lift = (static_cast<double>(e.count) / static_cast<double>(cells)) /
                          (static_cast<double>(e.everywhere) / static_cast<double>(all));
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
    // Exits are called as all else calls them, beside other routers and alone.
    routers[0].name = "exits.0.router", routers[1].name = "exits.1.router";
    for (RouterLine& router : routers) router.protocol = "exit-threshold";
    QCOMPARE(short_names(routers), (std::vector<QString>{"exit 1", "exit 2"}));
    QCOMPARE(short_names({routers[0]})[0], QString("exit 1"));
    routers.emplace(routers.begin())->name = "mlp";
    QCOMPARE(short_names(routers), (std::vector<QString>{"mlp", "exit 1", "exit 2"}));
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
      for (const Chip& chip : all.lines[0].chips)
        texts << chip.text + (chip.part.isEmpty() ? "" : " (" + chip.part + ")");
      return texts;
    };
    const QString a = QString::fromUtf8("あ"), e = QString::fromUtf8("é"), rest(QChar(0x2039));
    QCOMPARE(shown({0, 1, 2, 3, 4, 5, 0}),
             (QStringList{"a", a + " (byte 1 of 3 of " + a + ")", rest + " (byte 2 of 3 of " + a + ")",
                          rest + " (byte 3 of 3 of " + a + ")", e + " (byte 1 of 2 of " + e + ")",
                          rest + " (byte 2 of 2 of " + e + ")", "a"}));
    // A piece that spells nothing stays as the vocabulary has it: cut short, begun in the middle, across a gap, no
    // letter.
    QCOMPARE(shown({1, 2, 0}), (QStringList{"<0xE3>", "<0x81>", "a"}));
    QCOMPARE(shown({2, 3, 6, 7}), (QStringList{"<0x81>", "<0x82>", "<0x0A>", "<0xFF>"}));
    QCOMPARE(shown({4, 5}, 1), (QStringList{"<0xC3>", "<0xA9>"}));
    QCOMPARE(shown({}), QStringList());
  }

  void tones_are_the_figures() {
    const auto page = read_cell_page(session_, 1, {"token", 0, 9});
    CellOptions options;
    options.router = kFirst;
    for (const CellColor color :
         {CellColor::branch, CellColor::weight, CellColor::drops, CellColor::work, CellColor::margin}) {
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
    for (const ShownLine& line : show_page(*page, second, page.get()).lines)
      QVERIFY(line.differing == 0 && line.compared > 0);
  }

  void what_only_passes_a_cell_on_is_no_work() {
    CellPage page;
    for (const char* protocol : {"residual-threshold", "threshold"}) {
      RouterLine router;
      router.name = protocol, router.protocol = protocol, router.branches = 2;
      page.routers.push_back(router);
    }
    CellLine line;  // of three cells: both routers refuse, the first alone takes, both take
    line.cells = 3, line.position = {0, 1, 2};
    line.real = line.seen = {1, 1, 1}, line.phase = {0, 0, 0};
    line.routed = {{{0, 1, 1}, {}, {}}, {{kNoChoice, kNoChoice, 0}, {}, {}}};
    page.lines = {line};
    CellOptions options;
    options.color = CellColor::work, options.router = "threshold";
    const ShownPage shown = show_page(page, options);
    const Table table = make_cells_table(page, options);
    const auto work =
        std::find_if(table.columns.begin(), table.columns.end(), [](const auto& c) { return c.name == "work"; }) -
        table.columns.begin();
    for (size_t c = 0; c < 3; ++c) {
      QCOMPARE(shown.lines[0].chips[c].value, static_cast<double>(c));
      QCOMPARE(std::get<qlonglong>(table.rows[c][static_cast<size_t>(work)]), static_cast<qlonglong>(c));
    }
  }

  void parts_of_the_model_that_a_cell_passes_are_not_computed() {
    CellPage page;
    for (const char* protocol : {"residual-threshold", "threshold"}) {
      RouterLine router;
      router.name = protocol, router.protocol = protocol, router.branches = 2;
      page.routers.push_back(router);
    }
    QVERIFY(telling_color(page.routers) == CellColor::parts && !is_of(CellColor::exit, page.routers));
    QVERIFY(telling_color({page.routers[1], page.routers[1]}) == CellColor::branch);  // nothing can be passed
    CellLine line;
    line.cells = 3, line.position = {0, 1, 2};
    line.real = line.seen = {1, 1, 1}, line.phase = {0, 0, 0};
    line.routed = {{{0, 1, 1}, {}, {}}, {{kNoChoice, kNoChoice, 0}, {}, {}}};
    page.lines = {line};
    CellOptions options;
    options.color = CellColor::parts, options.router = "threshold";
    const ShownPage shown = show_page(page, options);
    QCOMPARE(shown.high, 2.0);
    for (size_t c = 0; c < 3; ++c) QCOMPARE(shown.lines[0].chips[c].value, static_cast<double>(c));
    QVERIFY(shown.unbranched);
  }

  void cells_are_coloured_by_the_exit_that_they_left_by() {
    CellPage page;
    for (const int32_t parent : {-1, 0}) {
      RouterLine router;
      router.name = "exits." + std::to_string(parent + 1) + ".router", router.protocol = "exit-threshold";
      router.branches = 2, router.parent = parent, router.parent_branch = parent + (parent < 0 ? 0 : 1),
      router.residual = 0;
      page.routers.push_back(router);
    }
    QVERIFY(telling_color(page.routers) == CellColor::exit);
    CellLine line;  // of four cells: the last was seen by no exit
    line.cells = 4, line.position = {0, 1, 2, 3};
    line.real = line.seen = {1, 1, 1, 1}, line.phase = {0, 0, 0, 0};
    line.routed = {{{0, 1, 1, kNoChoice}, {}, {}}, {{kNoChoice, 0, 1, kNoChoice}, {}, {}}};
    page.lines = {line};
    CellOptions options;
    options.color = CellColor::exit, options.router = "exits.0.router";
    const ShownPage shown = show_page(page, options);
    QCOMPARE(shown.high, 2.0);
    for (size_t c = 0; c < 3; ++c)
      QVERIFY(shown.lines[0].chips[c].value == static_cast<double>(c) && shown.lines[0].chips[c].tone >= 0);
    QVERIFY(shown.lines[0].chips[3].tone < 0);
    // Who leaves has the colour of the exit, whatever colours the cells, and who goes on after the last test that of
    // the end.
    const Theme& theme = Theme::light();
    options.color = CellColor::branch, options.router = "exits.1.router";
    const ShownPage second = show_page(page, options);
    for (size_t c = 1; c < 3; ++c) {
      QCOMPARE(chip_fill(second.lines[0].chips[c], second, theme), chip_fill(shown.lines[0].chips[c], shown, theme));
      QCOMPARE(chip_fill(second.lines[0].chips[c], second, theme), theme.category(static_cast<int>(c)));
    }
    QCOMPARE(branch_color(second.exits[0], second.ends, 0, {}, theme), theme.category(0));
    QCOMPARE(branch_color(second.exits[0], second.ends, 1, {}, theme), theme.faint);
    const QString said = describe(page, second, 0, 1);
    QVERIFY2(said.contains("goes on") && said.contains("leaves") && !said.contains("branch 0"), qPrintable(said));
    const Table table = make_cells_table(page, options);
    QCOMPARE(std::get<QString>(table.rows[1][table.columns.size() - 2]), QString("goes on"));
    QCOMPARE(std::get<QString>(table.rows[1].back()), QString("leaves"));
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
        QVERIFY(layout.row[i] == layout.row[i - 1] ? c.left() > layout.chips[i - 1].right()
                                                   : c.top() > layout.chips[i - 1].bottom());
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
};
STORMCELL_TEST(CellsModelTest)

}  // namespace stormcell::views::cells_model_test
#include "cells_model_test.moc"
