// The limit of an execution counts what its decisions really asked for, by the same closed form as every prediction.
#include "core/measuring/physical_limit.h"

#include "core/graph/builder.h"
#include "core/runtime/lower.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

/// Images that one router sends through four convolutions, and a decision as it was executed.
struct Paths {
  explicit Paths(std::vector<int32_t> choices) {
    GraphBuilder b;
    const SpaceId images = b.root_space("images", b.symbol("N"));
    const ValueId scores = b.input("scores", DType::f32, images, {4}),
                  maps = b.input("maps", DType::f32, images, {6, 6, 4});
    const ValueId decision = b.route(scores, {}, "paths");
    std::vector<ValueId> parts = b.scatter(maps, decision, {0, 1, 2, 3});
    for (size_t i = 0; i < parts.size(); ++i) {
      const ValueId w = b.weight("w" + std::to_string(i), DType::f32, {5, 3, 3, 4});
      parts[i] = b.value("conv2d", {parts[i], w}, {{"stride", int64_t{1}}, {"padding", int64_t{1}}},
                         "conv." + std::to_string(i));
    }
    b.output("y", b.gather(std::move(parts), images, "sum"));
    program = lower(std::make_shared<Graph>(b.finish()));
    ExecutedDecision d;
    d.router = RouterId(0);
    d.shape = {static_cast<int64_t>(choices.size()), 1, 4};
    d.choice = std::move(choices);
    result.decisions.push_back(std::move(d));
  }
  GraphCost cost() const {
    return cost_of(*program.graph, executed_case(program, result, {result.decisions[0].shape.cells}));
  }
  const NodeCost& conv(const GraphCost& cost, int branch) const {
    for (const NodeCost& n : cost.nodes)
      if (program.graph->node(n.node).name == "conv." + std::to_string(branch)) return n;
    throw std::logic_error("no such branch");
  }
  Program program;
  ExecutionResult result;
};

}  // namespace

class PhysicalLimitTest : public QObject {
  Q_OBJECT
 private slots:
  void convolutions_that_no_image_reached_are_charged_nothing() {
    const Paths paths({2, 2, 0, 2, kNoBranch, 2});
    const GraphCost cost = paths.cost();
    constexpr double kWeights = 5 * 3 * 3 * 4 * 4.0, kImage = 6 * 6 * 5 * 2 * 9 * 4;
    for (const auto& [branch, rows] : {std::pair{0, 1.0}, std::pair{1, 0.0}, std::pair{2, 4.0}, std::pair{3, 0.0}}) {
      const NodeCost& n = paths.conv(cost, branch);
      QCOMPARE(n.rows, rows);
      QCOMPARE(n.cost.weight_bytes, rows > 0 ? kWeights : 0);
      QCOMPARE(n.cost.flops, rows * kImage);
    }
    QCOMPARE(cost.total.weight_bytes, 2 * kWeights);
  }
  void a_router_that_no_cell_reached_sends_nothing_on() {
    Paths paths({});
    const GraphCost cost = paths.cost();
    QCOMPARE(cost.total.weight_bytes, 0.0);
    QCOMPARE(cost.total.flops, 0.0);
  }
  void guards_count_by_how_often_they_held() {
    Paths paths({0});
    paths.result.guard_hits = {3, 0};
    paths.result.guard_misses = {0, 1};
    QCOMPARE(executed_case(paths.program, paths.result, {1}).guard_hits, 0.75);
    paths.result.guard_hits = paths.result.guard_misses = {};
    QCOMPARE(executed_case(paths.program, paths.result, {1}).guard_hits, 1.0);
  }
};
STORMCELL_TEST(PhysicalLimitTest)
#include "physical_limit_test.moc"
