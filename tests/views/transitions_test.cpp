// The view of transitions: counts, shares, ribbons, and the view on fixture sessions.
#include <QComboBox>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/readings/cells_view.h"
#include "tests/testing/counts.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "views/drawing/theme.h"
#include "views/transitions/transitions_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

const char* const kFirst = "encoder.block.1.layer.1.mlp";
const char* const kSecond = "encoder.block.3.layer.1.mlp";

/// Pairs of the first two routers, counted from the single decisions.
std::map<std::pair<int, int>, int64_t> counted(const std::string& file, int64_t first, int64_t end) {
  std::map<std::pair<int, int>, int64_t> count;
  const auto page = read_cell_page(file, 1, {"token", first, end - first});
  for (const CellLine& line : page->lines)
    for (size_t c = 0; c < line.position.size(); ++c)
      if (line.real[c] && line.sequence < end && line.routed[0].choice[c] >= 0 && line.routed[1].choice[c] >= 0)
        ++count[{line.routed[0].choice[c], line.routed[1].choice[c]}];
  return count;
}

template <class Count>
BranchPairs pairs_of(int branches, Count count) {
  BranchPairs pairs;
  pairs.rows = pairs.columns = branches;
  for (int i = 0; i < branches; ++i)
    for (int j = 0; j < branches; ++j) {
      pairs.entries.push_back({i, j, count(i, j)});
      pairs.total += pairs.entries.back().count, ++pairs.pairs;
    }
  return pairs;
}

/// Routers of one stack, each pair with `count(step, from, to)` cells.
template <class Count>
RoutingFlow chain_of_routers(int routers, int branches, Count count) {
  RoutingFlow flow;
  flow.router = 0;
  for (int r = 0; r < routers; ++r) {
    FlowRouter router;
    router.line = {"stack.block." + std::to_string(r) + ".mlp", "stack", "top-k", "token", branches, 1, -1, -1};
    if (r + 1 < routers)
      router.next.push_back({r + 1, false, pairs_of(branches, [&](int i, int j) { return count(r, i, j); })});
    flow.routers.push_back(router);
  }
  return flow;
}

}  // namespace

class TransitionsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_;

 private slots:
  void pairs_of_a_phase_are_those_of_its_batches() {
    QTemporaryDir folder;
    const std::string session =
        make_cells_session(folder.filePath("phases.storm").toStdString(), {.batches = 7, .phases = true});
    std::map<std::pair<int32_t, int32_t>, int64_t> expected, counted;
    for (int64_t batch = 0; batch < 7; batch += 3) {
      const auto one = read_routing_flow(session, 1, {batch, batch + 1}, {}, 1000);
      for (const auto& e : one->transitions.entries) expected[{e.from, e.to}] += e.count;
    }
    const auto flow = read_routing_flow(session, 1, {0, -1}, {}, 1000, {}, "prefill");
    for (const auto& e : flow->transitions.entries) counted[{e.from, e.to}] = e.count;
    QVERIFY(!expected.empty());
    for (const auto& [pair, count] : expected)
      QVERIFY2(
          counted[pair] == count,
          qPrintable(QString("%1 to %2: %3, not %4").arg(pair.first).arg(pair.second).arg(counted[pair]).arg(count)));
    QCOMPARE(counted.size(), expected.size());
    TransitionsView view;
    Selection selection;
    selection.phase = "prefill";
    run_load(view, context_of(session), selection);
    QVERIFY(view.has_content() && view.note().isEmpty());
    selection.label = "long";
    run_load(view, context_of(session), selection);
    QVERIFY(view.note().contains("label long"));
  }

  void initTestCase() {
    CellsFixture f;
    f.change = 2;
    session_ = make_cells_session(folder_.filePath("main.storm").toStdString(), f);
  }

  void pairs_are_those_of_the_decisions() {
    for (const auto& [first, end] : {std::pair{0, 10}, {3, 7}}) {
      const auto flow = read_routing_flow(session_, 1, {first, end}, {kFirst, {}}, 200);
      const auto count = counted(session_, first * 3, end * 3);
      QCOMPARE(flow->transitions.entries.size(), count.size());
      int64_t before = INT64_MAX;
      for (const auto& e : flow->transitions.entries) {
        QCOMPARE(e.count, count.at({e.from, e.to}));
        QVERIFY(e.count <= before);
        before = e.count;
      }
    }
    // The last router of a stack stands for the one before it; several branches a cell have pairs of their own.
    QCOMPARE(read_routing_flow(session_, 1, {0, -1}, {kSecond, {}}, 200)->router, 0);
    const auto decoder = read_routing_flow(session_, 1, {0, -1}, {"decoder.block.1.layer.2.mlp", {}}, 200);
    QCOMPARE(decoder->router, 2);
    QVERIFY(decoder->together.total > 0 && decoder->transitions.total == 0);
    QCOMPARE(read_routing_flow(session_, 1, {0, -1}, {}, 200)->router, 0);
  }

  void shares_and_lift_are_what_they_say() {
    BranchPairs pairs{2, 3, {{0, 0, 30}, {0, 1, 10}, {1, 2, 20}}, 60, 3};
    const PairMatrix share = make_pairs(pairs, "a", "b", PairValue::share, false);
    QCOMPARE(share.value[0], 0.75);
    QCOMPARE(share.value[share.at(1, 2)], 1.0);
    QCOMPARE(make_pairs(pairs, "a", "b", PairValue::cells, false).value[1], 10.0);
    const PairMatrix lift = make_pairs(pairs, "a", "b", PairValue::lift, false);
    QCOMPARE(lift.value[0], 30.0 / (40.0 * 30.0 / 60.0));
    QCOMPARE(lift.value[lift.at(1, 0)], 0.0);
    QCOMPARE(lift.tone[lift.at(1, 0)], -1.f);
    const PairMatrix together = make_pairs({3, 3, {{0, 2, 5}}, 5, 1}, "a", "a", PairValue::cells, true);
    QVERIFY(together.value[together.at(0, 2)] == 5 && together.value[together.at(2, 0)] == 5);
    QVERIFY(std::isnan(make_pairs({1, 1, {}, 0, 0}, "a", "b", PairValue::share, false).value[0]));
    // Branches together, as analyze counts them: one is drawn, then another one.
    const BranchPairs both{4, 4, {{0, 1, 40}, {2, 3, 40}, {0, 2, 20}, {1, 3, 20}}, 120, 4};
    const PairMatrix lifted = make_pairs(both, "a", "a", PairValue::lift, true);
    QVERIFY(std::abs(lifted.value[lifted.at(1, 0)] - 2) < 1e-9 && std::abs(lifted.value[lifted.at(0, 2)] - 1) < 1e-9);
    QVERIFY(std::isnan(lifted.value[lifted.at(3, 3)]));
    QVERIFY2(describe(lifted, 0, 1).contains("2.00 times what chance would give"), qPrintable(describe(lifted, 0, 1)));
    const PairMatrix uneven = make_pairs({3, 3, {{0, 1, 36}, {0, 2, 24}}, 60, 2}, "a", "a", PairValue::lift, true);
    QVERIFY(std::abs(uneven.value[uneven.at(0, 1)] - 36 / (18 + 1080. / 84)) < 1e-9);
  }

  void ribbons_and_the_rest_are_all_there_is() {
    // 64 branches, every pair taken: 4096 pairs a step, 200 ribbons.
    const RoutingFlow flow = chain_of_routers(4, 64, [](int, int i, int j) { return 1 + (i * 31 + j * 17) % 100; });
    const FlowRibbons ribbons = make_ribbons(flow);
    QVERIFY(ribbons.ribbons.size() <= size_t{kMostRibbons} && ribbons.ribbons.size() > size_t{kMostRibbons - 3});
    QCOMPARE(ribbons.pairs, int64_t{3 * 4096});
    std::vector<int64_t> sum(3);
    for (const auto& r : ribbons.ribbons) sum[static_cast<size_t>(r.step)] += r.count;
    for (size_t s = 0; s < 3; ++s) QCOMPARE(sum[s] + ribbons.merged[s], ribbons.total[s]);
    for (size_t s = 0; s < 3; ++s)
      QCOMPARE(ribbons.merged_pairs[s],
               4096 - std::count_if(ribbons.ribbons.begin(), ribbons.ribbons.end(),
                                    [s](const auto& r) { return r.step == static_cast<int>(s); }));
    QVERIFY2(flow_caption(ribbons).contains(QString("%1 of 12,288 pairs").arg(ribbons.ribbons.size())),
             qPrintable(flow_caption(ribbons)));
    QVERIFY(flow_caption(ribbons).contains("8 hottest chains"));
    const QRectF bounds(10, 20, 800, 300);
    const RibbonLayout layout = lay_out(ribbons, bounds, 16);
    QCOMPARE(layout.bands.size(), ribbons.ribbons.size() + 3);
    QVERIFY(bounds.contains(layout.lane));
    for (const auto& n : layout.nodes) {
      QVERIFY(bounds.adjusted(-1, -1, 1, 2).contains(n.box));
      QVERIFY(n.box.bottom() < layout.lane.top());
      QVERIFY(layout.node_at(n.box.center()) != nullptr);
    }
    // Pairs without a ribbon are in its lane, as high as its share.
    for (const auto& b : layout.bands)
      if (b.ribbon < 0) {
        const QRectF box = b.path.boundingRect();
        QVERIFY(layout.lane.adjusted(-0.1, -0.1, 0.1, 0.1).contains(box));
        QVERIFY(std::abs(box.height() / layout.lane.height() -
                         ribbons.merged_share(static_cast<size_t>(-1 - b.ribbon))) < 1e-6);
      }
    // Whole where all pairs have a ribbon.
    QVERIFY(flow_caption(make_ribbons(*read_routing_flow(session_, 1, {0, -1}, {}, 200))).startsWith("all "));
    QVERIFY(lay_out({}, bounds, 16).nodes.empty());
  }

  void chains_go_through_all_routers_the_hottest_first() {
    // Stronger pairs than those of the chain that lead nowhere: the chain is what can be followed.
    RoutingFlow flow = chain_of_routers(6, 16, [](int step, int from, int to) {
      const bool chain = from == (3 * step + 1) % 16 && to == (3 * step + 4) % 16,
                 alone = from == (5 * step) % 16 && to == (7 * step + 9) % 16;
      return chain ? 50 : alone ? 90 : 1;
    });
    const FlowRibbons f = make_ribbons(flow, 20);
    QVERIFY(f.ribbons.size() <= 20);
    QVERIFY(!f.chains.empty());
    QCOMPARE(f.chains[0].branches, (std::vector<int>{1, 4, 7, 10, 13, 0}));
    QCOMPARE(f.chains[0].count, int64_t{50});
    for (int step = 0; step < 5; ++step)
      QVERIFY(std::any_of(f.ribbons.begin(), f.ribbons.end(), [&](const auto& r) {
        return r.step == step && r.from == (3 * step + 1) % 16 && r.chain == 0 && f.in_colour(r);
      }));
    for (const auto& r : f.ribbons) QVERIFY(r.chain >= 0);
    for (size_t c = 1; c < f.chains.size(); ++c) QVERIFY(f.chains[c].count <= f.chains[c - 1].count);
    // It runs along the top.
    const RibbonLayout layout = lay_out(f, QRectF(0, 0, 600, 200), 14);
    for (const auto& n : layout.nodes)
      if (n.branch == f.chains[0].branches[static_cast<size_t>(n.column)]) QCOMPARE(n.box.top(), 0.0);
    // Against all ways there are.
    stormcell::testing::Drawn<std::mt19937> random(7);
    for (int round = 0; round < 20; ++round) {
      std::map<std::tuple<int, int, int>, int> count;
      flow = chain_of_routers(4, 5, [&](int step, int from, int to) {
        return count[{step, from, to}] = static_cast<int>(random() % 1000);
      });
      int widest = 0;
      for (int way = 0; way < 625; ++way) {
        const int b[] = {way % 5, way / 5 % 5, way / 25 % 5, way / 125};
        widest = std::max(widest, std::min({count[{0, b[0], b[1]}], count[{1, b[1], b[2]}], count[{2, b[2], b[3]}]}));
      }
      const FlowRibbons drawn = make_ribbons(flow, 12);
      QCOMPARE(drawn.chains[0].count, int64_t{widest});
      QVERIFY(drawn.ribbons.size() <= 12);
    }
    // None where all pairs are drawn.
    QVERIFY(make_ribbons(flow, 1000).chains.empty());
  }

  void ribbons_follow_the_graph_and_chains_go_past_routers() {
    // Branch 1 of router 0 holds router 1; the other branches' cells go straight on to router 2.
    RoutingFlow flow = chain_of_routers(
        3, 3, [](int step, int from, int to) { return step == 0 && from != 1 ? 0 : 10 + 3 * from + to; });
    flow.routers[0].next.push_back({2, true, pairs_of(3, [](int from, int to) {
                                      return from == 1 ? 0 : from == 2 && to == 0 ? 90 : 1;
                                    })});
    const FlowRibbons f = make_ribbons(flow, 6);
    QCOMPARE(f.columns.size(), size_t{3});
    QCOMPARE(f.steps.size(), size_t{3});
    QVERIFY(f.steps[1].from == 0 && f.steps[1].to == 2);
    QCOMPARE(f.chains[0].branches, (std::vector<int>{2, -1, 0}));
    QCOMPARE(f.chains[0].count, int64_t{90});
    QVERIFY(f.chains.size() > 1 && f.chains[1].branches[1] >= 0);
    const RibbonLayout layout = lay_out(f, QRectF(0, 0, 400, 200), 16);
    for (const auto& b : layout.bands) {
      if (b.ribbon < 0 || f.ribbons[static_cast<size_t>(b.ribbon)].step != 1) continue;
      QVERIFY(b.path.boundingRect().width() > 300);  // over both columns
    }
    QCOMPARE(layout.steps, 3);
    // A router that no edge joins with these has no column.
    flow.routers.push_back(flow.routers[2]);
    QCOMPARE(make_ribbons(flow, 6).columns.size(), size_t{3});
  }

  void cells_of_one_router_may_meet_several_next() {
    const std::string session = make_session(folder_.filePath("graph.storm").toStdString(), 6);
    const auto flow = read_routing_flow(session, 1, {}, {"decoder.0.mlp", "decoder.1.mlp"}, 100);
    QVERIFY(flow->router == 2 && flow->next == 4);
    QCOMPARE(flow->routers[2].next.size(), size_t{2});
    QVERIFY(flow->routers[2].next[0].partial && flow->routers[2].next[1].partial && !flow->routers[3].next[0].partial);
    QVERIFY(flow->transitions.total > 0 && flow->transitions.columns == 10);
    for (const auto& e : flow->transitions.entries) QVERIFY(e.from != 1);  // these go through the nested router
    // The last router stands for the first that leads to it.
    QCOMPARE(read_routing_flow(session, 1, {}, {"encoder.1.mlp", {}}, 100)->router, 0);
    TransitionsView view;
    Selection selection;
    selection.router = "decoder.0.mlp";
    run_load(view, context_of(session), selection);
    QComboBox* to = nullptr;
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "To router") to = box;
    QVERIFY(to && !to->isHidden());
    QCOMPARE(to->count(), 2);
    QCOMPARE(to->currentText(), QString("decoder.0.mlp.inner"));
    QCOMPARE(std::get<QString>(view.table().rows[0][3]), QString("decoder.0.mlp.inner"));
    QSignalSpy wanted(&view, &View::load_wanted);
    to->setCurrentIndex(1);
    emit to->activated(1);
    QCOMPARE(wanted.count(), 1);
    run_load(view, context_of(session), selection);
    QCOMPARE(std::get<QString>(view.table().rows[0][3]), QString("decoder.1.mlp"));
    QCOMPARE(to->currentText(), QString("decoder.1.mlp"));
    selection.router = "encoder.0.mlp";
    run_load(view, context_of(session), selection);
    QVERIFY(to->isHidden());
  }

  void a_share_of_many_branches_is_seen() {
    BranchPairs even{2, 8, {}, 0, 0};
    for (int j = 0; j < 8; ++j) even.entries.push_back({0, j, j == 3 ? 20 : 10});
    const PairMatrix m = make_pairs(even, "a", "b", PairValue::share, false);
    QCOMPARE(m.high, 20.0 / 90.0);
    QCOMPARE(m.tone[m.at(0, 3)], 1.f);
    // If most of a row goes one way, the scale is that of all shares.
    QCOMPARE(make_pairs({1, 2, {{0, 0, 60}, {0, 1, 40}}, 100, 2}, "a", "b", PairValue::share, false).high, 1.0);
  }

  void every_square_is_found_again() {
    for (const auto& [rows, columns] : {std::pair{4, 4}, {8, 3}, {256, 256}, {1, 1}}) {
      const PairGrid g = pair_grid(QRectF(5, 7, 500, 260), rows, columns, 40, 30);
      QVERIFY(QRectF(5, 7, 500.1, 260.1).contains(g.area));
      for (int r = 0; r < rows; r += 7)
        for (int c = 0; c < columns; c += 5) QVERIFY(g.at(g.cell(r, c).center()) == std::pair(r, c));
      QVERIFY(!g.at({4, 6}));
    }
  }

  void it_says_what_is_missing() {
    TransitionsView view;
    run_load(view, {});
    QVERIFY(!view.has_content() && view.message().contains("No session"));
    run_load(view, context_of("/nowhere/a.storm"));
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/a.storm"));
  }

  void clicks_choose_router_and_branch_and_the_table_agrees() {
    TransitionsView view;
    run_load(view, context_of(session_));
    QVERIFY(view.has_content());
    auto* picture = view.findChild<TransitionsPicture*>();
    picture->resize(720, 480);
    QSignalSpy wanted(&view, &View::selection_wanted);
    const auto last = [&] { return wanted.last()[0].value<Selection>(); };
    QTest::mouseClick(picture, Qt::LeftButton, {}, picture->grid(0).cell(2, 1).center().toPoint());
    QVERIFY(last().router == kFirst && last().branch == 2);
    run_load(view, context_of(session_), last());
    QTest::keyClick(picture, Qt::Key_Down);
    QCOMPARE(last().branch, 3);
    const PairGrid g = picture->grid(0);
    QTest::mouseClick(picture, Qt::LeftButton, {}, QPointF(g.cell(0, 1).center().x(), g.area.top() - 8).toPoint());
    QVERIFY(last().router == kSecond && last().branch == 1);
    for (const auto& n : picture->ribbon_layout().nodes)
      if (n.column == 1 && n.branch == 3) {
        QTest::mouseClick(picture, Qt::LeftButton, {}, n.box.center().toPoint());
        QVERIFY(last().router == kSecond && last().branch == 3);
      }
    QTest::keyClick(picture, Qt::Key_Escape);
    QCOMPARE(last().branch, -1);
    const auto count = counted(session_, 0, 30);
    const Table table = view.table();
    size_t taken = 0;
    for (const auto& row : table.rows) {
      const auto at = count.find({std::get<qlonglong>(row[2]), std::get<qlonglong>(row[4])});
      const qlonglong cells = std::get<qlonglong>(row[5]);
      QCOMPARE(cells, static_cast<qlonglong>(at == count.end() ? 0 : at->second));
      // A pair that no cell took has a row only if chance has it.
      if (cells == 0) QCOMPARE(std::get<QString>(row.back()), QString("more rarely than by chance"));
      taken += cells > 0;
    }
    QCOMPARE(taken, count.size());
    // A part of the time: fewer cells.
    Selection half;
    half.end_batch = 5;
    run_load(view, context_of(session_), half);
    QVERIFY(std::get<qlonglong>(view.table().rows[0][5]) < std::get<qlonglong>(table.rows[0][5]));
    // Several branches a cell: the pairs that one cell got together.
    Selection decoder;
    decoder.router = "decoder.block.1.layer.2.mlp";
    run_load(view, context_of(session_), decoder);
    QCOMPARE(std::get<QString>(view.table().rows[0][0]), QString("together"));
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<int>("value");
    QTest::addColumn<QString>("router");
    QTest::newRow("transitions-light") << false << 0 << QString();
    QTest::newRow("transitions-dark") << true << 0 << QString(kFirst);
    QTest::newRow("transitions-lift") << false << 2 << QString();
    QTest::newRow("transitions-together") << true << 1 << QString("decoder.block.1.layer.2.mlp");
  }
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    QFETCH(int, value);
    QFETCH(QString, router);
    TransitionsView view;
    view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    Selection selection;
    selection.router = router;
    if (!router.isEmpty()) selection.branch = 1;
    run_load(view, context_of(session_), selection);
    for (QComboBox* box : view.findChildren<QComboBox*>())
      if (box->accessibleName() == "Value") box->setCurrentIndex(value);
    const QString trouble = compare_with_golden(draw(*view.picture(), {720, 480}), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(TransitionsTest)

}  // namespace stormcell::views
#include "transitions_test.moc"
