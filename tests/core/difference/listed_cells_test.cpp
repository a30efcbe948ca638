// Cells that the figures name one by one: which they are, their tokens, and the choices of both recordings.
#include <QTemporaryDir>
#include <cmath>

#include "core/difference/difference.h"
#include "tests/core/difference/made_recordings.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Three requests of six tokens; token p of request r is number 6 r + p, and chooses {0, 1} at both layers.
MadeRecording eighteen_cells() {
  MadeRecording made;
  made.branches = 8;
  for (int32_t r = 0; r < 3; ++r)
    for (int32_t p = 0; p < 6; ++p)
      made.cells.push_back({r, p, 0, 6 * r + p, 1, std::vector<MadeChoice>(2, {{0, 1}, {.5f, .5f}, {}, 1})});
  for (int32_t token = 0; token < 18; ++token) made.pieces.push_back("piece " + std::to_string(token));
  return made;
}
constexpr MadeParts kWithTokens = {.tokens = true};

}  // namespace

class DifferenceListedCellsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  DifferenceFigures diff(const MadeRecording& a, const MadeRecording& b, int32_t each, const MadeParts& parts_a,
                         const MadeParts& parts_b) {
    const std::string path_a = folder_.filePath("a.safetensors").toStdString(),
                      path_b = folder_.filePath("b.safetensors").toStdString();
    a.write(path_a, parts_a), b.write(path_b, parts_b);
    return diff_recordings({path_a, path_b, each});
  }

 private slots:
  void a_cell_that_differs_is_listed_with_both_choices_and_its_token() {
    MadeRecording b = eighteen_cells();
    b.cells[8].layers[0].ids = {5, 0};  // request 1, position 2
    b.cells[8].layers[1].ids = {2, 3};
    b.cells[8].layers[1].margin = .25f;
    const DifferenceFigures f = diff(eighteen_cells(), b, 4, kWithTokens, kWithTokens);
    QCOMPARE(f.samples.size(), size_t{2});
    const DiffSample &first = f.samples[0], &then = f.samples[1];
    QVERIFY(first.layer == 0 && first.group == 2 && first.request == 1 && first.position == 2);
    QVERIFY((first.a == std::vector<int32_t>{0, 1} && first.b == std::vector<int32_t>{5, 0}));
    QVERIFY(first.token == 8 && first.text == "piece 8" && !first.consequence);
    QVERIFY(then.layer == 1 && then.request == 1 && then.position == 2 && then.consequence);
    QVERIFY((then.b == std::vector<int32_t>{2, 3}));
    QVERIFY(first.margin == 1.0 && then.margin == .25);
    QCOMPARE(f.sequences.size(), size_t{1});
    QVERIFY(f.sequences[0].token == 8 && f.sequences[0].text == "piece 8");
  }

  /// Scores of a branch b are b / 8, of the other side twice as much.
  void scores_of_both_sides_are_beside_the_choices() {
    const auto with_scores = [](MadeRecording made, float times) {
      for (auto& cell : made.cells)
        for (MadeChoice& layer : cell.layers) {
          layer.scores.clear();
          for (int32_t b = 0; b < 8; ++b)
            layer.scores.push_back(times * static_cast<float>(b) / 8 + static_cast<float>(cell.position));
        }
      return made;
    };
    MadeRecording changed = eighteen_cells();
    changed.cells[8].layers[0].ids = {5, 0};   // request 1, position 2
    changed.cells[15].layers[1].ids = {3, 4};  // request 2, position 3
    const MadeRecording a = with_scores(eighteen_cells(), 1), b = with_scores(changed, 2);
    constexpr MadeParts kScores = {.scores = true};
    const DifferenceFigures f = diff(a, b, 4, kScores, kScores);
    QCOMPARE(f.samples.size(), size_t{2});
    QVERIFY((f.samples[0].either() == std::vector<int32_t>{0, 1, 5}));
    QVERIFY((f.samples[0].scores_a == std::vector<float>{2, 2.125F, 2.625F}));
    QVERIFY((f.samples[0].scores_b == std::vector<float>{2, 2.25F, 3.25F}));
    QVERIFY((f.samples[1].either() == std::vector<int32_t>{0, 1, 3, 4}));
    QVERIFY((f.samples[1].scores_a == std::vector<float>{3, 3.125F, 3.375F, 3.5F}));
    QVERIFY((f.samples[1].scores_b == std::vector<float>{3, 3.25F, 3.75F, 4}));
    // A side without scores has none; nothing is listed where nothing was asked for.
    const DifferenceFigures one = diff(a, b, 4, {}, kScores), other = diff(a, b, 4, kScores, {});
    QVERIFY(one.samples[0].scores_a.empty() && one.samples[0].scores_b == f.samples[0].scores_b);
    QVERIFY(other.samples[0].scores_b.empty() && other.samples[0].scores_a == f.samples[0].scores_a);
    QVERIFY(diff(a, b, 0, kScores, kScores).samples.empty());
  }

  void as_many_cells_are_listed_as_were_asked_for() {
    MadeRecording b = eighteen_cells();
    for (auto& cell : b.cells)
      if (cell.position == 4) cell.layers[1].ids = {0, 7};
    for (const auto& [each, listed] : {std::pair{0, 0}, {2, 2}, {3, 3}, {50, 3}}) {
      const DifferenceFigures f = diff(eighteen_cells(), b, each, {}, {});
      QCOMPARE(f.samples.size(), static_cast<size_t>(listed));
      QCOMPARE(f.layers[1].positions[4].differing, int64_t{3});
      for (const DiffSample& sample : f.samples) QVERIFY(sample.layer == 1 && sample.group == 4 && sample.token == -1);
    }
  }

  void listed_cells_ascend_whatever_their_order_in_the_recording() {
    MadeRecording b = eighteen_cells();
    for (auto& cell : b.cells) cell.layers[1].ids = {0, 7};
    std::reverse(b.cells.begin(), b.cells.end());
    const DifferenceFigures f = diff(eighteen_cells(), b, 8, {}, {});
    QCOMPARE(f.samples.size(), size_t{18});
    for (int32_t i = 0; i < 18; ++i)
      QVERIFY(f.samples[i].group == i / 3 && f.samples[i].position == i / 3 && f.samples[i].request == i % 3);
  }

  void a_group_of_positions_lists_cells_of_all_of_them() {
    MadeRecording a;
    a.branches = 8;
    for (int32_t p = 0; p < 100; ++p) a.cells.push_back({0, p, 0, p, 1, {{{0, 1}, {.5f, .5f}, {}, 1}}});
    MadeRecording b = a;
    for (const int32_t p : {10, 11, 13}) b.cells[p].layers[0].ids = {0, 3};
    const DifferenceFigures f = diff(a, b, 8, {}, {});
    QCOMPARE(f.position_width, 2);
    QCOMPARE(f.samples.size(), size_t{3});
    QVERIFY(f.samples[0].group == 5 && f.samples[0].position == 10 && f.samples[1].position == 11);
    QVERIFY(f.samples[2].group == 6 && f.samples[2].position == 13);
  }

  void tokens_of_one_recording_do() {
    MadeRecording b = eighteen_cells();
    b.cells[8].layers[0].ids = {5, 0};
    for (const auto& [in_a, in_b] : {std::pair{kWithTokens, MadeParts{}}, {MadeParts{}, kWithTokens}}) {
      const DifferenceFigures f = diff(eighteen_cells(), b, 4, in_a, in_b);
      QVERIFY(f.samples.size() == 1 && f.samples[0].token == 8 && f.samples[0].text == "piece 8");
    }
    MadeRecording a = eighteen_cells();
    a.pieces.clear(), b.pieces.clear();
    const DifferenceFigures f = diff(a, b, 4, kWithTokens, kWithTokens);
    QVERIFY(f.samples[0].token == 8 && f.samples[0].text.empty());
  }

  void the_way_to_record_margins_is_named_where_there_are_none() {
    MadeRecording b = eighteen_cells();
    b.cells[8].layers[0].ids = {5, 0};
    const MadeParts none = {.margins = false};
    const DifferenceFigures f = diff(eighteen_cells(), b, 4, none, none);
    QVERIFY(!f.margins && !f.samples[0].margin);
    QVERIFY2(f.record_margins.find("profile --record-scores") != std::string::npos, f.record_margins.c_str());
    const DifferenceFigures with = diff(eighteen_cells(), b, 4, {}, none);
    QVERIFY(with.record_margins.empty() && with.samples[0].margin);
  }
};

STORMCELL_TEST(DifferenceListedCellsTest)

}  // namespace stormcell::testing

#include "listed_cells_test.moc"
