// The cost of an item by where its cells went: all branches are the dense plan's work, exits those of the chain,
// padding costs nothing.
#include "core/experiment/item_costs.h"

#include <cmath>

#include "core/cost/graph_cost.h"
#include "core/exits/exit_chain.h"
#include "core/experiment/experiment.h"
#include "core/graph/builder.h"
#include "core/graph/protocol_attributes.h"
#include "core/passes/dense_graph.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

std::string demo(const std::string& name) { return source_folder() + "/resources/demos/" + name; }

/// Returns what the plan of --dense computes.
double dense_operations(const Graph& graph, const Bindings& bindings) {
  const DenseGraph dense = dense_graph(graph);
  if (!dense.why_not.empty()) return -1;
  return operations_of_all(dense.graph, routed_values(dense.graph), bindings);
}

/// One cell of each router, which goes to these branches.
ItemLoads one_cell(const Graph& graph, const std::vector<ValueId>& routed, const std::vector<int32_t>& branches) {
  ItemLoads loads{Bindings(graph.symbols.size(), 1), {}};
  for (size_t r = 0; r < routed.size(); ++r) {
    ItemLoads::Router& router = loads.routers.emplace_back();
    router.cells = 1;
    router.load.assign(static_cast<size_t>(graph.value(routed[r]).branches), 0);
    router.load[static_cast<size_t>(branches[r])] = 1;
  }
  return loads;
}

}  // namespace

class ItemCostsTest : public QObject {
  Q_OBJECT
 private slots:
  void all_branches_are_what_the_dense_plan_computes() {
    int dense = 0;
    for (const char* name : {"msdnet-digits", "dynamic-routing-street", "swinv2-moe-digits", "livesr-street"}) {
      const auto model = open_model(demo(name));
      const Bindings one(model->forward->symbols.size(), 1);
      const double all = operations_of_all(*model->forward, routed_values(*model->forward), one);
      QVERIFY2(all > 0 && std::fabs(dense_operations(*model->forward, one) / all - 1) < 1e-12, name);
    }
    for (const Toy& toy : toys()) {
      const RandomCase c = toy.make(1);
      const double all = operations_of_all(c.graph, routed_values(c.graph), c.bindings),
                   of_plan = dense_operations(c.graph, c.bindings);
      if (of_plan < 0) continue;
      ++dense;
      QVERIFY2(std::fabs(of_plan / all - 1) < 1e-12, toy.name);
    }
    QVERIFY(dense >= 2);
  }

  void who_leaves_at_an_exit_costs_what_the_chain_says() {
    const auto model = open_model(demo("msdnet-digits"));
    const Graph& graph = *model->forward;
    const ExitChain chain = exit_chain(graph, model->answer).value();
    const std::vector<ValueId> routed = routed_values(graph);
    QCOMPARE(routed.size(), size_t{2});
    for (size_t exit = 0; exit <= routed.size(); ++exit) {
      std::vector<int32_t> branches;
      for (size_t r = 0; r < routed.size(); ++r) {
        const int32_t leaves = residual_branch(chain.tests[r].rule);
        branches.push_back(r == exit ? leaves : 1 - leaves);
      }
      ItemLoads way = one_cell(graph, routed, branches);
      QVERIFY(std::fabs(operations_of(graph, routed, way) / chain.whole - chain.costs[exit]) < 1e-12);
      // Who has left comes to no further router.
      for (size_t r = exit + 1; r < routed.size(); ++r) way.routers[r] = {0, {0, 0}};
      QCOMPARE(parts_computed(graph, routed, way), static_cast<double>(exit));
    }
    QVERIFY(std::fabs(operations_of_all(graph, routed, Bindings(graph.symbols.size(), 1)) / chain.whole - 1) < 1e-12);
  }

