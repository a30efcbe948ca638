// Closed-form cost of small graphs, counted by hand.
#include <cmath>

#include "core/cost/graph_cost.h"

#include "tests/testing/graph_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::graph_cost_test {
namespace {
struct Mixture : CaseBuilder {
  explicit Mixture(DType dtype = DType::f32) : CaseBuilder(1) {
    weight_dtype = dtype;
    const SpaceId tokens = dense_space("tokens", root_space("sequences", bound_symbol("N", 2)), bound_symbol("T", 50));
    const ValueId x = floats("x", tokens, {8});
    decision = route(linear(x, 4, "router", "none", false), {}, "mlp");
    std::vector<ValueId> results = scatter(x, decision, {0, 1, 2, 3});
    for (int i = 0; i < 4; ++i) {
      ValueId& y = results[static_cast<size_t>(i)];
      y = linear(linear(y, 16, "up" + std::to_string(i), "relu", false), 8, "down" + std::to_string(i), "none", false);
    }
    output("y", gather(std::move(results), tokens, "weighted"));
  }
  ValueId decision = kNone;
};

double flops_of(const Graph& g, const GraphCost& cost, std::string_view op) {
  double sum = 0;
  for (const NodeCost& n : cost.nodes)
    if (g.node(n.node).op->name == op) sum += n.cost.flops;
  return sum;
}
}  // namespace

