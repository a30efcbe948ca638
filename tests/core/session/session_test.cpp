// A session reads back what was recorded.
#include <cmath>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/profile/layout_edges.h"
#include "core/profile/statistics.h"
#include "core/session/session_reader.h"
#include "core/session/session_writer.h"
#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {
using namespace testing;
}  // namespace

class SessionTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void pieces_of_recorded_tokens_are_kept_and_only_those() {
    const std::string path = at("pieces.storm");
    SessionWriter writer(path, some_model());
    RunStart start = some_run();
    const auto piece = [](int32_t token) { return token == 7 ? std::string() : "p" + std::to_string(token); };
    start.piece = piece;
    auto without = writer.begin_run(start);  // inputs are not recorded
    record_batches(*without, start.layout, 0, 5);
    without->finish(RunStatus::finished);
    QVERIFY(!SessionReader(path).has_pieces());
    start.inputs = true;
    auto run = writer.begin_run(start);
    record_batches(*run, start.layout, 0, 5);
    run->finish(RunStatus::finished);
    const SessionReader reader(path);
    QVERIFY(reader.has_pieces());
    std::set<int32_t> tokens;
    for (int64_t b = 0; b < 5; ++b)
      for (const BatchSpace& s : reader.spaces(2, b)) tokens.insert(s.tokens.begin(), s.tokens.end());
    const std::vector<int32_t> asked(tokens.begin(), tokens.end());
    const auto pieces = reader.pieces(asked);
    for (const int32_t t : tokens)
      QVERIFY(pieces.contains(t) == !piece(t).empty() && (t == 7 || pieces.at(t) == piece(t)));
    QVERIFY(reader.pieces(std::vector<int32_t>{1000, -1}).empty());
    without.reset(), run.reset();
  }

  void sequences_and_their_batches_are_found() {
    const SessionReader reader(make_session(at("sequences.storm"), 6));  // four sequences a batch
    QCOMPARE(reader.sequences(1), int64_t{24});
    QCOMPARE(reader.batches_with(1, {0, 1}, 100), (std::vector<int64_t>{0}));
    QCOMPARE(reader.batches_with(1, {3, 9}, 100), (std::vector<int64_t>{0, 1, 2}));
    QCOMPARE(reader.batches_with(1, {3, 9}, 2), (std::vector<int64_t>{0, 1}));
    QCOMPARE(reader.batches_with(1, {23, 123}, 100), (std::vector<int64_t>{5}));
    QCOMPARE(reader.sequences(99), int64_t{0});
    QVERIFY(reader.batches_with(99, {0, 5}, 5).empty());
  }

  void every_decision_comes_back() {
    const std::string path = at("decisions.storm");
    const RunLayout layout = two_stacks();
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, layout, 0, 40, {}, true);
    run->finish(RunStatus::finished);
    run.reset();
    QVERIFY(writer.close());
    const SessionReader reader(path);
    for (int64_t i = 0; i < 40; ++i) {
      BatchRecord batch;
      fill(layout, i, {}, batch, true);
      for (size_t d = 0; d < batch.decisions(); ++d) {
        const auto stored = reader.decision(1, static_cast<int32_t>(d), i);
        QVERIFY(stored.has_value());
        QCOMPARE(difference(*stored, batch.decision(d)), std::string());
      }
      QCOMPARE(reader.events(1, i), batch.events);
      const auto spaces = reader.spaces(1, i);
      QCOMPARE(spaces.size(), size_t{2});
      for (size_t s = 0; s < 2; ++s) {
        const SpaceRecord space = batch.space(s);
        QCOMPARE(spaces[s].cells.first_sequence, space.cells.first_sequence);
        QCOMPARE(spaces[s].cells.cells(), space.cells.cells());
        QVERIFY(std::equal(spaces[s].mask.begin(), spaces[s].mask.end(), space.mask.begin(), space.mask.end()));
        QCOMPARE(spaces[s].real_cells, int64_t{std::count(space.mask.begin(), space.mask.end(), 1)});
        QVERIFY(spaces[s].tokens.empty());  // inputs were not asked for
      }
    }
    QVERIFY(!reader.decision(1, 0, 40).has_value());
    QVERIFY(reader.has_decisions(1));
    const auto batches = reader.batches(1, {10, 15});
    QCOMPARE(batches.size(), size_t{5});
    QCOMPARE(batches[4].number, int64_t{14});
    QCOMPARE(batches[4].first_sequence, int64_t{56});
    QCOMPARE(batches[4].sequences, 4);
    QCOMPARE(batches[4].guard_misses, int64_t{1});
    QCOMPARE(batches[4].latency_ms, 5.0);
    const auto guards = reader.guards(1);
    QCOMPARE(guards.size(), size_t{1});
    QCOMPARE(guards[0].hits, int64_t{120});
    QCOMPARE(guards[0].misses, int64_t{6});
  }

  void windows_of_every_level_are_sums_of_batches_data() {
    QTest::addColumn<bool>("finished");
    QTest::newRow("finished") << true;
    QTest::newRow("while it is written") << false;
  }
  void windows_of_every_level_are_sums_of_batches() {
    QFETCH(bool, finished);
    const std::string path = at(finished ? "windows.storm" : "open.storm");
    const RunLayout layout = two_stacks();
    const int64_t batches = 1100;
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, layout, 0, batches, {2, 4});
    if (finished) {
      run->finish(RunStatus::finished);
      run.reset();
      writer.close();
    }
    {
      const SessionReader reader(path);
      QVERIFY(reader.run(1).status == (finished ? RunStatus::finished : RunStatus::running));
      const auto levels = reader.levels(1);
      QCOMPARE(levels.size(), size_t{3});  // 1100, 275, 69
      QCOMPARE(levels[2].windows, int64_t{69});
      for (int32_t r = 0; r < 5; ++r) {
        const auto fine = reader.loads(1, r, 0, {0, batches});
        QCOMPARE(fine.size(), static_cast<size_t>(batches));
        RouterLoads all(layout.routers[static_cast<size_t>(r)].branches);
        for (const auto& one : fine) all.add(one);
        for (int32_t level = 1; level < 3; ++level) {
          const auto windows = reader.loads(1, r, level, {0, 1 << 20});
          QCOMPARE(windows.size(), static_cast<size_t>(levels[static_cast<size_t>(level)].windows));
          for (size_t w = 0; w < windows.size(); ++w) {
            RouterLoads sum(all.branches());
            const auto size = size_t{1} << (2 * level);
            for (size_t i = w * size; i < std::min(fine.size(), (w + 1) * size); ++i) sum.add(fine[i]);
            QCOMPARE(windows[w].load, sum.load);
            QCOMPARE(windows[w].padding, sum.padding);
            QCOMPARE(windows[w].dropped, sum.dropped);
            QCOMPARE(windows[w].cells, sum.cells);
            QCOMPARE(windows[w].batches, sum.batches);
            for (size_t b = 0; b < sum.weight.size(); ++b)
              QVERIFY(std::fabs(windows[w].weight[b] - sum.weight[b]) <= 1e-5 * (1 + sum.weight[b]));
          }
        }
        const RouterLoads total = reader.total_loads(1, r);
        QCOMPARE(total.load, all.load);
        QCOMPARE(total.cells, all.cells);
        QCOMPARE(total.batches, batches);
        // A part of a level is that part of all of it.
        const auto part = reader.loads(1, r, 1, {100, 107}), whole = reader.loads(1, r, 1, {0, 300});
        QVERIFY(std::equal(part.begin(), part.end(), whole.begin() + 100));
        QCOMPARE(reader.loads(1, r, 1, {270, 320}).size(), size_t{5});
      }
      QVERIFY_THROWS_EXCEPTION(Error, reader.loads(1, 0, 3, {0, 1}));
      QVERIFY_THROWS_EXCEPTION(Error, reader.loads(1, 9, 0, {0, 1}));
    }
  }

  void transitions_of_any_range_agree_with_a_count_of_its_decisions_data() {
    QTest::addColumn<bool>("finished");
    QTest::newRow("finished") << true;
    QTest::newRow("while it is written") << false;
  }
  void transitions_of_any_range_agree_with_a_count_of_its_decisions() {
    QFETCH(bool, finished);
    const std::string path = at(finished ? "pairs.storm" : "open-pairs.storm");
    const RunLayout layout = two_stacks();
    const int64_t batches = 150;
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, layout, 0, batches);
    if (finished) run->finish(RunStatus::finished);
    std::vector<BatchRecord> all(static_cast<size_t>(batches));
    for (int64_t i = 0; i < batches; ++i) fill(layout, i, {}, all[static_cast<size_t>(i)]);
    const SessionReader reader(path);
    QCOMPARE(reader.layout(1).edges, layout.edges);
    std::vector<int32_t> scratch;
    for (const auto& [first, count] :
         {std::pair{0, 150}, {0, 16}, {16, 64}, {5, 1}, {3, 140}, {64, 86}, {149, 1}, {149, 9}, {0, 0}, {200, 5}}) {
      // Router 2 has two next ones: the router nested in branch 1, and for the other branches the one behind it.
      PairCounter inner(8, 3), past(8, 10), pairs(8, 8);
      for (int64_t i = first; i < std::min<int64_t>(batches, first + count); ++i) {
        const BatchRecord& batch = all[static_cast<size_t>(i)];
        const std::vector<uint8_t> only_one = {0, 1, 0, 0, 0, 0, 0, 0}, others = {1, 0, 1, 1, 1, 1, 1, 1};
        add_transitions({batch.decision(2), 2}, {batch.decision(3), 1}, only_one, batch.space(1).mask, scratch, inner);
        add_transitions({batch.decision(2), 2}, {batch.decision(4), 2}, others, batch.space(1).mask, scratch, past);
        add_coactivation({batch.decision(2), 2}, batch.space(1).mask, pairs);
      }
      QCOMPARE(reader.transitions(1, 2, 3, {first, first + count}).entries, inner.take().entries);
      QCOMPARE(reader.transitions(1, 2, 4, {first, first + count}).entries, past.take().entries);
      QCOMPARE(reader.coactivation(1, 2, {first, first + count}).entries, pairs.take().entries);
    }
    QVERIFY(reader.transitions(1, 1, 2, {0, 10}).entries.empty());
    QVERIFY(reader.coactivation(1, 0, {0, 10}).entries.empty());
  }

  void the_way_of_one_cell_is_what_its_decisions_say() {
    const std::string path = make_session(at("path.storm"), 9);
    const RunLayout layout = two_stacks();
    const SessionReader reader(path);
    for (const CellId cell : {CellId{0, 0, 0, 0, Phase::forward}, CellId{0, 13, 7, 0, Phase::forward},
                              CellId{0, 35, 11, 0, Phase::forward}}) {
      BatchRecord batch;
      fill(layout, cell.sequence / 4, {}, batch);
      const int64_t row = cell.sequence % 4 * 12 + cell.position;
      for (const int32_t space : {0, 1}) {
        std::vector<PathStep> expected;
        for (size_t r = 0; r < layout.routers.size(); ++r) {
          if (layout.routers[r].space != space) continue;
          const DecisionRecord d = batch.decision(r);
          int64_t at = row;
          if (!d.ancestor.empty()) {
            const auto found = std::find(d.ancestor.begin(), d.ancestor.end(), row);
            if (found == d.ancestor.end()) continue;
            at = found - d.ancestor.begin();
          }
          const auto k = static_cast<size_t>(layout.routers[r].fan_out);
          const auto choice = d.choice.subspan(static_cast<size_t>(at) * k, k);
          expected.push_back({batch.number, static_cast<int32_t>(r), {choice.begin(), choice.end()}, {}});
        }
        const auto path_of_cell = reader.cell_path(1, space, cell);
        QCOMPARE(path_of_cell.size(), expected.size());
        for (size_t i = 0; i < expected.size(); ++i) {
          QCOMPARE(path_of_cell[i].router, expected[i].router);
          QCOMPARE(path_of_cell[i].batch, expected[i].batch);
          QCOMPARE(path_of_cell[i].choice, expected[i].choice);
          QCOMPARE(path_of_cell[i].weight.size(), expected[i].choice.size());
        }
      }
    }
    QVERIFY(reader.cell_path(1, 0, {0, 36, 0, 0, Phase::forward}).empty());
    QVERIFY(reader.cell_path(1, 0, {0, 3, 12, 0, Phase::forward}).empty());
    QVERIFY(reader.cell_path(1, 0, {0, 3, 1, 1, Phase::decode}).empty());
  }

  void a_decoded_cell_is_found_by_its_step() {
    RunLayout layout;
    layout.spaces = {"decoder"};
    layout.routers = {{"r", 4, 1, "top-k", 0, "decoder"}};
    SessionWriter writer(at("decode.storm"), some_model());
    auto run = writer.begin_run(some_run("decode", layout));
    BatchRecord batch;
    for (int32_t step = 0; step < 6; ++step) {
      batch.clear();
      batch.number = step;
      batch.add_space(0, {10, 3, 1, step, Phase::decode});
      const std::vector<int32_t> choice = {step % 4, (step + 1) % 4, (step + 2) % 4};
      DecisionRecord d;
      d.choice = choice;
      batch.add_decision(d);
      run->batch(batch);
    }
    run->commit();
    const SessionReader reader(at("decode.storm"));
    const auto path = reader.cell_path(1, 0, {0, 12, 5, 5, Phase::decode});
    QCOMPARE(path.size(), size_t{1});
    QCOMPARE(path[0].batch, int64_t{5});
    QCOMPARE(path[0].choice, (std::vector<int32_t>{3}));
  }

  void batches_of_any_items_are_found_by_item() {
    RunLayout layout;
    layout.spaces = {"token"};
    layout.routers = {{"r", 4, 1, "top-k", 0, "token"}};
    SessionWriter writer(at("items.storm"), some_model());
    auto run = writer.begin_run(some_run("items", layout));
    // Batches of like lengths; the second holds items on both sides of the first's. A third is of consecutive ones.
    const std::vector<std::vector<int64_t>> lists = {{7, 3, 12}, {0, 40, 5}, {}};
    for (size_t number = 0; number < lists.size(); ++number) {
      BatchRecord batch;
      batch.number = static_cast<int64_t>(number);
      batch.part = static_cast<uint8_t>(number == 0 ? kProfiled : kMeasured);
      batch.set_items(lists[number]);
      CellTable cells{20, 3, 4, 0, Phase::forward};
      cells.columns = 2;
      batch.add_space(0, cells);
      std::vector<int32_t> choice(12);
      for (size_t c = 0; c < choice.size(); ++c) choice[c] = static_cast<int32_t>((c + number) % 4);
      DecisionRecord d;
      d.choice = choice;
      batch.add_decision(d);
      for (const char* label : {"de", "fr", "it"}) batch.add_sequence(label);
      run->batch(batch);
    }
    run->finish(RunStatus::finished);
    const SessionReader reader(at("items.storm"));
    const auto list = reader.spaces(1, 1);
    QCOMPARE(*list[0].items, lists[1]);
    QCOMPARE(list[0].cells.columns, 2);
    QVERIFY((list[0].cells.id(5) == CellId{40, 40, 1, 0, Phase::forward}));
    QVERIFY(!reader.spaces(1, 2)[0].items);
    QCOMPARE(reader.sequences(1), int64_t{41});
    QCOMPARE(reader.batches_with(1, {3, 6}, 100), (std::vector<int64_t>{0, 1}));
    QCOMPARE(reader.batches_with(1, {0, 41}, 100), (std::vector<int64_t>{0, 1, 2}));
    QCOMPARE(reader.batches_with(1, {22, 23}, 100), (std::vector<int64_t>{2}));
    const auto path = reader.cell_path(1, 0, {0, 40, 1, 0, Phase::forward});
    QCOMPARE(path.size(), size_t{1});
    QCOMPARE(path[0].batch, int64_t{1});
    QCOMPARE(path[0].choice, (std::vector<int32_t>{2}));  // row 5 of batch 1
    QVERIFY(reader.cell_path(1, 0, {0, 1, 0, 0, Phase::forward}).empty());
    std::map<int64_t, std::string> labels;
    for (const SequenceInput& input : reader.inputs(1, {0, 100})) labels[input.sequence] = input.label;
    QCOMPARE(
        labels,
        (std::map<int64_t, std::string>{
            {0, "de"}, {3, "fr"}, {5, "it"}, {7, "de"}, {12, "it"}, {20, "de"}, {21, "fr"}, {22, "it"}, {40, "fr"}}));
    const auto batches = reader.batches(1, {0, 3});
    QVERIFY(batches[0].part == kProfiled && batches[1].part == kMeasured && batches[0].listed && !batches[2].listed);
    QVERIFY(batches[0].first_sequence == 3 && batches[0].sequences == 3 && batches[2].first_sequence == 20);
  }

  void batches_are_found_by_phase() {
    RunLayout layout;
    layout.spaces = {"a", "b"};
    layout.routers = {{"r", 4, 1, "top-k", 0, "a"}};
    SessionWriter writer(at("phases.storm"), some_model());
    auto run = writer.begin_run(some_run("phases", layout));
    for (int64_t number = 0; number < 9; ++number) {
      BatchRecord batch;
      batch.number = number;
      batch.add_space(0, {0, 1, 2, 0, number % 3 == 0 ? Phase::prefill : Phase::decode});
      batch.add_space(1, {0, 1, 2, 0, Phase::decode});
      run->batch(batch);
    }
    run->finish(RunStatus::finished);
    const SessionReader reader(at("phases.storm"));
    QCOMPARE(reader.phases(1), (std::vector<Phase>{Phase::prefill, Phase::decode}));
    std::vector<std::pair<int64_t, int32_t>> found;
    for (const SpaceOfBatch& s : reader.batches_of_phase(1, Phase::decode, {2, 5}))
      found.emplace_back(s.batch, s.space);
    QCOMPARE(found, (std::vector<std::pair<int64_t, int32_t>>{{2, 0}, {2, 1}, {3, 1}, {4, 0}, {4, 1}}));
    QVERIFY(reader.batches_of_phase(1, Phase::forward, {0, 9}).empty());
  }

  void loads_by_label_and_token_agree_with_the_decisions() {
    const std::string path = make_session(at("labels.storm"), 30);
    const RunLayout layout = two_stacks();
    std::map<std::string, std::vector<int64_t>> labels;
    std::map<int32_t, std::vector<int64_t>> tokens;
    std::map<int32_t, int64_t> token_cells;
    for (int64_t i = 0; i < 30; ++i) {
      BatchRecord batch;
      fill(layout, i, {}, batch);
      const SpaceRecord space = batch.space(0);
      const DecisionRecord d = batch.decision(1);
      for (size_t c = 0; c < space.mask.size(); ++c) {
        if (!space.mask[c]) continue;
        auto& by_token = tokens[space.tokens[c]];
        by_token.resize(8);
        ++token_cells[space.tokens[c]];
        const std::string label(batch.label(c / 12));
        if (!label.empty()) labels[label].resize(8);
        if (d.choice[c] < 0) continue;
        ++by_token[static_cast<size_t>(d.choice[c])];
        if (!label.empty()) ++labels[label][static_cast<size_t>(d.choice[c])];
      }
    }
    const SessionReader reader(path);
    const auto by_label = reader.label_loads(1, 1);
    QCOMPARE(by_label.size(), labels.size());
    for (const LabelLoads& l : by_label) QCOMPARE(l.load, labels.at(l.label));
    const auto by_token = reader.token_loads(1, 1, 1000);
    QCOMPARE(by_token.size(), tokens.size());
    for (const TokenLoads& t : by_token) {
      QCOMPARE(t.load, tokens.at(t.token));
      QCOMPARE(t.cells, token_cells.at(t.token));
    }
    QVERIFY(std::is_sorted(by_token.begin(), by_token.end(), [](auto& a, auto& b) { return a.cells > b.cells; }));
    QCOMPARE(reader.token_loads(1, 1, 5).size(), size_t{5});
    const auto inputs = reader.inputs(1, {0, 1000});
    QVERIFY(!inputs.empty());
    for (const SequenceInput& s : inputs)
      QVERIFY(!s.label.empty() && s.text.empty());  // labels always, texts when asked
  }

  void inputs_are_kept_when_they_were_asked_for() {
    RunStart start = some_run();
    start.inputs = true;
    const std::string path = make_session(at("inputs.storm"), 4, start);
    const SessionReader reader(path);
    const auto inputs = reader.inputs(1, {5, 8});
    QCOMPARE(inputs.size(), size_t{3});
    QCOMPARE(inputs[0].text, std::string("text 5"));
    BatchRecord batch;
    fill(start.layout, 2, {}, batch);
    const auto spaces = reader.spaces(1, 2);
    QVERIFY(std::equal(spaces[1].tokens.begin(), spaces[1].tokens.end(), batch.space(1).tokens.begin(),
                       batch.space(1).tokens.end()));
  }

  void a_run_without_decisions_has_windows_and_timings() {
    RunStart start = some_run();
    start.decisions = false;
    const std::string path = make_session(at("timings.storm"), 20, start);
    const SessionReader reader(path);
    QVERIFY(!reader.has_decisions(1));
    QVERIFY(!reader.decision(1, 0, 0).has_value());
    QCOMPARE(reader.total_loads(1, 0).batches, int64_t{20});
    QCOMPARE(reader.events(1, 19).size(), size_t{3});
    QVERIFY(reader.transitions(1, 0, 1, {0, 20}).total() > 0);
  }

  void what_was_counted_is_at_hand_without_reading() {
    SessionWriter writer(at("profile.storm"), some_model());
    auto run = writer.begin_run(some_run());
    record_batches(*run, two_stacks(), 0, 10);
    QCOMPARE(run->profile().batches(), int64_t{10});
    run->finish(RunStatus::finished);
    const SessionReader reader(at("profile.storm"));
    QCOMPARE(reader.total_loads(1, 2).load, run->profile().loads(2).load);
    QCOMPARE(reader.transitions(1, 2, 4, {0, 10}).entries,
             run->profile().transitions(find_edge(two_stacks(), 2, 4)).entries);
  }

  void batches_may_leave_numbers_and_routers_out() {
    const std::string path = at("gaps.storm");
    const RunLayout layout = two_stacks();
    SessionWriter writer(path, some_model());
    auto run = writer.begin_run(some_run());
    BatchRecord made, batch;
    for (const int64_t number : {0, 3, 40}) {
      made.clear();
      fill(layout, number, {}, made);
      batch.clear();
      batch.number = number;
      const SpaceRecord s = made.space(0);
      batch.add_space(0, s.cells);
      batch.add_decision(made.decision(0));
      run->batch(batch);
    }
    run->finish(RunStatus::finished);
    const SessionReader reader(path);
    QCOMPARE(reader.run(1).batches, int64_t{41});
    const auto windows = reader.loads(1, 0, 0, {0, 100});
    QCOMPARE(windows.size(), size_t{41});
    QCOMPARE(windows[1].batches, int64_t{0});
    QCOMPARE(windows[40].cells, int64_t{48});
    QCOMPARE(reader.total_loads(1, 0).batches, int64_t{3});
    QCOMPARE(reader.total_loads(1, 1).batches, int64_t{0});
    QVERIFY(reader.transitions(1, 0, 1, {0, 100}).entries.empty());
  }
};

STORMCELL_TEST(SessionTest)

}  // namespace stormcell

#include "session_test.moc"