  /// Beside branches for everybody stands what somebody would build who does not route: one of them, and nothing that
  /// decides.
  void without_routing_there_is_the_largest_branch_alone() {
    GraphBuilder b;
    const SpaceId sequence = b.root_space("sequence", b.symbol(kSequences)),
                  cell = b.dense_space("cell", sequence, b.symbol("cells"));
    const ValueId x = b.input("x", DType::f32, cell, {4});
    const auto product = [&](ValueId rows, const char* name, std::vector<int64_t> shape) {
      return b.value("linear", {rows, b.weight(name, DType::f32, std::move(shape))}, {}, name);
    };
    const ValueId sent = b.route(product(x, "router", {3, 4}), {}, "route");
    const std::vector<ValueId> rows = b.scatter(x, sent, {0, 1, 2});
    const ValueId small = product(rows[0], "small", {4, 4}), up = product(rows[1], "up", {16, 4}),
                  large = product(up, "down", {4, 16});
    b.output("y", b.gather({small, large, rows[2]}, cell, "sum"));
    const Graph& graph = b.graph();
    const std::vector<ValueId> routed = routed_values(graph);
    Bindings bindings(graph.symbols.size(), 1);
    bindings[static_cast<size_t>(graph.find_symbol("cells"))] = 10;
    const auto largest = LargestBranches::of(graph, routed);
    QVERIFY(largest.has_value());
    double of_large = 0;
    for (const NodeCost& cost : cost_of(graph, {bindings, {}, {}, 1}).nodes) {
      const Node& node = graph.node(cost.node);
      if (node.outputs[0] == up || node.outputs[0] == large)
        of_large += 3 * cost.cost.flops;  // alike for all: a third of the cells
    }
    QVERIFY2(of_large > 0 && std::fabs(largest->operations(bindings) / of_large - 1) < 1e-9,
             qPrintable(QString("%1 %2").arg(largest->operations(bindings)).arg(of_large)));
    // A network whose routers leave parts out has no such alternative: without them it computes all.
    const auto exits = open_model(demo("msdnet-digits"));
    QVERIFY(!LargestBranches::of(*exits->forward, routed_values(*exits->forward)));
    // Each of two branches of four experts: two of them.
    const auto mixtral = open_model(reference_path("mixtral/top-2-of-4-left-padding"));
    const Bindings one(mixtral->forward->symbols.size(), 1);
    const auto two = LargestBranches::of(*mixtral->forward, routed_values(*mixtral->forward));
    const double alike = cost_of(*mixtral->forward, {one, {}, {}, 1}).total.flops;
    QVERIFY(two->operations(one) < alike && two->operations(one) > 0.8 * alike);
  }

  /// A branch of eight small experts, one of which a cell gets, is not larger than one network of four times their
  /// size.
  void a_branch_with_a_router_within_is_as_large_as_what_is_chosen_there() {
    GraphBuilder b;
    const SpaceId sequence = b.root_space("sequence", b.symbol(kSequences)),
                  cell = b.dense_space("cell", sequence, b.symbol("cells"));
    const ValueId x = b.input("x", DType::f32, cell, {4});
    const auto product = [&](ValueId rows, const std::string& name, std::vector<int64_t> shape) {
      return b.value("linear", {rows, b.weight(name, DType::f32, std::move(shape))}, {}, name);
    };
    const std::vector<ValueId> rows = b.scatter(x, b.route(product(x, "outer", {2, 4}), {}, "outer_route"), {0, 1});
    const std::vector<ValueId> inner =
        b.scatter(rows[0], b.route(product(rows[0], "inner", {8, 4}), {}, "inner_route"), {0, 1, 2, 3, 4, 5, 6, 7});
    std::vector<ValueId> experts;
    for (size_t e = 0; e < inner.size(); ++e)
      experts.push_back(product(inner[e], "expert" + std::to_string(e), {4, 4}));
    const ValueId some = b.gather(experts, b.graph().value(rows[0]).type.space, "sum");
    const ValueId up = product(rows[1], "up", {8, 4}), large = product(up, "down", {4, 8});
    b.output("y", b.gather({some, large}, cell, "sum"));
    const Graph& graph = b.graph();
    const Bindings one(graph.symbols.size(), 1);
    double of_large = 0;
    for (const NodeCost& cost : cost_of(graph, {one, {}, {}, 1}).nodes) {
      const Node& node = graph.node(cost.node);
      if (node.outputs[0] == up || node.outputs[0] == large)
        of_large += 2 * cost.cost.flops;  // alike for all: half of the cells
    }
    const auto largest = LargestBranches::of(graph, routed_values(graph));
    QVERIFY(largest.has_value() && of_large > 0);
    QVERIFY2(std::fabs(largest->operations(one) / of_large - 1) < 1e-9,
             qPrintable(QString("%1 %2").arg(largest->operations(one)).arg(of_large)));
  }

