// Two recordings of the same tokens: planted differences give the squares of the map, a click gives both choices.
#include <QComboBox>
#include <QImage>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/difference/difference.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/controls.h"
#include "tests/views/diff_fixture.h"
#include "views/diff/diff_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

/// At router 1, position 3: sequences 0 and 2. At router 2, position 3: sequence 2, which is a consequence. At router 0,
/// position 5: sequence 3.
const std::vector<PlantedChoice> kPlanted = {
    {1, 0, 3, {0, 7}}, {1, 2, 3, {1, 2}}, {2, 2, 3, {6, 3}}, {0, 3, 5, {2, 5}}};

Context two_runs(const std::string& file) {
  Context context = context_of(file, 1, file);
  context.other.run = 2, context.other.title = "other #2";
  return context;
}

DiffPicture& diff_picture_of(DiffView& view) { return *static_cast<DiffPicture*>(view.picture()); }

/// But for the rounding of a channel.
bool alike(const QColor& x, const QColor& y) {
  return std::abs(x.red() - y.red()) <= 2 && std::abs(x.green() - y.green()) <= 2 && std::abs(x.blue() - y.blue()) <= 2;
}

/// Rows of a table whose first columns have these texts.
std::vector<std::vector<Value>> rows_with(const Table& table, const QStringList& begin) {
  std::vector<std::vector<Value>> found;
  for (const std::vector<Value>& row : table.rows) {
    bool same = true;
    for (int c = 0; c < begin.size(); ++c) same = same && to_text(row[static_cast<size_t>(c)]) == begin[c];
    if (same) found.push_back(row);
  }
  return found;
}

}  // namespace

class DiffTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_;  ///< run 1 as it is, run 2 with what is planted
  std::string plain_;    ///< the same without margins

  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void initTestCase() {
    session_ = make_planted_session(at("planted.storm"), {{.margins = true}, {kPlanted, true}});
    plain_ = make_planted_session(at("plain.storm"), {{}, {kPlanted}});
  }

  void the_map_has_what_was_planted() {
    DiffView view;
    view.resize(1100, 700);
    run_load(view, two_runs(session_));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    const DifferenceFigures& f = *diff_picture_of(view).figures();
    for (int router = 0; router < kPlantedRouters; ++router)
      for (int position = 0; position < kPlantedPositions; ++position) {
        const auto planted = std::count_if(kPlanted.begin(), kPlanted.end(), [&](const PlantedChoice& c) {
          return c.router == router && c.position == position;
        });
        const auto share = share_at_place(f, {router, position});
        QVERIFY(share);
        QCOMPARE(*share, static_cast<double>(planted) / kPlantedSequences);
      }
    QVERIFY((strongest_place(f) == DiffPlace{1, 3}) && end_of_scale(f) == 0.5);
    QVERIFY(!share_at_place(f, {kPlantedRouters, 0}) && !share_at_place(f, {}));
    QCOMPARE(view.table().rows.size(), size_t{kPlantedRouters * kPlantedPositions});
    // router, router of b, first and last position, cells, differing
    QCOMPARE(rows_with(view.table(), {"model.layers.1.mlp", "model.layers.1.mlp", "3", "3", "4", "2"}).size(),
             size_t{1});
  }

  void a_click_on_a_square_lists_both_choices_and_selects_the_cell() {
    DiffView view;
    view.resize(1100, 700);
    run_load(view, two_runs(session_));
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    DiffPicture& picture = diff_picture_of(view);
    Selection wanted;
    connect(&view, &View::selection_wanted, &view, [&](const Selection& selection) { wanted = selection; });
    const DiffPlace place{0, 5};
    QTest::mouseClick(&picture, Qt::LeftButton, {}, picture.geometry_now().square(place).center().toPoint());
    QVERIFY(picture.chosen() == place);
    QCOMPARE(wanted.router, QString("model.layers.0.mlp"));
    QVERIFY(wanted.cell && (*wanted.cell == CellPlace{3, 5}));
    const std::vector<const DiffSample*> cells = samples_at(*picture.figures(), place);
    QCOMPARE(cells.size(), size_t{1});
    QVERIFY((cells[0]->a == std::vector<int32_t>{1, 5} && cells[0]->b == std::vector<int32_t>{2, 5}));
    QCOMPARE(cells[0]->token, planted_token(3, 5));
    QCOMPARE(cells[0]->text, std::string(kPieces[static_cast<size_t>(planted_token(3, 5))]));
    QVERIFY(!cells[0]->consequence && cells[0]->margin == 0.25);
    // The document grants the wish, and the square stays as it is.
    run_load(view, two_runs(session_), wanted);
    QVERIFY(picture.chosen() == place);

    // A square that agrees is chosen too, and selects no cell.
    QTest::mouseClick(&picture, Qt::LeftButton, {}, picture.geometry_now().square({2, 0}).center().toPoint());
    QVERIFY((picture.chosen() == DiffPlace{2, 0}) && !wanted.cell && wanted.router == "model.layers.2.mlp");
    run_load(view, two_runs(session_), wanted);
    QVERIFY((picture.chosen() == DiffPlace{2, 0}));
    QTest::keyClick(&picture, Qt::Key_Up);
    QVERIFY((picture.chosen() == DiffPlace{1, 0}));
  }

  void a_line_of_the_list_selects_its_cell() {
    DiffView view;
    view.resize(1100, 700);
    Selection first;
    first.router = "model.layers.1.mlp", first.cell = CellPlace{0, 3};
    run_load(view, two_runs(session_), first);
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    DiffPicture& picture = diff_picture_of(view);
    QVERIFY((picture.chosen() == DiffPlace{1, 3}));
    Selection wanted;
    connect(&view, &View::selection_wanted, &view, [&](const Selection& selection) { wanted = selection; });
    const DiffGeometry& g = picture.geometry_now();
    QVERIFY(g.list_lines() >= 2);
    QTest::mouseClick(&picture, Qt::LeftButton, {}, g.list_line(1).center().toPoint());
    QVERIFY(wanted.cell && (*wanted.cell == CellPlace{2, 3}));
  }

  void tables_hold_each_part() {
    DiffView view;
    run_load(view, two_runs(session_));
    auto* listed = control_of<QComboBox>(view, "Table");
    QVERIFY(listed);
    const auto table_of = [&](const char* what) {
      listed->setCurrentText(what);
      return view.table();
    };
    const Table sequences = table_of("first differences");
    QCOMPARE(sequences.rows.size(), size_t{3});
    QCOMPARE(rows_with(sequences, {"2", "3"}).size(), size_t{1});
    QCOMPARE(to_text(rows_with(sequences, {"2", "3"})[0][4]), QString("model.layers.1.mlp"));
    const Table cells = table_of("cells");
    QCOMPARE(cells.rows.size(), kPlanted.size());
    const auto later = rows_with(cells, {"model.layers.2.mlp", "2", "3"});
    QVERIFY(later.size() == 1 && to_text(later[0][5]) == "1, 5" && to_text(later[0][6]) == "6, 3" &&
            to_text(later[0][8]) == "no");
    // Router 0 takes 1 from the cell and gives it 2.
    const Table experts = table_of("experts");
    QCOMPARE(rows_with(experts, {"model.layers.0.mlp", "2", "1", "0", "1"}).size(), size_t{1});
    QCOMPARE(rows_with(experts, {"model.layers.0.mlp", "1", "0", "1", "-1"}).size(), size_t{1});
    const Table margins = table_of("margins");
    qlonglong all = 0, begin = 0;
    for (const auto& row : margins.rows) all += std::get<qlonglong>(row[1]), begin += std::get<qlonglong>(row[2]);
    QCOMPARE(all, qlonglong{kPlantedRouters * kPlantedSequences * kPlantedPositions});
    QCOMPARE(begin, qlonglong{3});
    QCOMPARE(to_text(rows_with(table_of("verdict"), {"differing"})[0][1]), QString("4"));
    QVERIFY(to_text(table_of("verdict").rows[0][1]).startsWith("Verdict: "));
  }

  void scores_are_beside_the_choices_of_both_engines() {
    const std::string scored = make_planted_session(
        at("scored.storm"),
        {{.margins = true, .scores = true}, {.planted = kPlanted, .margins = true, .scores = true}});
    DiffView view;
    view.resize(1100, 700);
    run_load(view, two_runs(scored));
    DiffPicture& picture = diff_picture_of(view);
    const std::vector<const DiffSample*> cells = samples_at(*picture.figures(), {0, 5});
    QVERIFY(cells.size() == 1);
    // Branches 1 and 5 in a, 2 and 5 in b.
    QCOMPARE(choices_with_scores(*cells[0], DiffSide::a), QString("1 (2), 5 (1.5)"));
    QCOMPARE(choices_with_scores(*cells[0], DiffSide::b), QString("2 (2), 5 (1.5)"));
    const QString words = describe_cell(*picture.figures(), *cells[0]);
    for (const char* line : {"a chose 1, 5", "b chose 2, 5", "score of 1: 2 in a, -1 in b",
                             "score of 5: 1.5 in a, 1.5 in b", "score of 2: -1 in a, 2 in b"})
      QVERIFY2(QString(words).replace(QChar(0x2212), '-').contains(line), qPrintable(words));
    control_of<QComboBox>(view, "Table")->setCurrentText("cells");
    const auto row = rows_with(view.table(), {"model.layers.0.mlp", "3", "5"});
    QVERIFY(row.size() == 1);
    QCOMPARE(to_text(row[0][9]), QString("2, 1.5"));
    QCOMPARE(to_text(row[0][10]), QString("2, 1.5"));
    // Without scores the lines are as they were, and say so.
    run_load(view, two_runs(session_));
    const std::vector<const DiffSample*> plain = samples_at(*picture.figures(), {0, 5});
    QCOMPARE(choices_with_scores(*plain[0], DiffSide::b), QString("2, 5"));
    QVERIFY(describe_cell(*picture.figures(), *plain[0]).contains("No scores are recorded"));
    QVERIFY(std::holds_alternative<std::monostate>(
        rows_with(view.table(), {"model.layers.0.mlp", "3", "5"})[0][9]));
  }

  void the_reference_may_be_the_other_run() {
    DiffView view;
    run_load(view, two_runs(session_));
    QSignalSpy asks(&view, &View::load_wanted);
    auto* reference = control_of<QComboBox>(view, "Reference");
    QVERIFY(reference);
    reference->setCurrentIndex(1);
    QCOMPARE(asks.count(), 1);
    run_load(view, two_runs(session_));
    const std::vector<const DiffSample*> cells = samples_at(*diff_picture_of(view).figures(), {0, 5});
    QVERIFY(cells.size() == 1);
    QVERIFY((cells[0]->a == std::vector<int32_t>{2, 5} && cells[0]->b == std::vector<int32_t>{1, 5}));
  }

  void without_margins_the_words_say_what_records_them() {
    DiffView view;
    run_load(view, two_runs(plain_));
    QVERIFY(view.has_content());
    const DifferenceFigures& f = *diff_picture_of(view).figures();
    QVERIFY(!f.margins && f.record_margins.find("--record-scores") != std::string::npos);
  }

  void recordings_that_agree_say_so_and_leave_nothing_to_check() {
    const std::string same = make_planted_session(at("same.storm"), {{}, {}});
    DiffView view;
    run_load(view, two_runs(same));
    QVERIFY(view.has_content());
    const DiffWords words = words_of(*diff_picture_of(view).figures());
    QCOMPARE(words.verdict, QString("Verdict: agree"));
    QVERIFY(words.next.isEmpty() && words.counts.startsWith("0 of 72 choices of cells differ"));
    QCOMPARE(end_of_scale(*diff_picture_of(view).figures()), 1.0);
  }

  void what_cannot_be_compared_is_refused_in_one_line() {
    const std::string wide = make_planted_session(at("wide.storm"), {{.branches = 16}}),
                      apart = make_planted_session(at("apart.storm"), {{.first_sequence = 100, .inputs = false}});
    for (const auto& [other, words] : {std::pair{wide, "is of another model"}, {apart, "shares no request with"}}) {
      DiffView view;
      run_load(view, context_of(session_, 1, other));
      QVERIFY2(!view.has_content() && view.refuses(), other.c_str());
      QVERIFY2(view.message().contains(words), qPrintable(view.message()));
      QVERIFY(!view.message().contains('\n'));
    }
    DiffView view;
    run_load(view, context_of(session_, 1, session_));
    QVERIFY(view.message().contains("Choose another run"));
    run_load(view, context_of(session_));
    QVERIFY(view.message().contains("Nothing to compare with yet"));
  }

  void a_trace_may_be_the_other_recording() {
    Context context = context_of(session_);
    context.recording = at("no.csv");
    DiffView view;
    run_load(view, context);
    QVERIFY2(view.refuses() && view.message().contains("No such file or directory (check the path)"), qPrintable(view.message()));
    // A session is a recording as any other: two files need no run to be named.
    context.recording = plain_ + "#2";
    run_load(view, context);
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    QCOMPARE(diff_picture_of(view).figures()->differing, int64_t{4});
    QVERIFY(lines_of(view.caption()).join(' ').contains("against plain.storm#2"));
  }

  void places_of_the_map_are_found_where_they_are_drawn() {
    const DiffGeometry g({{1000, 600}, 16, 90, 48, 64, 5});
    for (int layer = 0; layer < 48; ++layer)
      for (int group = 0; group < 64; ++group) {
        const auto found = g.place_at(g.square({layer, group}).center());
        QVERIFY(found && (*found == DiffPlace{layer, group}));
      }
    QVERIFY(!g.place_at(g.list.center()) && !g.place_at({0, 0}));
    for (int line = 0; line < g.list_lines(); ++line) {
      QCOMPARE(g.list_line_at(g.list_line(line).center()), line);
      QVERIFY(g.list.contains(g.list_line(line).center()));
    }
    // Parts lie apart.
    const QRectF parts[] = {g.verdict, g.map, g.scale, g.list, g.margins, g.experts, g.sequences};
    for (size_t x = 0; x < std::size(parts); ++x)
      for (size_t y = x + 1; y < std::size(parts); ++y) QVERIFY(!parts[x].intersects(parts[y]));
  }

  void bars_of_margins_keep_their_sums() {
    DiffMargins margins;
    for (int i = 0; i < 50; ++i)
      margins.edges.push_back(i + 1), margins.all.push_back(2 * i), margins.first.push_back(1);
    const std::vector<MarginBar> bars = margin_bars(margins, 10);
    QCOMPARE(bars.size(), size_t{10});
    QCOMPARE(bars[1].from, 6.0);
    QCOMPARE(bars[1].all, int64_t{2 * (5 + 6 + 7 + 8 + 9)});
    double of_all = 0, of_first = 0;
    for (const MarginBar& bar : bars) of_all += bar.of_all, of_first += bar.of_first;
    QVERIFY(std::abs(of_all - 1) < 1e-12 && std::abs(of_first - 1) < 1e-12);
  }

  void light_dark_and_twice_as_large_are_drawn() {
    // Tones of the map are those of the theme, at either scale.
    for (const bool dark : {false, true})
      for (const double scale : {1.0, 2.0}) {
        const Theme& theme = dark ? Theme::dim() : Theme::light();
        DiffView view;
        view.resize(1100, 700);
        view.setPalette(theme.palette());
        run_load(view, two_runs(session_));
        DiffPicture& picture = diff_picture_of(view);
        picture.set_chosen({0, 0});
        const QImage image = draw(picture, {1000, 600}, scale);
        const DiffGeometry& g = picture.geometry_now();
        const auto color_at = [&](DiffPlace place) {
          return image.pixelColor((g.square(place).center() * scale).toPoint());
        };
        for (const auto& [place, tone] :
             {std::pair{DiffPlace{1, 3}, 1.0}, {DiffPlace{0, 5}, 0.5}, {DiffPlace{2, 1}, 0.0}})
          QVERIFY2(alike(color_at(place), theme.sequential(tone)), qPrintable(color_at(place).name()));
      }
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<bool>("scored");
    QTest::addColumn<double>("scale");
    QTest::newRow("diff-light") << false << true << 1.0;
    QTest::newRow("diff-dark") << true << true << 1.0;
    QTest::newRow("diff-2x") << false << true << 2.0;
    QTest::newRow("diff-plain") << false << false << 1.0;
  }
  /// The chosen square has a consequence, whose line is faint.
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    QFETCH(bool, scored);
    QFETCH(double, scale);
    // The map's title has the file's name without its folder.
    const std::string session =
        make_planted_session(at(scored ? "golden.storm" : "golden-plain.storm"),
                             scored ? std::vector<PlantedRun>{{.margins = true, .scores = true},
                                                              {.planted = kPlanted, .margins = true, .scores = true}}
                                    : std::vector<PlantedRun>{{}, {kPlanted}});
    DiffView view;
    view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    run_load(view, two_runs(session));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    DiffPicture& picture = diff_picture_of(view);
    picture.set_chosen({2, 3});
    const QString trouble = compare_with_golden(draw(picture, {1000, 620}, scale), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }

  void what_colours_tell_apart_has_colours_of_its_own() {
    for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
      const std::vector<ColorMeaning> meanings = diff_meanings(*theme);
      QCOMPARE(meanings.size(), size_t{4});
      for (size_t x = 0; x < meanings.size(); ++x)
        for (size_t y = x + 1; y < meanings.size(); ++y) QVERIFY(meanings[x].color != meanings[y].color);
    }
  }
};
STORMCELL_TEST(DiffTest)

}  // namespace stormcell::views
#include "diff_test.moc"
