// Work that a decision does not need may wait for it.
#include <cmath>

#include "core/graph/hoist.h"

#include "tests/testing/graph_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// One exit over two scales: the coarse one decides, the fine one only matters to cells that go on.
struct TwoScales : CaseBuilder {
  TwoScales() : CaseBuilder(1) {
    images = root_space("images", bound_symbol("N", 4));
    const ValueId pixels = floats("pixels", images, {8, 8, 3});
    fine = conv(pixels, 4, 3, 1, "fine");
    finer = value("activation", {fine}, {{"kind", std::string("silu")}}, "finer");
    pooled = value("pool", {conv(pixels, 4, 3, 2, "coarse")}, {{"kind", std::string("global_average")}}, "pooled");
    logits = linear(pooled, 3, "classifier");
    Protocol rule;
    rule.kind = ProtocolKind::exit_threshold;
    rule.threshold = 0.5f;
    rule.residual = 0;
    decision = route(logits, rule, "exit");
  }
  void close() {
    const ValueId leaving = scatter(logits, decision, {0})[0], going = scatter(finer, decision, {1})[0];
    const ValueId last =
        linear(value("pool", {conv(going, 4, 3, 1, "next")}, {{"kind", std::string("global_average")}}, "last.pooled"),
               3, "last");
    output("logits", gather({leaving, last}, images, "place"));
  }
  SpaceId images = kNone;
  ValueId fine = kNone, finer = kNone, pooled = kNone, logits = kNone, decision = kNone;
};

std::vector<std::string> names(const Graph& g, const std::vector<NodeId>& nodes) {
  std::vector<std::string> list;
  for (const NodeId n : nodes) list.push_back(g.node(n).name);
  return list;
}
const Bindings kFour{4};
// 8 x 8 places, 4 channels out of 3, 3 x 3 taps, two operations each; the activation counts one an element.
constexpr double kFineFlops = 8 * 8 * 4 * 3 * 9 * 2, kActivationFlops = 8 * 8 * 4;

}  // namespace

class HoistTest : public QObject {
  Q_OBJECT
 private slots:
  void work_that_only_those_need_that_go_on_waits_for_the_exit() {
    TwoScales b;
    b.close();
    const Graph g = b.finish();
    const std::vector<Hoist> hoists = find_hoists(g, kFour);
    QCOMPARE(hoists.size(), size_t{1});
    QCOMPARE(hoists[0].name, std::string("exit"));
    QVERIFY((names(g, hoists[0].nodes) == std::vector<std::string>{"fine", "finer"}));
    QCOMPARE(hoists[0].flops, (kFineFlops + kActivationFlops) / 2);
    QVERIFY(hoists[0].bytes > 0);
    std::vector<std::string> cone;
    for (const ValueId v : hoists[0].cone) cone.push_back(g.value(v).name);
    QVERIFY((cone == std::vector<std::string>{"coarse", "pooled", "classifier"}));
    QVERIFY((hoists[0].sources == std::vector<ValueId>{g.find_value("pixels")}));
  }
  void a_profile_tells_how_much_is_saved() {
    TwoScales b;
    b.close();
    const Graph g = b.finish();
    BranchShares shares;
    shares.set(g.find_value("exit"), {0.9, 0.1});
    QVERIFY(std::abs(find_hoists(g, kFour, shares)[0].flops - 0.9 * (kFineFlops + kActivationFlops)) < 1e-6);
    shares.set(g.find_value("exit"), {0, 1});
    QVERIFY(find_hoists(g, kFour, shares)[0].nodes.empty());
  }
  void what_others_use_too_does_not_wait() {
    TwoScales b;
    b.output("fine", b.fine);
    b.close();
    const Graph g = b.finish();
    QVERIFY((names(g, find_hoists(g, kFour)[0].nodes) == std::vector<std::string>{"finer"}));
  }
  void what_mixes_cells_does_not_wait() {
    CaseBuilder b(1);
    const SpaceId tokens =
        b.dense_space("tokens", b.root_space("sequences", b.bound_symbol("N", 2)), b.bound_symbol("T", 3));
    const ValueId x = b.floats("x", tokens, {4});
    const ValueId mixed = b.value("attention", {x, x, x}, {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}}, "mixed");
    const ValueId side = b.linear(mixed, 4, "side");
    Protocol rule;
    rule.kind = ProtocolKind::residual_threshold;
    const ValueId decision = b.route(b.linear(x, 2, "scores"), rule, "path");
    b.output("y", b.gather({b.linear(b.scatter(side, decision, {1})[0], 4, "branch")}, tokens, "place", x));
    const Graph g = b.finish();
    QVERIFY((names(g, find_hoists(g, {2, 3})[0].nodes) == std::vector<std::string>{"side"}));
  }
  void experts_that_take_every_cell_save_nothing() {
    for (uint64_t seed = 0; seed < 50; ++seed) {
      const RandomCase made = make_random_case(seed);
      for (const Hoist& h : find_hoists(made.graph, made.bindings)) {
        QVERIFY(h.nodes.empty() == (h.flops + h.bytes == 0));
        QVERIFY(!h.sources.empty());
      }
    }
  }
  void a_router_in_a_repeat_depends_on_its_states() {
    const RandomCase toy = iterated_router_toy();
    const std::vector<Hoist> hoists = find_hoists(toy.graph, toy.bindings);
    QCOMPARE(hoists[0].name, std::string("loop.exit"));
    QVERIFY(std::ranges::count(hoists[0].sources, toy.graph.find_value("hidden")) == 1);
    QVERIFY(std::ranges::count(hoists[0].sources, toy.graph.find_value("ids")) == 1);
  }
};
STORMCELL_TEST(HoistTest)
#include "hoist_test.moc"
