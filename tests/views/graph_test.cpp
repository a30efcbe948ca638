// The view of the routers' graph: shares, squares, edges, the way of a cell, and the view on fixture sessions.
#include <QComboBox>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <cmath>
#include <utility>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/cells_fixture.h"
#include "tests/views/controls.h"
#include "views/drawing/theme.h"
#include "views/graph/graph_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

constexpr int kLayers = 6, kLevels = 3;
constexpr int64_t kPictures = 40;

/// Whether a picture is computed at a node: the deeper the level, the fewer.
bool computes_at(int64_t picture, int layer, int level) {
  return (picture * 7 + layer * 3 + level * 11) % 10 < 8 - 3 * level;
}
bool goes_down(int64_t picture, int layer) { return (picture + layer) % 3 == 0; }
/// A level is reached by who was on it, and by who goes down from the one above.
bool reaches(int64_t picture, int layer, int level) {
  if (layer == 0) return level == 0;
  return reaches(picture, layer - 1, level) ||
         (level > 0 && reaches(picture, layer - 1, level - 1) && computes_at(picture, layer - 1, level - 1) &&
          goes_down(picture, layer - 1));
}

/// Nodes of layers and levels: one router takes those that come, in its branch one computes or skips, and in the branch
/// of that one keeps the level, goes down, or both.
std::string make_paths_session(const std::string& path) {
  RunLayout layout;
  layout.spaces = {"picture"};
  std::vector<std::vector<int32_t>> node(kLayers);
  for (int layer = 0; layer < kLayers; ++layer)
    for (int level = 0; level < std::min(kLevels, layer + 1); ++level) {
      const auto at = static_cast<int32_t>(layout.routers.size());
      node[static_cast<size_t>(layer)].push_back(at);
      const std::string name = "cells." + std::to_string(layer) + "." + std::to_string(level);
      layout.routers.push_back({name + ".reached", 1, 1, "threshold", 0, "picture"});
      layout.routers.push_back({name + ".compute", 2, 1, "residual-threshold", 0, "picture", at, 0});
      layout.routers.push_back({name + ".ways", 2, 2, "threshold", 0, "picture", at + 1, 1});
      for (int from = std::max(0, level - 1); layer > 0 && from <= std::min(level + 1, std::min(kLevels, layer) - 1);
           ++from) {
        const int32_t before = node[static_cast<size_t>(layer) - 1][static_cast<size_t>(from)];
        layout.edges.push_back({before + 1, at, {0}});
        layout.edges.push_back({before + 2, at, {}});
      }
      layout.edges.push_back({at, at + 1, {}});
      layout.edges.push_back({at + 1, at + 2, {1}});
    }
  SessionWriter writer(path, some_model());
  auto run = writer.begin_run(some_run("paths", layout));
  Recorder recorder({run.get()});
  for (int64_t number = 0; number < 4; ++number) {
    BatchRecord& batch = recorder.begin_batch();
    batch.number = number;
    batch.add_space(0, {number * 10, 10, 1, 0, Phase::forward, 0});
    for (int layer = 0; layer < kLayers; ++layer)
      for (size_t level = 0; level < node[static_cast<size_t>(layer)].size(); ++level) {
        std::vector<int32_t> reached, compute, ways, came, rows;
        for (int32_t row = 0; row < 10; ++row) {
          const int64_t picture = number * 10 + row;
          const bool here = reaches(picture, layer, static_cast<int>(level)),
                     computed = computes_at(picture, layer, static_cast<int>(level));
          reached.push_back(here ? 0 : kNoBranch);
          if (!here) continue;
          came.push_back(row), compute.push_back(computed);
          if (!computed) continue;
          rows.push_back(row);
          const bool down = goes_down(picture, layer);
          ways.insert(ways.end(), {0, down ? 1 : kNoBranch});
        }
        const std::vector<float> ones(20, 1);
        const int32_t at = node[static_cast<size_t>(layer)][level];
        batch.add_decision({.router = at, .choice = reached, .weight = std::span(ones).first(reached.size())});
        batch.add_decision(
            {.router = at + 1, .choice = compute, .weight = std::span(ones).first(compute.size()), .ancestor = came});
        batch.add_decision(
            {.router = at + 2, .choice = ways, .weight = std::span(ones).first(ways.size()), .ancestor = rows});
      }
    recorder.submit();
  }
  recorder.finish();
  run->finish(RunStatus::finished);
  run.reset();
  writer.close();
  return path;
}

