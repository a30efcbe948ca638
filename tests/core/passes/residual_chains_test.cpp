// Residual blocks of convolutions become one step: which ones, what keeps them apart, and that no bit changes.
#include "tests/core/passes/vertically_fused.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

class Blocks : public CaseBuilder {
 public:
  explicit Blocks(int64_t channels, int64_t height = 9, int64_t width = 21) : CaseBuilder(7) {
    x = floats("x", root_space("maps", bound_symbol("N", 3)), {height, width, channels});
  }
  /// x + second(relu(first(x))).
  ValueId block(ValueId from, const std::string& name, const char* activation = "relu", int64_t size = 3) {
    const int64_t channels = width_of(from);
    const ValueId inner = value("activation", {conv(from, channels, size, 1, name + ".first")},
                                {{"kind", std::string(activation)}}, name + ".relu");
    return add(from, conv(inner, channels, size, 1, name + ".second"), name);
  }
  ValueId x = kNone;
};

}  // namespace

class ResidualChainsTest : public QObject {
  Q_OBJECT
 private slots:
  void blocks_that_follow_one_another_become_one_step() {
    for (const int64_t channels : {3, 8, 20}) {
      Blocks b(channels);
      b.output("y", b.block(b.block(b.block(b.x, "0"), "1"), "2"));
      const PassResult result = vertically_fused(b.take(std::to_string(channels)));
      QCOMPARE(count_nodes(result.graph, "residual_blocks"), size_t{1});
      QCOMPARE(result.graph.nodes.size(), size_t{1});
      QCOMPARE(result.graph.nodes.front().inputs.size(), size_t{13});
      QVERIFY2(result.reason.ends_with("; 3 residual blocks in 1 chain"), result.reason.c_str());
    }
  }

  void a_map_that_others_read_ends_a_chain() {
    Blocks b(4);
    const ValueId first = b.block(b.x, "0");
    b.output("between", first);
    b.output("y", b.block(b.block(first, "1"), "2"));
    const PassResult result = vertically_fused(b.take("read between"));
    QCOMPARE(count_nodes(result.graph, "residual_blocks"), size_t{2});
    QVERIFY2(result.reason.ends_with("; 3 residual blocks in 2 chains"), result.reason.c_str());
  }

  void another_kernel_ends_a_chain() {
    Blocks b(4);
    b.output("y", b.block(b.block(b.block(b.x, "0"), "1"), "2", "relu", 5));
    const PassResult result = vertically_fused(b.take("3 x 3, then 5 x 5"));
    QVERIFY2(result.reason.ends_with("; 3 residual blocks in 2 chains"), result.reason.c_str());
  }

  void other_blocks_are_left_as_they_are() {
    const auto left = [](const RandomCase& from) {
      return count_nodes(vertically_fused(from).graph, "residual_blocks") == 0;
    };
    Blocks wide(40);
    wide.output("y", wide.block(wide.x, "0"));
    QVERIFY(left(wide.take("channels that fill a panel")));
    Blocks large(8, 200, 100);
    large.output("y", large.block(large.x, "0"));
    QVERIFY(left(large.take("maps that no cache holds")));
    Blocks smooth(4);
    smooth.output("y", smooth.block(smooth.x, "0", "silu"));
    QVERIFY(left(smooth.take("another activation")));
    Blocks other(4);
    const ValueId inner =
        other.value("activation", {other.conv(other.x, 4, 3, 1, "first")}, {{"kind", std::string("relu")}}, "relu");
    other.output(
        "y", other.add(other.floats("z", other.space_of(other.x), {9, 21, 4}), other.conv(inner, 4, 3, 1, "second")));
    QVERIFY(left(other.take("the residual of another map")));
    Blocks active(4);
    active.output("y",
                  active.value("activation", {active.block(active.x, "0")}, {{"kind", std::string("relu")}}, "relu"));
    QVERIFY(left(active.take("an activation of the sum")));
  }
};
STORMCELL_TEST(ResidualChainsTest)
#include "residual_chains_test.moc"