class GraphCostTest : public QObject {
  Q_OBJECT
 private slots:
  void products_are_counted_by_the_rows_that_come() {
    Mixture m;
    const Graph g = m.finish();
    const GraphCost cost = cost_of(g, {.bindings = {2, 50}});
    QCOMPARE(cost.cells, 100.0);
    // The router for all cells; each cell through one expert.
    QCOMPARE(flops_of(g, cost, "linear"), 100 * 2.0 * 8 * 4 + 100 * 2.0 * (8 * 16 + 16 * 8));
    QCOMPARE(cost.flops_per_cell(), cost.total.flops / 100);
  }
  void recorded_loads_take_the_place_of_equal_ones() {
    Mixture m;
    const Graph g = m.finish();
    CostCase of{.bindings = {2, 50}};
    of.shares.set(m.decision, {1, 0, 0, 0});
    const GraphCost one = cost_of(g, of), alike = cost_of(g, {.bindings = {2, 50}});
    QCOMPARE(one.total.flops, alike.total.flops);
    // Weights of branches without load are not read.
    QCOMPARE(alike.total.weight_bytes - one.total.weight_bytes, 3 * 4.0 * (8 * 16 + 16 * 8));
  }
  void the_limit_is_the_sum_of_each_operators_larger_time() {
    Mixture m;
    const Graph g = m.finish();
    const GraphCost cost = cost_of(g, {.bindings = {2, 50}});
    const double infinity = std::numeric_limits<double>::infinity();
    QVERIFY(std::abs(cost.limit_seconds({1e9, 1e9, infinity}) - cost.total.flops / 1e9) < 1e-15);
    QVERIFY(std::abs(cost.limit_seconds({infinity, infinity, 1e9}) - cost.total.bytes() / 1e9) < 1e-15);
    const double both = cost.limit_seconds({1e9, 1e9, 1e9});
    QVERIFY(both >= cost.total.flops / 1e9 && both >= cost.total.bytes() / 1e9 &&
            both <= (cost.total.flops + cost.total.bytes()) / 1e9);
  }
  void bf16_weights_are_half_the_bytes_and_have_their_own_peak() {
    Mixture f32, bf16(DType::bf16);
    const Graph a = f32.finish(), b = bf16.finish();
    const GraphCost x = cost_of(a, {.bindings = {2, 50}}), y = cost_of(b, {.bindings = {2, 50}});
    QCOMPARE(x.total.weight_bytes, 2 * y.total.weight_bytes);
    const double infinity = std::numeric_limits<double>::infinity();
    QVERIFY(y.limit_seconds({1e9, 4e9, infinity}) < x.limit_seconds({1e9, 4e9, infinity}));
  }
  void a_rare_branch_reads_its_weights_rarely() {
    Mixture m;
    const Graph g = m.finish();
    const GraphCost cost = cost_of(g, {.bindings = {1, 1}});
    for (const NodeCost& n : cost.nodes)
      if (g.node(n.node).name == "up0") QCOMPARE(n.cost.weight_bytes, 0.25 * 8 * 16 * 4);
  }
  void branches_without_cells_cost_nothing_whatever_they_hold() {
    // One of four branches gets all cells; the others' products, convolutions, norms and biases are not read.
    const auto weights_of = [](bool alone) {
      CaseBuilder b(2);
      const SpaceId images = b.root_space("images", b.bound_symbol("N", 6));
      const ValueId x = b.floats("x", images, {8}), maps = b.floats("maps", images, {6, 6, 4});
      const ValueId d = b.route(b.linear(x, 4, "router", "none", false), {}, "paths");
      const std::vector<ValueId> rows = b.scatter(x, d, {0, 1, 2, 3}), pictures = b.scatter(maps, d, {0, 1, 2, 3});
      for (size_t i = 0; i < (alone ? 1u : 4u); ++i) {
        const std::string name = "branch." + std::to_string(i);
        b.output("rows" + name, b.linear(b.norm(rows[i], name + ".norm"), 8, name + ".product"));
        b.output("maps" + name, b.conv(pictures[i], 5, 3, 1, name + ".conv"));
      }
      const Graph g = b.finish();
      CostCase of{.bindings = {6}};
      of.shares.set(d, {1, 0, 0, 0});
      return cost_of(g, of).total.weight_bytes;
    };
    QCOMPARE(weights_of(false), weights_of(true));
  }
  void a_node_asked_directly_charges_no_weights_without_rows() {
    CaseBuilder b(2);
    const SpaceId images = b.root_space("images", b.bound_symbol("N", 6));
    const ValueId y = b.conv(b.floats("maps", images, {6, 6, 4}), 5, 3, 1, "conv");
    const Graph g = b.graph();
    const Node& conv = g.node(g.value(y).producer);
    const auto cost_with = [&](double rows) {
      return conv.op->cost(CostContext{.graph = g, .rows = [=](SpaceId) { return rows; }, .bindings = {6}}, conv);
    };
    QCOMPARE(cost_with(0).weight_bytes, 0.0);
    QCOMPARE(cost_with(0).flops, 0.0);
    QCOMPARE(cost_with(3).weight_bytes, 4.0 * (5 * 3 * 3 * 4 + 5));
  }
  void a_grouped_product_reads_the_weights_of_the_branches_that_came_data() {
    QTest::addColumn<bool>("biases");
    QTest::newRow("without biases") << false;
    QTest::newRow("with biases") << true;
  }
  void a_grouped_product_reads_the_weights_of_the_branches_that_came() {
    QFETCH(bool, biases);
    CaseBuilder b(3);
    const SpaceId tokens = b.root_space("tokens", b.bound_symbol("N", 40));
    const ValueId x = b.floats("x", tokens, {8}), d = b.route(b.linear(x, 4, "router", "none", false), {}, "moe");
    std::vector<ValueId> inputs{x, d};
    for (int i = 0; i < 4; ++i) inputs.push_back(b.drawn("w" + std::to_string(i), {16, 8}, 1));
    for (int i = 0; biases && i < 4; ++i) inputs.push_back(b.drawn("b" + std::to_string(i), {16}, 1));
    const SpaceId all = b.routed_space(d, kAllBranches);
    const std::vector<int64_t> branches{0, 1, 2, 3};
    const ValueId y = b.value("grouped_linear", inputs,
                              {{"branches", branches}, {"slots", int64_t{all}}, {"biases", int64_t{biases}}}, "up");
    b.output("y", b.gather({y}, tokens, "sum"));
    const Graph g = b.finish();
    const auto weights_with = [&](std::vector<double> shares) {
      CostCase of{.bindings = {40}};
      of.shares.set(d, std::move(shares));
      for (const NodeCost& n : cost_of(g, of).nodes)
        if (g.node(n.node).name == "up") return n.cost.weight_bytes;
      return -1.0;
    };
    const double one = 16 * 8 * 4 + (biases ? 16 * 4 : 0);
    QCOMPARE(weights_with({1, 0, 0, 0}), one);
    QCOMPARE(weights_with({0.5, 0.5, 0, 0}), 2 * one);
    QCOMPARE(weights_with({0.25, 0.25, 0.25, 0.25}), 4 * one);
  }
  void a_separable_convolution_costs_its_two_without_the_map_between() {
    const auto cost_with = [](bool joined) {
      CaseBuilder b(4);
      const ValueId x = b.floats("maps", b.root_space("images", b.bound_symbol("N", 6)), {7, 6, 4});
      const ValueId w = b.drawn("w", {4, 3, 3, 1}, 1), v = b.drawn("v", {5, 1, 1, 4}, 1);
      const Attributes of{{"stride", int64_t{2}}, {"padding", int64_t{1}}};
      Attributes of_first = of;
      of_first.set("groups", int64_t{4});
      b.output("y", joined ? b.value("separable_conv2d", {x, w, v}, of, "both")
                           : b.value("conv2d", {b.value("conv2d", {x, w}, of_first, "first"), v}, {}, "second"));
      Cost cost;
      for (const NodeCost& n : cost_of(b.finish(), {.bindings = {6}}).nodes) {
        cost.flops += n.cost.flops;
        cost.weight_bytes += n.cost.weight_bytes;
        cost.activation_bytes += n.cost.activation_bytes;
      }
      return cost;
    };
    const Cost apart = cost_with(false), joined = cost_with(true);
    QCOMPARE(joined.flops, apart.flops);
    QCOMPARE(joined.flops, 2.0 * 6 * 4 * 3 * 4 * (9 + 5));
    QCOMPARE(joined.weight_bytes, apart.weight_bytes);
    QCOMPARE(joined.activation_bytes, apart.activation_bytes - 2.0 * 4 * 6 * 4 * 3 * 4);
  }
  void what_works_on_all_slots_costs_what_branches_did() {
    // Four maps of six to branch 0, two to branch 1, none to branch 2.
    const auto cost_with = [](bool grouped) {
      CaseBuilder b(4);
      const SpaceId images = b.root_space("images", b.bound_symbol("N", 6));
      const ValueId maps = b.floats("maps", images, {6, 6, 4});
      const ValueId d =
          b.route(b.linear(b.value("pool", {maps}, {{"kind", std::string("global_average")}}), 3, "gates"), {}, "ways");
      const SpaceId all = b.routed_space(d, kAllBranches);
      const auto weight = [&](const char* name, int64_t branch, int64_t outputs) {
        return b.drawn(name + std::to_string(branch), {outputs, 3, 3, 4}, 1);
      };
      const auto bias = [&](const char* name, int64_t branch, int64_t outputs) {
        return b.drawn(name + std::to_string(branch), {outputs}, 1);
      };
      const Attributes of{{"branches", std::vector<int64_t>{0, 1, 2}}, {"slots", int64_t{all}}};
      if (grouped) {
        std::vector<ValueId> blocks{maps, d}, conv;
        for (const char* part : {"w", "b", "v", "d"})
          for (int64_t i = 0; i < 3; ++i)
            blocks.push_back(*part == 'w' || *part == 'v' ? weight(part, i, 4) : bias(part, i, 4));
        conv = {b.value("grouped_residual_blocks", blocks, of, "blocks"), d};
        for (int64_t i = 0; i < 3; ++i) conv.push_back(weight("c", i, 5));
        for (int64_t i = 0; i < 3; ++i) conv.push_back(bias("e", i, 5));
        Attributes of_conv = of;
        of_conv.set("biases", int64_t{1});
        b.output("y", b.gather({b.value("grouped_conv2d", conv, of_conv, "conv")}, images, "sum"));
      } else {
        std::vector<ValueId> parts = b.scatter(maps, d, {0, 1, 2});
        for (int64_t i = 0; i < 3; ++i) {
          ValueId& x = parts[static_cast<size_t>(i)];
          x = b.value("residual_blocks", {x, weight("w", i, 4), bias("b", i, 4), weight("v", i, 4), bias("d", i, 4)},
                      {}, "blocks");
          x = b.value("conv2d", {x, weight("c", i, 5), bias("e", i, 5)}, {{"extras", std::string("bias")}}, "conv");
        }
        b.output("y", b.gather(std::move(parts), images, "sum"));
      }
      const Graph g = b.finish();
      CostCase of_case{.bindings = {6}};
      of_case.shares.set(d, {4.0 / 6, 2.0 / 6, 0});
      Cost cost;
      for (const NodeCost& n : cost_of(g, of_case).nodes)
        if (const std::string& name = g.node(n.node).name; name == "blocks" || name == "conv") {
          cost.flops += n.cost.flops;
          cost.weight_bytes += n.cost.weight_bytes;
          cost.activation_bytes += n.cost.activation_bytes;
        }
      return cost;
    };
    const Cost apart = cost_with(false), together = cost_with(true);
    QCOMPARE(together.flops, apart.flops);
    QCOMPARE(together.weight_bytes, apart.weight_bytes);
    QCOMPARE(together.activation_bytes, apart.activation_bytes);
    QVERIFY(together.flops > 0 && together.weight_bytes > 0);
  }
  void maps_and_patches_cost_what_they_move() {
    CaseBuilder b(5);
    const SpaceId images = b.root_space("images", b.bound_symbol("N", 8)),
                  patches = b.dense_space("patches", images, 4);
    const ValueId maps = b.floats("maps", images, {6, 6, 2});
    const ValueId d =
        b.route(b.linear(b.value("pool", {maps}, {{"kind", std::string("global_average")}}), 4, "gates"), {}, "ways");
    const ValueId part = b.scatter(maps, d, {0})[0];
    const ValueId weight = b.value("choice_weight", {d}, {{"space", int64_t{b.space_of(part)}}}, "weight");
    b.output("weighed", b.value("multiply", {part, weight}, {}, "weighed"));
    const auto resized = [&](const char* mode) {
      b.output(mode, b.value("resize", {part},
                             {{"height", int64_t{3}}, {"width", int64_t{5}}, {"mode", std::string(mode)}}, mode));
    };
    resized("bilinear");
    resized("nearest");
    const ValueId cut = b.value(
        "unfold", {maps},
        {{"space", int64_t{patches}}, {"height", int64_t{4}}, {"width", int64_t{4}}, {"stride", int64_t{2}}}, "cut");
    b.output("folded",
             b.value("fold", {cut}, {{"height", int64_t{6}}, {"width", int64_t{6}}, {"stride", int64_t{2}}}, "folded"));
    b.output("joined", b.value("concat", {maps, maps}, {}, "joined"));
    const Graph g = b.finish();
    const auto costs = [&](std::vector<double> shares) {
      CostCase of{.bindings = {8}};
      of.shares.set(d, std::move(shares));
      std::map<std::string, Cost> by_name;
      for (const NodeCost& n : cost_of(g, of).nodes) by_name[g.node(n.node).name] = n.cost;
      return by_name;
    };
    auto some = costs({0.25, 0.25, 0.25, 0.25});  // two cells in the branch
    QCOMPARE(some["weight"].bytes(), 2 * 2 * 4.0);
    QCOMPARE(some["weighed"].bytes(), 2 * 4.0 * (72 + 1 + 72));
    QCOMPARE(some["bilinear"].bytes(), 2 * 4.0 * (72 + 30));
    QCOMPARE(some["bilinear"].flops, 2 * 30 * 8.0);
    QCOMPARE(some["nearest"].flops, 0.0);
    QCOMPARE(some["cut"].bytes(), 8 * 4.0 * (72 + 4 * 32));
    QCOMPARE(some["folded"].flops, 8 * (4 * 32 + 72.0));
    QCOMPARE(some["joined"].bytes(), 8 * 4.0 * 4 * 72);
    auto none = costs({0, 1, 0, 0});
    for (const char* name : {"weight", "weighed", "bilinear", "nearest"})
      QCOMPARE(none[name].bytes() + none[name].flops, 0.0);
  }
  void precise_products_have_the_peak_of_f32() {
    for (const int64_t precise : {0, 1}) {
      CaseBuilder b(4);
      b.weight_dtype = DType::bf16;
      const ValueId x = b.floats("x", b.root_space("rows", b.bound_symbol("N", 2)), {8});
      const ValueId y = b.value("linear", {x, b.drawn("w", {4, 8}, 1)}, {{"precise", precise}}, "y");
      b.output("y", y);
      const Graph g = b.finish();
      QCOMPARE(cost_of(g, {.bindings = {2}}).nodes.at(0).is_bf16, precise == 0);
    }
  }
  void repeats_count_their_turns_and_guards_their_taken_body() {
    const RandomCase toy = iterated_router_toy();
    const GraphCost most = cost_of(toy.graph, {.bindings = toy.bindings}),
                    two = cost_of(toy.graph, {.bindings = toy.bindings, .turns = 2});
    QCOMPARE(flops_of(toy.graph, most, "route"), 4 * flops_of(toy.graph, two, "route"));
    for (uint64_t seed = 0; seed < 200; ++seed) {
      const RandomCase made = make_random_case(seed);
      bool guarded = false;
      made.graph.for_each_node([&](NodeId id, int) { guarded = guarded || made.graph.node(id).op->name == "guard"; });
      const GraphCost held = cost_of(made.graph, {.bindings = made.bindings}),
                      missed = cost_of(made.graph, {.bindings = made.bindings, .guard_hits = 0});
      if (!guarded) QCOMPARE(held.total.flops, missed.total.flops);
      if (guarded) QVERIFY(held.total.flops < missed.total.flops);
      QVERIFY(held.total.flops > 0 && std::isfinite(held.total.bytes()) && held.cells > 0);
    }
  }
  void nested_spaces_multiply_their_shares() {
    const RandomCase toy = exit_chain_toy();
    const Graph& g = toy.graph;
    BranchShares shares;
    shares.set(g.find_value("block.0.exit"), {0.25, 0.75});
    shares.set(g.find_value("block.1.exit"), {0.5, 0.5});
    for (const SpaceId s : g.spaces.ids())
      if (g.space(s).name == "block.1.exit/1") QCOMPARE(shares.rows(g, s, toy.bindings), 6 * 0.75 * 0.5);
  }
};

STORMCELL_TEST(GraphCostTest)

}  // namespace stormcell::testing::graph_cost_test

#include "graph_cost_test.moc"