/// A stack of layers of experts.
RouterGraph layers_of_experts(int32_t layers, int32_t branches) {
  RouterGraph graph;
  graph.batches = graph.end_batch = 8;
  for (int32_t r = 0; r < layers; ++r) {
    GraphRouter router{
        {"model.layers." + std::to_string(r) + ".mlp", "model", "top-k", "token", branches, 1, -1, -1}, 0, {}, {}};
    router.dropped.assign(static_cast<size_t>(branches), 0);
    for (int32_t b = 0; b < branches; ++b) {
      router.load.push_back((b * 37 + r * 11) % 50 < 4 ? 0 : 20 + (b * 7919 + r * 104729) % 100);
      router.cells += router.load.back();
    }
    if (r > 0) graph.edges.push_back({r - 1, r, graph.routers.back().load});
    graph.routers.push_back(std::move(router));
  }
  return graph;
}

}  // namespace

class GraphTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string paths_;

 private slots:
  void initTestCase() { paths_ = make_paths_session(folder_.filePath("paths.storm").toStdString()); }

  void shares_are_of_all_cells_or_of_the_routers() {
    const auto graph = read_router_graph(paths_, 1, {});
    const GraphPage all = make_graph_page(*graph, GraphValue::of_all),
                    own = make_graph_page(*graph, GraphValue::of_router);
    QCOMPARE(all.cards.size(), size_t{1 + 2 + 3 * 4});
    for (size_t c = 0; c < all.cards.size(); ++c) {
      const RouterPlace& place = all.place(c);
      QCOMPARE(place.name, "cells." + std::to_string(place.column) + "." + std::to_string(place.row));
      int64_t reached = 0, computed = 0, down = 0;
      for (int64_t picture = 0; picture < kPictures; ++picture) {
        if (!reaches(picture, place.column, place.row)) continue;
        ++reached;
        if (computes_at(picture, place.column, place.row)) ++computed, down += goes_down(picture, place.column);
      }
      QCOMPARE(place.cells, computed);
      QCOMPARE(place.share, static_cast<double>(computed) / kPictures);
      const std::vector<GraphRow>& rows = all.cards[c].rows;
      QVERIFY(rows.size() == 3 && rows[0].name == "reached" && rows[1].name == "compute" && rows[2].name == "ways");
      QCOMPARE(rows[0].squares[0].cells, reached);
      QCOMPARE(rows[1].squares[1].cells, computed);
      QCOMPARE(rows[2].squares[1].cells, down);
      QCOMPARE(rows[2].squares[1].value, static_cast<double>(down) / kPictures);
      QCOMPARE(own.cards[c].rows[2].squares[1].value,
               computed > 0 ? static_cast<double>(down) / static_cast<double>(computed) : 0);
    }
    QCOMPARE(all.high, 1.0);
    QCOMPARE(graph_caption(all), QString("45 routers in 15 places, named without cells."));
    // A part of the batches: so many pictures.
    const GraphPage half = make_graph_page(*read_router_graph(paths_, 1, {0, 2}), GraphValue::of_all);
    QVERIFY(half.place(0).cells == 16 && graph_caption(half).endsWith("; batches 0 to 1"));
  }

  void branches_of_exits_are_called_by_what_they_do() {
    RouterGraph graph;
    graph.routers.push_back(
        {{"exits.0.router", "exits", "exit-threshold", "picture", 2, 1, -1, -1, 0}, 10, {6, 4}, {0, 0}});
    graph.routers.push_back(
        {{"exits.1.router", "exits", "exit-threshold", "picture", 2, 1, 0, 1, 1}, 4, {1, 3}, {0, 0}});
    graph.edges.push_back({0, 1, {0, 4}});
    const GraphPage page = make_graph_page(graph, GraphValue::of_router);
    const QString square = describe_square(page, 0, page.cards[0].rows[0].squares[0]);
    QVERIFY2(square.contains("exits.0.router, leaves"), qPrintable(square));
    const QString edge = describe_edge(page, page.layout.edges.at(0));
    QVERIFY2(edge.contains("goes on: 4 cells"), qPrintable(edge));
    QVERIFY2(spoken(page, 1, 1).startsWith("exits.1.router, leaves: 3 cells"), qPrintable(spoken(page, 1, 1)));
  }

  void many_branches_are_folded_and_none_is_lost() {
    for (const int32_t branches : {1, 2, 63, 64, 65, 100, 256, 1000}) {
      const GraphPage page = make_graph_page(layers_of_experts(3, branches), GraphValue::of_router);
      for (const GraphCard& card : page.cards) {
        int64_t cells = 0;
        int32_t next = 0;
        QVERIFY(card.rows[0].squares.size() <= size_t{kMostSquares});
        for (const GraphSquare& s : card.rows[0].squares) {
          QCOMPARE(s.first, next);
          next += s.branches, cells += s.cells;
        }
        QCOMPARE(next, branches);
        QCOMPARE(cells, page.router(card.rows[0].router).sent());
      }
      QCOMPARE(graph_caption(page).contains("a square is up to"), branches > kMostSquares);
      // With many branches none gets nearly all: then the largest ends the scale.
      QVERIFY(branches > 4 ? page.high < 0.5 : page.high == 1);
      QCOMPARE(make_branch_table(page).rows.size(), static_cast<size_t>(3 * branches));
    }
    QVERIFY(describe_square(make_graph_page(layers_of_experts(1, 256), GraphValue::of_all), 0, {8, 4, 12, 3, 0})
                .contains("branches 8 to 11"));
  }

  void what_is_drawn_at_a_place_is_found_there() {
    for (const RouterGraph& graph :
         {*read_router_graph(paths_, 1, {}), layers_of_experts(40, 256), layers_of_experts(1, 4)}) {
      const GraphPage page = make_graph_page(graph, GraphValue::of_all);
      for (const double width : {420.0, 900.0, 2400.0}) {
        const QSizeF size(width, std::max(560.0, GraphLayout::needed_height(page, width, 16, 8, 32)));
        const GraphLayout layout(page, size, 16, 8, 32);
        const QRectF area(0, layout.title.bottom(), width, layout.legend.top() - layout.title.bottom());
        for (size_t c = 0; c < page.cards.size(); ++c) {
          QVERIFY(area.contains(layout.card(c)));
          QCOMPARE(layout.card_at(layout.head(c).center()), std::optional(c));
          for (size_t other = 0; other < c; ++other) QVERIFY(!layout.card(c).intersects(layout.card(other)));
          for (size_t r = 0; r < page.cards[c].rows.size(); ++r)
            for (size_t s = 0; s < page.cards[c].rows[r].squares.size(); ++s) {
              const SquareAt at{c, r, s};
              QVERIFY(layout.card(c).adjusted(-1, -1, 1, 1).contains(layout.square(at)));
              QCOMPARE(layout.square_at(layout.square(at).center()), std::optional(at));
            }
        }
        for (size_t e = 0; e < page.layout.edges.size(); ++e) {
          const QPainterPath& path = layout.edge(e);
          const QRectF box = path.boundingRect();
          QVERIFY2(box.left() >= 0 && box.right() <= width && box.top() > area.top() && box.bottom() < area.bottom(),
                   qPrintable(QString("edge %1 at %2: %3 to %4, %5 to %6")
                                  .arg(e)
                                  .arg(width)
                                  .arg(box.left())
                                  .arg(box.right())
                                  .arg(box.top())
                                  .arg(box.bottom())));
          QVERIFY(layout.card(static_cast<size_t>(page.layout.edges[e].from))
                      .adjusted(-1, -1, 1, 1)
                      .contains(path.pointAtPercent(0)));
          QVERIFY(layout.card(static_cast<size_t>(page.layout.edges[e].to))
                      .adjusted(-1, -1, 1, 1)
                      .contains(path.pointAtPercent(1)));
          QVERIFY(layout.edge_at(path.pointAtPercent(0.02)).has_value());
          QVERIFY(layout.edge_width(e) >= 1 && layout.edge_width(e) <= 8);
        }
        QVERIFY(!layout.card_at({1, 1}) && !layout.square_at({1, 1}) && !layout.edge_at({1, 1}));
      }
    }
  }

  void the_legend_s_words_have_as_many_lines_as_they_need() {
    const GraphPage page = make_graph_page(layers_of_experts(2, 4), GraphValue::of_all);
    const QFontMetricsF metrics{QFont()};
    const double wide = graph_legend_height(metrics, page, 2000), narrow = graph_legend_height(metrics, page, 420);
    QVERIFY(wide >= 2 * metrics.height() - 1 && wide < 3 * metrics.height() &&
            narrow >= wide + 2 * metrics.height() - 1);
    const GraphLayout layout(page, {420, 600}, metrics.height(), 8, narrow);
    QVERIFY(layout.legend.height() == narrow && layout.legend.bottom() < 600 &&
            layout.card(0).bottom() < layout.legend.top());
  }

  void clicks_and_keys_choose_and_the_tables_agree() {
    GraphView view;
    view.resize(900, 600);
    run_load(view, context_of(paths_));
    QVERIFY(view.has_content() && view.note().isEmpty());
    auto* picture = dynamic_cast<GraphPicture*>(view.picture());
    picture->resize(900, 560);
    QSignalSpy wanted(&view, &View::selection_wanted);
    const auto last = [&] {
      const auto selection = wanted.last()[0].value<Selection>();
      picture->set_selected(selection.router, selection.branch);
      return std::pair(selection.router, selection.branch);
    };
    const GraphLayout& layout = picture->layout_of_page();
    QTest::mouseClick(picture, Qt::LeftButton, {}, layout.square({3, 2, 1}).center().toPoint());
    QCOMPARE(last(), std::pair(QString("cells.2.0.ways"), 1));
    QVERIFY(picture->accessibleDescription().startsWith("cells.2.0.ways, branch 1: "));
    QTest::mouseClick(picture, Qt::LeftButton, {}, layout.head(4).center().toPoint());
    QCOMPARE(last(), std::pair(QString("cells.2.1.reached"), -1));
    const std::vector<std::tuple<Qt::Key, Qt::KeyboardModifiers, QString, int>> steps = {
        {Qt::Key_Right, {}, "cells.3.1.reached", -1},
        {Qt::Key_Down, {}, "cells.3.2.reached", -1},
        {Qt::Key_Left, {}, "cells.2.2.reached", -1},
        {Qt::Key_Up, {}, "cells.2.1.reached", -1},
        {Qt::Key_Down, Qt::ShiftModifier, "cells.2.1.reached", 0},
        {Qt::Key_Down, Qt::ShiftModifier, "cells.2.1.compute", 0},
        {Qt::Key_Right, Qt::ShiftModifier, "cells.2.1.compute", 1},
        {Qt::Key_Down, Qt::ShiftModifier, "cells.2.1.ways", 0},
        {Qt::Key_Up, Qt::ShiftModifier, "cells.2.1.compute", 1},
        {Qt::Key_End, {}, "cells.5.2.reached", -1},
        {Qt::Key_Home, {}, "cells.0.0.reached", -1}};
    for (const auto& [key, modifiers, router, branch] : steps) {
      QTest::keyClick(picture, key, modifiers);
      QCOMPARE(last(), std::pair(router, branch));
    }
    QTest::keyClick(picture, Qt::Key_Escape);
    QCOMPARE(last(), std::pair(QString(), -1));
    QCOMPARE(view.table().rows.size(), size_t{15 * 5});
    control_of<QComboBox>(view, "Table")->setCurrentIndex(1);
    const Table edges = view.table();
    const auto graph = read_router_graph(paths_, 1, {});
    int64_t counted = 0, listed = 0;
    for (const GraphEdge& e : graph->edges) counted += e.total();
    for (const auto& row : edges.rows) {
      QCOMPARE(row.size(), edges.columns.size());
      listed += std::get<qlonglong>(row[3]);
      QVERIFY(std::get<double>(row[4]) > 0 && std::get<double>(row[4]) <= 1);
    }
    QCOMPARE(listed, counted);
    control_of<QComboBox>(view, "Colour")->setCurrentIndex(1);
    QVERIFY(picture->page().value == GraphValue::of_router);
  }

  void the_way_of_a_chosen_cell_is_that_of_its_decisions() {
    GraphView view;
    Selection selection;
    constexpr int64_t kPicture = 23;
    selection.cell = CellPlace{kPicture, 0};
    run_load(view, context_of(paths_), selection);
    auto* picture = dynamic_cast<GraphPicture*>(view.picture());
    const GraphPage& page = picture->page();
    for (size_t c = 0; c < page.cards.size(); ++c) {
      const RouterPlace& place = page.place(c);
      const bool reached = reaches(kPicture, place.column, place.row),
                 computed = reached && computes_at(kPicture, place.column, place.row);
      const GraphWay::Stop* outer = picture->way().at(place.routers[0]);
      QVERIFY(!reached || (outer && outer->branches == std::vector<int32_t>{0}));
      const GraphWay::Stop* middle = picture->way().at(place.routers[1]);
      QVERIFY((middle != nullptr) == reached &&
              (!middle || middle->branches == std::vector<int32_t>{computed ? 1 : 0}));
      const GraphWay::Stop* inner = picture->way().at(place.routers[2]);
      QCOMPARE(inner != nullptr, computed);
      QCOMPARE(picture->way().computes(static_cast<int32_t>(c)), computed);
      if (inner) QCOMPARE(inner->branches.size(), goes_down(kPicture, place.column) ? size_t{2} : size_t{1});
    }
    // If it may have come by several edges, none is marked: which brought something is not recorded.
    for (const int32_t e : picture->way().edges) {
      const PlaceEdge& edge = page.layout.edges[static_cast<size_t>(e)];
      const RouterPlace &from = page.place(static_cast<size_t>(edge.from)),
                        &to = page.place(static_cast<size_t>(edge.to));
      QVERIFY(reaches(kPicture, from.column, from.row) && reaches(kPicture, to.column, to.row));
      for (int level = 0; level < kLevels; ++level)
        QVERIFY(level == from.row || std::abs(level - to.row) > 1 || !reaches(kPicture, from.column, level));
    }
    int64_t places = 0;
    for (const RouterPlace& place : picture->page().layout.places)
      places += reaches(23, place.column, place.row) && computes_at(23, place.column, place.row);
    QVERIFY(places > 0 && std::cmp_equal(picture->way().places.size(), places));
    QVERIFY(picture->accessibleDescription().contains(QString("computed for at %1 of 15 places").arg(places)));
    QVERIFY(!picture->way().edges.empty() &&
            picture->accessibleDescription().contains("the way of picture 23, computed"));
    // It goes with the selection, without reading the graph again.
    selection.cell.reset();
    run_load(view, context_of(paths_), selection);
    QVERIFY(picture->way().stops.empty());
    selection.cell = CellPlace{99, 0};
    run_load(view, context_of(paths_), selection);
    QVERIFY(view.has_content() && picture->way().stops.empty() && view.note().contains("not shown"));
  }

  void it_heeds_batches_and_phases_and_says_what_it_does_not() {
    const std::string session =
        make_cells_session(folder_.filePath("phases.storm").toStdString(), {.batches = 7, .phases = true});
    GraphView view;
    Selection selection;
    selection.phase = "prefill";
    run_load(view, context_of(session), selection);
    const auto cells = [&] { return dynamic_cast<GraphPicture*>(view.picture())->page().graph.routers[0].sent(); };
    const int64_t prefill = cells();
    QVERIFY(view.note().isEmpty());
    int64_t expected = 0;
    for (int64_t batch = 0; batch < 7; batch += 3)
      expected += read_router_graph(session, 1, {batch, batch + 1})->routers[0].sent();
    QCOMPARE(prefill, expected);
    selection.phase.clear(), selection.first_batch = 2, selection.end_batch = 4, selection.label = "long";
    run_load(view, context_of(session), selection);
    QVERIFY(cells() != prefill && view.note().contains("label long"));
  }

  void it_says_what_is_missing() {
    GraphView view;
    run_load(view, {});
    QVERIFY(!view.has_content() && view.message().contains("No session"));
    run_load(view, context_of("/nowhere/a.storm"));
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/a.storm"));
    const std::string none =
        make_session(folder_.filePath("none.storm").toStdString(), 2, some_run("none", RunLayout{}));
    run_load(view, context_of(none));
    QVERIFY(!view.has_content() && view.message().contains("no routers"));
    RunLayout apart = two_stacks();
    apart.edges.clear();
    const std::string lacking =
        make_session(folder_.filePath("apart.storm").toStdString(), 3, some_run("apart", apart));
    run_load(view, context_of(lacking));
    QVERIFY(view.has_content() && graph_caption(dynamic_cast<GraphPicture*>(view.picture())->page())
                                      .contains("no edges between them are recorded"));
    draw(*view.picture(), {500, 400});
  }

  void tips_say_what_figures_are() {
    const GraphPage page = make_graph_page(*read_router_graph(paths_, 1, {}), GraphValue::of_all);
    QVERIFY(describe_place(page, 0).contains(
        "for 32 of 40 cells of the cell space picture something was computed here: 80.0 %; counted"));
    const QString square = describe_square(page, 1, page.cards[0].rows[1].squares[1]);
    QVERIFY2(square.contains("cells.0.0.compute, branch 1") && square.contains("of the 40 that came") &&
                 square.contains("to cells.0.0.ways"),
             qPrintable(square));
    const QString edge = describe_edge(page, page.layout.edges[0]);
    QVERIFY2(edge.contains("transitions met the one and then the other") && edge.contains("branch 0: "),
             qPrintable(edge));
    PlaceEdge members{0, 1, {}, 0, {}};
    QVERIFY(describe_edge(page, members).contains("is not counted"));
  }

  void pictures_look_as_they_did_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<double>("scale");
    QTest::newRow("graph-light") << false << 1.0;
    QTest::newRow("graph-dark") << true << 1.0;
    QTest::newRow("graph-2x") << false << 2.0;
  }
  void pictures_look_as_they_did() {
    QFETCH(bool, dark);
    QFETCH(double, scale);
    GraphView view;
    view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    Selection selection;
    if (dark) selection.cell = CellPlace{23, 0};
    if (!dark) selection.router = "cells.2.1.ways", selection.branch = 1;
    run_load(view, context_of(paths_), selection);
    const QSize size = scale > 1 ? QSize(480, 320) : QSize(720, 420);
    const QString difference = compare_with_golden(draw(*view.picture(), size, scale), QTest::currentDataTag());
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }

  void layers_of_experts_look_as_they_did() {
    GraphPicture picture;
    picture.setPalette(Theme::light().palette());
    picture.set_page(make_graph_page(layers_of_experts(20, 256), GraphValue::of_router));
    QVERIFY(picture.heightForWidth(720) > 300);
    const QString difference = compare_with_golden(draw(picture, {720, picture.heightForWidth(720)}), "graph-experts");
    QVERIFY2(difference.isEmpty(), qPrintable(difference));
  }
};
STORMCELL_TEST(GraphTest)

}  // namespace stormcell::views
#include "graph_test.moc"
