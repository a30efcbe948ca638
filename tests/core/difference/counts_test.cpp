// Counts of differences, on recordings small enough to be counted by hand.
#include <QTemporaryDir>
#include <nlohmann/json.hpp>

#include "core/difference/difference.h"
#include "core/difference/difference_counter.h"
#include "core/difference/sampled_choices.h"
#include "tests/core/difference/made_recordings.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Two requests of four tokens; token t of request r chooses {0, 1} at each of three layers.
MadeRecording eight_cells() {
  MadeRecording made;
  made.branches = 8;
  for (int32_t r = 0; r < 2; ++r)
    for (int32_t p = 0; p < 4; ++p)
      made.cells.push_back({r, p, 0, 10 * r + p, 1, std::vector<MadeChoice>(3, {{0, 1}, {.5f, .5f}, {}, 1})});
  return made;
}

}  // namespace

class DifferenceCountsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  DifferenceFigures diff(const MadeRecording& a, const MadeRecording& b, const MadeParts& parts_a = {},
                         const MadeParts& parts_b = {}) {
    const std::string path_a = folder_.filePath("a.safetensors").toStdString(),
                      path_b = folder_.filePath("b.safetensors").toStdString();
    a.write(path_a, parts_a), b.write(path_b, parts_b);
    return diff_recordings({path_a, path_b});
  }

 private slots:
  void equal_recordings_agree() {
    const DifferenceFigures f = diff(eight_cells(), eight_cells());
    QCOMPARE(f.matched_requests, int64_t{2});
    QCOMPARE(f.matched_cells, int64_t{8});
    QCOMPARE(f.compared, int64_t{24});
    QCOMPARE(f.differing, int64_t{0});
    QVERIFY(f.verdict.cause == "agree" && f.sequences.empty() && f.weights && f.weights->median_difference == 0);
    QCOMPARE(*f.layers[0].share, 0.0);
    QVERIFY((*f.layers[0].share_ci95)[0] == 0 && (*f.layers[0].share_ci95)[1] > .1);
  }

  void a_later_layer_of_a_cell_that_differs_is_a_consequence() {
    MadeRecording b = eight_cells();
    b.cells[2].layers[1].ids = {0, 5};  // request 0, position 2
    b.cells[2].layers[2].ids = {6, 7};
    b.cells[7].layers[2].ids = {1, 4};  // request 1, position 3
    const DifferenceFigures f = diff(eight_cells(), b);
    QCOMPARE(f.differing, int64_t{3});
    QCOMPARE(f.origins, int64_t{2});
    QCOMPARE(f.consequences, int64_t{1});
    QCOMPARE(f.differing_cells, int64_t{2});
    QCOMPARE(f.layers[1].first_here, int64_t{1});
    QCOMPARE(f.layers[2].differing, int64_t{2});
    QCOMPARE(f.layers[2].first_here, int64_t{1});
    QVERIFY(std::abs(*f.layers[2].agreement - (6 + 0 + .5) / 8) < 1e-12);
    QCOMPARE(f.sequences.size(), size_t{2});
    QVERIFY(f.sequences[0].request == 0 && f.sequences[0].position == 2 && f.sequences[0].router == "layer.1");
    QVERIFY(f.sequences[1].request == 1 && f.sequences[1].position == 3 && f.sequences[1].router == "layer.2");
    // Position groups are single positions here.
    QCOMPARE(f.position_width, 1);
    QCOMPARE(f.layers[2].positions.size(), size_t{4});
    QVERIFY(f.layers[2].positions[2].differing == 1 && f.layers[2].positions[0].differing == 0 &&
            f.layers[2].positions[3].cells == 2);
  }

  void branches_gain_and_lose() {
    MadeRecording b = eight_cells();
    for (size_t c = 0; c < 3; ++c) b.cells[c].layers[0].ids = {0, 6};
    const DifferenceFigures f = diff(eight_cells(), b);
    QCOMPARE(f.layers[0].branches.size(), size_t{2});
    for (const DiffBranch& branch : f.layers[0].branches)
      QVERIFY((branch.branch == 6 && branch.gained == 3 && branch.lost == 0) ||
              (branch.branch == 1 && branch.gained == 0 && branch.lost == 3));
    QVERIFY(f.layers[1].branches.empty());
  }

  void order_and_weights_are_apart_from_sets() {
    MadeRecording b = eight_cells();
    for (auto& cell : b.cells) cell.layers[0].ids = {1, 0}, cell.layers[0].weights = {.4f, .6f};
    const DifferenceFigures f = diff(eight_cells(), b);
    QCOMPARE(f.differing, int64_t{0});
    QCOMPARE(f.layers[0].reordered, int64_t{8});
    QCOMPARE(f.layers[1].reordered, int64_t{0});
    QCOMPARE(f.weights->compared, int64_t{24});
    QVERIFY(diff(eight_cells(), b, {.weights = false}).weights == std::nullopt);
  }

  void margins_tell_near_ties() {
    const auto with_margins = [](double of_differing) {
      MadeRecording made = eight_cells();
      for (auto& cell : made.cells)
        for (MadeChoice& choice : cell.layers) choice.margin = 1;
      made.cells[5].layers[1].ids = {0, 2};
      made.cells[5].layers[1].margin = static_cast<float>(of_differing);
      return made;
    };
    const DifferenceFigures tie = diff(eight_cells(), with_margins(.01)), none = diff(eight_cells(), with_margins(.9));
    QVERIFY(tie.near_ties == 1 && tie.verdict.cause == "agree");
    QVERIFY2(tie.verdict.evidence.find("these recordings agree but for near ties") == 0, tie.verdict.evidence.c_str());
    QVERIFY(none.near_ties == 0 && none.verdict.cause == "unlike");
    QVERIFY(tie.margins && *tie.layers[1].margin > .5 && *tie.layers[1].margin_first < .02);
    // Margins of either side serve.
    MadeRecording a = with_margins(.01);
    a.cells[5].layers[1].ids = {0, 1};
    QVERIFY(diff(a, with_margins(.9), {}, {.margins = false}).near_ties == 1);
    QVERIFY(!diff(a, with_margins(.9), {.margins = false}, {.margins = false}).near_ties);
    QVERIFY(!diff(a, with_margins(.9), {.margins = false}, {.margins = false}).margins);
  }

  void cells_of_one_request_are_not_taken_for_independent() {
    MadeRecording a, b;
    a.branches = 8;
    for (int32_t r = 0; r < 20; ++r)
      for (int32_t p = 0; p < 100; ++p) a.cells.push_back({r, p, 0, 0, 1, {{{0, 1}, {.5f, .5f}, {}, 1}}});
    b = a;
    for (auto& cell : b.cells)
      if (cell.request < 5) cell.layers[0].ids = {0, 2};
    const auto ci = *diff(a, b).layers[0].share_ci95;
    // A quarter of 20 requests: 0.06 to 0.44 and not 0.23 to 0.27.
    QVERIFY2(ci[0] < .1 && ci[1] > .4, (std::to_string(ci[0]) + " " + std::to_string(ci[1])).c_str());
  }

  void padding_is_left_out() {
    MadeRecording a = eight_cells(), b = eight_cells();
    a.cells[3].real = 0, b.cells[3].real = 0;
    b.cells[3].layers[0].ids = {4, 5};
    const DifferenceFigures f = diff(a, b, {.real = true}, {.real = true});
    QVERIFY(f.matched_cells == 7 && f.differing == 0);
    const DifferenceFigures recorded = diff(a, b, {.real = true});
    QCOMPARE(recorded.verdict.cause, std::string("padding-recorded"));
    QCOMPARE(recorded.cells_of_padding, int64_t{1});
  }

  void requests_are_matched_by_tokens() {
    MadeRecording b = eight_cells();
    for (auto& cell : b.cells) cell.request += 7;
    const DifferenceFigures moved = diff(eight_cells(), b, {.tokens = true}, {.tokens = true});
    QVERIFY(moved.by_tokens && moved.renumbered == 2 && moved.exchanged == 0 && moved.verdict.cause == "agree");
    for (auto& cell : b.cells) cell.request = 8 - cell.request;  // 1 and 0
    const DifferenceFigures exchanged = diff(eight_cells(), b, {.tokens = true}, {.tokens = true});
    QVERIFY(exchanged.exchanged == 2 && exchanged.differing == 0);
    QCOMPARE(exchanged.verdict.cause, std::string("requests-exchanged"));
  }

  void layers_are_paired_by_their_numbers() {
    MadeRecording a = eight_cells(), b = eight_cells();
    a.layer_numbers = {1, 2, 3}, b.layer_numbers = {2, 3, 4};
    for (auto& cell : a.cells)
      for (int32_t l = 0; l < 3; ++l) cell.layers[l].ids = {l + 1, 7};
    for (auto& cell : b.cells)
      for (int32_t l = 0; l < 3; ++l) cell.layers[l].ids = {l + 2, 7};
    const DifferenceFigures f = diff(a, b);
    QCOMPARE(f.layers.size(), size_t{2});
    QVERIFY(f.differing == 0 && f.layers[0].layer == 2 && f.warnings.size() == 2);
  }

  void bins_of_margins_have_quantiles() {
    MarginBins bins;
    for (int i = 1; i <= 100; ++i) bins.add(i <= 50 ? .001 : 1);
    bins.add(std::nan(""));
    QCOMPARE(bins.total(), int64_t{100});
    QVERIFY(bins.quantile(.5) > .001 && bins.quantile(.5) < .0013 && bins.quantile(.51) > 1);
    QVERIFY(bins.up_to(.01) == 50 && bins.up_to(.0001) == 0 && bins.up_to(2) == 100);
  }

  void positions_fall_into_at_most_64_groups() {
    QVERIFY(PositionGroups(4).width == 1 && PositionGroups(4).groups == 4);
    QVERIFY(PositionGroups(64).width == 1 && PositionGroups(65).width == 2 && PositionGroups(65).groups == 33);
    QCOMPARE(PositionGroups(1000).group(999), PositionGroups(1000).groups - 1);
  }

  void a_sample_holds_the_same_cells_on_both_sides() {
    const CellSample tenth(.1);
    int64_t held = 0;
    for (int32_t r = 0; r < 100; ++r)
      for (int32_t p = 0; p < 100; ++p) held += tenth.holds(r, p);
    QVERIFY2(held > 850 && held < 1150, std::to_string(held).c_str());
    QVERIFY(CellSample(1).holds(5, 5) && !CellSample(0).holds(5, 5));
  }

  void json_has_the_keys_of_the_contract() {
    MadeRecording b = eight_cells();
    b.cells[2].layers[1].ids = {0, 5};
    const auto json = nlohmann::json::parse(to_json(diff(eight_cells(), b)));
    QVERIFY(json["schema"] == "stormcell.diff/1" && json["matched_cells"] == 8);
    for (const char* key : {"router", "cells", "differing", "share", "share_ci95", "first_here"})
      QVERIFY2(json["layers"][1].contains(key), key);
    for (const char* key : {"request", "first_position", "first_router"})
      QVERIFY2(json["sequences"][0].contains(key), key);
    for (const char* key : {"near_ties", "consequences", "origins"}) QVERIFY2(json["explained"].contains(key), key);
    for (const char* key : {"cause", "confidence", "evidence", "next", "also", "cannot_be_told", "record"})
      QVERIFY2(json["verdict"].contains(key), key);
  }
};

STORMCELL_TEST(DifferenceCountsTest)

}  // namespace stormcell::testing

#include "counts_test.moc"
