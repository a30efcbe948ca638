// The way of one cell, over the cell spaces that it is in.
#include "core/base/error.h"
#include "core/readings/cells_view.h"
#include "core/readings/session_view.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class CellTrailTest : public QObject {
  Q_OBJECT
 private slots:
  void the_way_of_a_member_begins_with_its_sequence() {
    // Two regions of each picture are sent, of three cells each; those in branch 1 are sent again.
    RunLayout layout;
    layout.spaces = {"region", "cell", "other"};
    layout.routers = {
        {"regions", 2, 1, "top-k", 0, "a"}, {"cells", 4, 1, "top-k", 1, "a"}, {"aside", 2, 1, "top-k", 2, "a"}};
    layout.routers[1].parent = 0, layout.routers[1].parent_branch = 1;
    const QTemporaryDir folder;
    const std::string file = folder.filePath("members.storm").toStdString();
    SessionWriter writer(file, some_model());
    auto run = writer.begin_run(some_run("members", layout));
    BatchRecord batch;
    batch.add_space(0, {10, 2, 2, 0, Phase::forward});
    batch.add_space(1, {10, 2, 6, 0, Phase::forward});
    batch.add_space(2, {10, 2, 6, 0, Phase::forward});
    const std::vector<int32_t> regions = {0, 1, 1, 0}, cells = {0, 1, 2, 3, 2, 1}, rows = {3, 4, 5, 6, 7, 8},
                               aside(12, 1);
    DecisionRecord d[3];
    d[0].choice = regions;
    d[1].choice = cells, d[1].ancestor = rows;
    d[2].choice = aside;
    for (int32_t r = 0; r < 3; ++r) d[r].router = r, batch.add_decision(d[r]);
    run->batch(batch);
    run->finish(RunStatus::finished);
    const SessionReader reader(file);
    for (int32_t row = 0; row < 12; ++row) {
      const CellId cell{0, 10 + row / 6, row % 6, 0, Phase::forward};
      const auto path = reader.cell_path(1, 1, cell);
      const bool inside = row >= 3 && row < 9;
      QCOMPARE(path.size(), inside ? size_t{2} : size_t{1});
      QCOMPARE(path[0].router, 0);
      QCOMPARE(path[0].position, row % 6 / 3);
      QCOMPARE(path[0].choice[0], regions[static_cast<size_t>(row / 3)]);
      if (inside) QCOMPARE(path[1].choice[0], cells[static_cast<size_t>(row - 3)]);
    }
    QCOMPARE(reader.cell_path(1, 0, {0, 10, 1, 0, Phase::forward}).size(), size_t{1});
    // The order in which a person asks: once each, the inner router behind the one that sent its region.
    const auto trail = read_cell_trail(file, 1, {11, 1});
    std::vector<std::string> names;
    for (const CellTrail::Step& step : trail->steps) names.push_back(step.router);
    QCOMPARE(names, (std::vector<std::string>{"regions", "regions", "cells", "aside"}));
    QCOMPARE(trail->steps[2].after, (std::vector<int32_t>{1}));
    QCOMPARE(read_cell_trail(file, 1, {11, 0})->steps.size(), size_t{3});
  }

  // As traces of servers keep it. A cell is found by the position at which a page lists it.
  void a_prompt_that_came_in_parts_keeps_its_positions() {
    RunLayout layout;
    layout.spaces = {"token"};
    layout.routers = {{"experts", 8, 1, "top-k", 0, "a"}};
    const QTemporaryDir folder;
    const std::string file = folder.filePath("parts.storm").toStdString();
    SessionWriter writer(file, some_model());
    auto run = writer.begin_run(some_run("parts", layout));
    const std::pair<CellTable, std::vector<int32_t>> parts[] = {{{0, 1, 3, 0, Phase::prefill}, {0, 1, 2}},
                                                                {{0, 1, 2, 3, Phase::prefill}, {3, 4}},
                                                                {{0, 1, 1, 5, Phase::decode}, {5}}};
    for (int64_t b = 0; b < 3; ++b) {
      BatchRecord batch;
      batch.number = b;
      batch.add_space(0, parts[b].first);
      DecisionRecord d;
      d.choice = parts[b].second;
      batch.add_decision(d);
      run->batch(batch);
    }
    run->finish(RunStatus::finished);
    const auto page = read_cell_page(file, 1, {.space = "token"});
    QCOMPARE(page->lines.at(0).position, (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
    QCOMPARE(page->lines.at(0).routed.at(0).choice, (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
    for (int32_t position = 0; position < 6; ++position) {
      const auto trail = read_cell_trail(file, 1, {0, position});
      QCOMPARE(trail->steps.size(), size_t{1});
      QCOMPARE(trail->steps[0].branches, (std::vector<int32_t>{position}));
    }
  }

  // Prompts of three and of five cells in one batch; two turns add a cell to each behind its own.
  void sequences_that_decode_together_keep_positions_of_their_own() {
    RunLayout layout;
    layout.spaces = {"token"};
    layout.routers = {{"experts", 16, 1, "top-k", 0, "a"}};
    const QTemporaryDir folder;
    const std::string file = folder.filePath("turns.storm").toStdString();
    SessionWriter writer(file, some_model());
    RunStart start = some_run("turns", layout);
    start.inputs = true;
    auto run = writer.begin_run(start);
    const auto record = [&](int64_t number, const CellTable& table, const std::vector<int32_t>& choice,
                            const std::vector<int32_t>& mask) {
      BatchRecord batch;
      batch.number = number;
      std::vector<int32_t> tokens;
      for (const int32_t branch : choice) tokens.push_back(100 + branch);
      batch.add_space(0, table, mask, tokens);
      DecisionRecord d;
      d.choice = choice;
      batch.add_decision(d);
      run->batch(batch);
    };
    record(0, {0, 2, 5, 0, Phase::prefill}, {0, 1, 2, 0, 0, 3, 4, 5, 6, 7}, {1, 1, 1, 0, 0, 1, 1, 1, 1, 1});
    for (int32_t turn = 0; turn < 2; ++turn) {
      const std::vector<int32_t> starts = {3 + turn, 5 + turn};
      CellTable table{0, 2, 1, 0, Phase::decode};
      table.starts = starts;
      record(1 + turn, table, {8 + turn, 10 + turn}, {1, 1});
    }
    // All are at the same position, which is the batch's.
    const std::vector<int32_t> alike = {9, 9};
    CellTable table{0, 2, 1, 0, Phase::decode};
    table.starts = alike;
    record(3, table, {12, 13}, {1, 1});
    run->finish(RunStatus::finished);
    run.reset();
    writer.close();

    const SessionReader reader(file);
    reader.check();
    const BatchSpace turn = reader.spaces(1, 2).at(0), last = reader.spaces(1, 3).at(0);
    QCOMPARE(turn.cells.step, 4);
    QVERIFY(turn.starts && *turn.starts == (std::vector<int32_t>{4, 6}));
    QVERIFY((turn.cells.id(0) == CellId{0, 0, 4, 4, Phase::decode}) &&
            (turn.cells.id(1) == CellId{1, 1, 6, 6, Phase::decode}));
    QVERIFY(!last.starts && last.cells.step == 9 && last.cells.position(1) == 9);
    const auto page = read_cell_page(file, 1, {.space = "token", .count = 2});
    QCOMPARE(page->lines.at(0).position, (std::vector<int32_t>{0, 1, 2, 3, 4, 3, 4, 9}));
    QCOMPARE(page->lines.at(1).position, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 9}));
    const auto branch = [&](int64_t sequence, int32_t position) {
      return reader.cell_path(1, 0, {sequence, sequence, position, position, Phase::decode});
    };
    QCOMPARE(branch(0, 4).at(0).choice.at(0), 9);
    QCOMPARE(branch(1, 6).at(0).choice.at(0), 11);
    QCOMPARE(branch(1, 6).at(0).position, 6);
    QVERIFY(branch(0, 6).empty() && branch(1, 4).empty());
    // The token is the one that stands there, too.
    QCOMPARE(read_cell_trail(file, 1, {1, 6})->token, 111);
    QCOMPARE(read_cell_trail(file, 1, {0, 9})->token, 112);
    try {
      read_cell_trail(file, 1, {0, 11});
      QFAIL("was found");
    } catch (const Error& e) {
      QVERIFY2(std::string(e.what()).find("this sequence has positions 0 to 9;") != std::string::npos, e.what());
    }
  }
};
STORMCELL_TEST(CellTrailTest)
#include "cell_trail_test.moc"