  /// A part counts by the cells that got it, of all that the item has: also of those that an outer gate kept from it.
  void of_several_cells_a_part_counts_by_their_share() {
    GraphBuilder b;
    const SpaceId sequence = b.root_space("sequence", b.symbol(kSequences)),
                  token = b.dense_space("token", sequence, b.symbol("length"));
    const ValueId x = b.input("x", DType::f32, token, {2});
    Protocol gate;
    gate.kind = ProtocolKind::residual_threshold, gate.threshold = 0.5F;
    const ValueId outer = b.route(x, gate, "outer"), inside = b.scatter(x, outer, {1})[0];
    gate.residual = 1;
    const ValueId inner = b.route(inside, gate, "inner"), choice = b.route(inside, {}, "experts");
    const Graph& graph = b.graph();
    ItemLoads loads{Bindings(graph.symbols.size(), 0), {{8, {2, 6}}, {6, {4, 2}}, {6, {6, 0}}}};
    for (const auto& [symbol, extent] : {std::pair<std::string_view, int64_t>{kSequences, 1}, {"length", 8}})
      loads.bindings[static_cast<size_t>(graph.find_symbol(symbol))] = extent;
    QCOMPARE(parts_computed(graph, {outer, inner, choice}, loads), 6.0 / 8 + 4.0 / 8);
    QVERIFY(!gated_branch(graph.node(graph.value(choice).producer)));
  }

  void of_a_sequence_its_real_cells_count() {
    const auto model = open_model(reference_path("mixtral/top-2-of-4-left-padding"));
    const Graph& graph = *model->forward;
    ExperimentOptions options;
    options.model = reference_path("mixtral/top-2-of-4-left-padding");
    options.data = options.model + "/input.safetensors";
    options.probe_seconds = 0, options.verify_seconds = 0, options.batch = 3;
    RunOptions run;
    run.measure_seconds = 0;
    const auto figures = Experiment::open(options)->run(run);
    QVERIFY(figures->item_costs && figures->item_costs->item == "sequence" &&
            figures->dataset.cells_without_padding < figures->dataset.cells);
    const ItemCostFigures& c = *figures->item_costs;
    // Two of four experts for each token, none dropped: what a sequence costs hangs on its length alone.
    DataOptions of_model;
    of_model.inputs = model->inputs, of_model.batch = 3;
    const auto data = Dataset::open(options.data, nullptr, of_model);
    const Batch batch = data->batch(0);
    double sum = 0, of_all = 0;
    for (size_t i = 0; i < batch.items.size(); ++i) {
      CostCase of;
      of.bindings = bindings_of_item(graph, batch, i);
      sum += cost_of(graph, of).total.flops;
      of_all += operations_of_all(graph, routed_values(graph), of.bindings);
    }
    QVERIFY(c.items == 3 && std::fabs(c.operations * 3 / sum - 1) < 1e-12 &&
            std::fabs(c.operations_of_all * 3 / of_all - 1) < 1e-12);
    QVERIFY(!c.alike && c.share < 1 && !c.served && c.groups.empty());
  }

  void what_has_no_routers_has_no_such_figures() {
    ExperimentOptions options;
    options.model = reference_path("switch/encoder-only-dense");
    options.data = "random:2x5";
    options.probe_seconds = 0, options.verify_seconds = 0;
    RunOptions run;
    run.measure_seconds = 0;
    QVERIFY(!Experiment::open(options)->run(run)->item_costs);
  }
};

STORMCELL_TEST(ItemCostsTest)

}  // namespace stormcell::testing
#include "item_costs_test.moc"
