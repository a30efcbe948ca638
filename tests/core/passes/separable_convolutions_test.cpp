// Depthwise convolutions become part of the pointwise ones behind them: which ones, what keeps them apart, and that no
// bit changes.
#include "tests/core/passes/vertically_fused.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

class Maps : public CaseBuilder {
 public:
  explicit Maps(int64_t channels) : CaseBuilder(7) {
    x = floats("x", root_space("maps", bound_symbol("N", 3)), {9, 21, channels});
  }
  ValueId depthwise(ValueId from, const std::string& name, int64_t size = 3, int64_t stride = 1) {
    const int64_t channels = width_of(from);
    return value("conv2d", {from, drawn(name + ".weight", {channels, size, size, 1}, 0.3)},
                 {{"groups", channels}, {"padding", size / 2}, {"stride", stride}}, name);
  }
  ValueId pointwise(ValueId from, int64_t outputs, const std::string& name, int64_t stride = 1) {
    return conv(from, outputs, 1, stride, name);
  }
  ValueId relu(ValueId from, const std::string& name) {
    return value("activation", {from}, {{"kind", std::string("relu")}}, name);
  }
  ValueId x = kNone;
};

size_t separable(const PassResult& result) { return count_nodes(result.graph, "separable_conv2d"); }

}  // namespace

class SeparableConvolutionsTest : public QObject {
  Q_OBJECT
 private slots:
  void two_in_a_row_with_what_follows_them_become_two_steps() {
    for (const int64_t channels : {2, 24, 70})
      for (const int64_t stride : {1, 2}) {
        Maps b(channels);
        const ValueId inner = b.relu(b.pointwise(b.depthwise(b.x, "a", 3, stride), channels, "b"), "c");
        b.output("y", b.relu(b.add(inner, b.pointwise(b.depthwise(inner, "d", 5), channels, "e")), "f"));
        const PassResult result = vertically_fused(b.take(std::to_string(channels) + " by " + std::to_string(stride)));
        QCOMPARE(separable(result), size_t{2});
        QCOMPARE(count_nodes(result.graph, "conv2d") + count_nodes(result.graph, "add") +
                     count_nodes(result.graph, "activation"),
                 size_t{0});
        QCOMPARE(result.graph.nodes.back().attributes.integer("residual_first"), int64_t{1});
        QVERIFY2(result.reason.ends_with("; 2 depthwise convolutions in the pointwise ones after them"),
                 result.reason.c_str());
      }
  }

  void a_pair_with_nothing_beside_it_is_enough() {
    Maps b(8);
    b.output("y", b.pointwise(b.depthwise(b.x, "a"), 5, "b"));
    const PassResult result = vertically_fused(b.take("nothing beside"));
    QVERIFY(result.applied);
    QCOMPARE(result.reason, std::string("1 depthwise convolution in the pointwise ones after them"));
    QCOMPARE(result.graph.nodes.size(), size_t{1});
  }

  void in_a_branch_as_well() {
    Maps b(6);
    Protocol top;
    top.k = 1;
    const ValueId pooled = b.value("pool", {b.x}, {{"kind", std::string("global_average")}}, "pooled");
    const ValueId decision = b.route(b.linear(pooled, 2, "gates"), top, "ways");
    std::vector<ValueId> parts = b.scatter(b.x, decision, {0, 1});
    parts[1] = b.pointwise(b.depthwise(parts[1], "a"), 6, "b");
    b.output("y", b.gather(parts, b.space_of(b.x), "weighted"));
    QCOMPARE(separable(vertically_fused(b.take("in a branch"))), size_t{1});
  }

  void others_are_left_as_they_are() {
    const auto left = [](Maps& b, ValueId y, const char* name) {
      b.output("y", y);
      return separable(vertically_fused(b.take(name))) == 0;
    };
    Maps read(8);
    const ValueId between = read.depthwise(read.x, "a");
    read.output("between", between);
    QVERIFY(left(read, read.pointwise(between, 8, "b"), "a map that others read"));
    Maps active(8);
    QVERIFY(left(active, active.pointwise(active.relu(active.depthwise(active.x, "a"), "r"), 8, "b"),
                 "an activation between"));
    Maps biased(8);
    const ValueId shifted = biased.value(
        "conv2d", {biased.x, biased.drawn("a.weight", {8, 3, 3, 1}, 0.3), biased.drawn("a.bias", {8}, 0.3)},
        {{"groups", int64_t{8}}, {"padding", int64_t{1}}, {"extras", std::string("bias")}}, "a");
    QVERIFY(left(biased, biased.pointwise(shifted, 8, "b"), "a bias between"));
    Maps strided(8);
    QVERIFY(left(strided, strided.pointwise(strided.depthwise(strided.x, "a"), 8, "b", 2), "a stride of the second"));
    Maps wide(8);
    QVERIFY(left(wide, wide.conv(wide.depthwise(wide.x, "a"), 8, 3, 1, "b"), "a second one of 3 x 3"));
    Maps grouped(8);
    const ValueId halves = grouped.value("conv2d", {grouped.x, grouped.drawn("a.weight", {8, 3, 3, 4}, 0.3)},
                                         {{"groups", int64_t{2}}, {"padding", int64_t{1}}}, "a");
    QVERIFY(left(grouped, grouped.pointwise(halves, 8, "b"), "groups of four channels"));
    Maps multiplied(4);
    const ValueId twice = multiplied.value("conv2d", {multiplied.x, multiplied.drawn("a.weight", {8, 3, 3, 1}, 0.3)},
                                           {{"groups", int64_t{4}}, {"padding", int64_t{1}}}, "a");
    QVERIFY(left(multiplied, multiplied.pointwise(twice, 8, "b"), "two kernels a channel"));
    for (const bool value : {false, true}) {
      Maps told(8);
      const ValueId first = told.depthwise(told.x, "a"), second = told.pointwise(first, 8, "b");
      Graph& graph = told.graph();
      if (value)
        graph.node(graph.value(second).producer).annotations.set(kKernel, "conv2d.panels");
      else
        graph.node(graph.value(first).producer).annotations.set(kKernel, "conv2d.panels");
      QVERIFY(left(told, second, "a plan says how it runs"));
    }
  }

  void weights_stored_in_bf16_are_left() {
    Maps b(8);
    b.weight_dtype = DType::bf16;
    b.output("y", b.pointwise(b.depthwise(b.x, "a"), 8, "b"));
    QCOMPARE(separable(vertically_fused(b.take("bf16"))), size_t{0});
  }
};
STORMCELL_TEST(SeparableConvolutionsTest)
#include "separable_convolutions_test.moc"
