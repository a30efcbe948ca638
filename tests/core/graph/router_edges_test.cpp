// Who meets whom next: graphs whose edges are known, and random graphs against a walk of every single cell.
#include "core/graph/router_edges.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/graph/operator.h"
#include "core/models/model.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// "a > b" or "a [0,2] > b".
std::vector<std::string> edges_of(const Graph& g) {
  std::vector<std::string> list;
  for (const RouterEdge& e : router_edges(g)) {
    std::string branches;
    for (const int32_t b : e.branches) branches += (branches.empty() ? " [" : ",") + std::to_string(b);
    list.push_back(g.node(e.from).name + branches + (branches.empty() ? "" : "]") + " > " + g.node(e.to).name);
  }
  std::sort(list.begin(), list.end());
  return list;
}
using Lines = std::vector<std::string>;

/// Tokens and mixtures of two branches over them.
struct Mixtures : CaseBuilder {
  Mixtures() : CaseBuilder(1) {
    tokens = dense_space("tokens", root_space("sequences", bound_symbol("N", 2)), bound_symbol("T", 3));
    x = floats("x", tokens, {4});
  }
  ValueId decide(ValueId from, const std::string& name) {
    Protocol best;
    best.k = 1;
    return route(linear(from, 2, name + ".scores"), best, name);
  }
  ValueId join(ValueId flow, ValueId decision, const std::string& name) {
    const std::vector<ValueId> parts = scatter(flow, decision, {0, 1});
    return gather({linear(parts[0], 4, name + ".0"), linear(parts[1], 4, name + ".1")}, space_of(flow), "weighted",
                  kNone, name + ".joined");
  }
  ValueId mixture(ValueId from, const std::string& name) { return join(from, decide(from, name), name); }
  Lines edges(ValueId out) {
    output("y", out);
    return edges_of(take("mixtures").graph);
  }
  SpaceId tokens = kNone;
  ValueId x = kNone;
};

/// Follows every cell through an execution: which choices of which routers lie behind its row of each value.
class CellWalk {
 public:
  using Choice = std::pair<size_t, int32_t>;           // router, branch; -1: it came by, whatever was chosen
  using Behind = std::map<int64_t, std::set<Choice>>;  // by row of the dense space

  CellWalk(const RandomCase& made) : g_(made.graph), bindings_(made.bindings) {
    const auto result = Oracle<float>(g_, *made.weights).run(oracle_inputs(made), bindings_);
    g_.for_each_node([&](NodeId id, int) {
      if (g_.node(id).op->name == "route") router_of_[g_.node(id).outputs[0]] = routers++, nodes.push_back(id);
    });
    kept.resize(routers);
    meets.resize(routers);
    for (const OracleDecision& d : result.decisions)
      for (size_t r = 0; r < routers; ++r) {
        if (nodes[r] != d.node) continue;
        for (int64_t c = 0; c < d.shape.cells; ++c) {
          auto& branches = kept[r][d.ancestor.empty() ? c : d.ancestor[static_cast<size_t>(c)]];
          for (int32_t j = 0; j < d.shape.fan_out; ++j)
            if (const int32_t choice = d.choice[static_cast<size_t>(c * d.shape.fan_out + j)]; is_kept(choice))
              branches.insert(choice);
        }
      }
    block(g_.top);
  }

  /// The routers that a cell meets next after a choice.
  std::set<size_t> next(size_t from, int32_t branch, int64_t row) const {
    std::set<size_t> list;
    const auto is_behind = [&](size_t router, Choice choice) {
      const auto at = meets[router].find(row);
      return at != meets[router].end() && kept[router].contains(row) && at->second.contains(choice);
    };
    for (size_t to = from + 1; to < routers; ++to) {
      bool direct = is_behind(to, {from, branch});
      for (size_t between = from + 1; between < to && direct; ++between)
        direct = !is_behind(between, {from, branch}) || !is_behind(to, {between, -1});
      if (direct) list.insert(to);
    }
    return list;
  }

  size_t routers = 0;
  std::vector<NodeId> nodes;
  std::vector<std::map<int64_t, std::set<int32_t>>> kept;  // by router and row: the branches that kept the cell
  std::vector<Behind> meets;

 private:
  /// Adds what a routed space tells of its cells.
  void add_choices(SpaceId space, SpaceId end, bool all, Behind& to) {
    for (SpaceId s = space; s != end && s != kNone; s = g_.origin(s)) {
      if (g_.space(s).kind != SpaceKind::routed) continue;
      const size_t router = router_of_.at(g_.space(s).decision);
      for (const auto& [row, branches] : kept[router]) {
        to[row].insert({router, -1});
        for (const int32_t b : branches)
          if (all || g_.space(s).branch == kAllBranches || g_.space(s).branch == b) to[row].insert({router, b});
      }
    }
  }
  /// Only cells that a space holds have rows there.
  void keep_present(SpaceId space, Behind& behind) {
    for (SpaceId s = space; s != kNone; s = g_.origin(s)) {
      if (g_.space(s).kind != SpaceKind::routed) continue;
      const auto& of = kept[router_of_.at(g_.space(s).decision)];
      std::erase_if(behind, [&](const auto& entry) {
        const auto at = of.find(entry.first);
        return at == of.end() ||
               (g_.space(s).branch == kAllBranches ? at->second.empty() : !at->second.contains(g_.space(s).branch));
      });
    }
  }
  static void add(const Behind& from, Behind& to) {
    for (const auto& [row, choices] : from) to[row].insert(choices.begin(), choices.end());
  }
  void block(const Block& b) {
    for (const NodeId id : b.nodes) {
      const Node& n = g_.node(id);
      QVERIFY(n.op->name != "repeat" && !n.op->name.starts_with("state_"));
      for (const Block& body : n.bodies) block(body);
      for (size_t out = 0; out < n.outputs.size(); ++out)
        for (const auto& yield : n.yields) add(behind_[yield[out]], behind_[n.outputs[out]]);
      if (n.op->name == "guard") continue;
      Behind came;
      for (size_t i = 0; i < n.inputs.size(); ++i)
        if (n.op->name == "route" || n.op->flow(g_, n, i).mix == Mix::cell) add(behind_[n.inputs[i]], came);
      for (const ValueId v : n.op->name == "route" ? n.outputs : n.inputs)
        if (const auto router = router_of_.find(v); router != router_of_.end()) add(came, meets[router->second]);
      if (n.op->name == "route") continue;
      for (const ValueId out : n.outputs) {
        const SpaceId space = g_.value(out).type.space;
        behind_[out] = came;
        if (n.op->name == "gather")
          for (const ValueId in : n.inputs) add_choices(g_.value(in).type.space, space, true, behind_[out]);
        keep_present(space, behind_[out]);
        Behind own;
        add_choices(space, kNone, false, own);
        keep_present(space, own);
        add(own, behind_[out]);
      }
    }
  }

  const Graph& g_;
  const Bindings& bindings_;
  std::map<ValueId, size_t> router_of_;
  std::map<ValueId, Behind> behind_;
};

}  // namespace

class RouterEdgesTest : public QObject {
  Q_OBJECT
 private slots:
  void routers_one_after_another_are_a_chain() {
    Mixtures m;
    // Attention and residuals between change nothing: a cell stays itself in the residual.
    const ValueId a = m.add(m.x, m.mixture(m.x, "a"));
    const ValueId mixed = m.value("attention", {a, a, a}, {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}}, "mixed");
    const ValueId b = m.add(m.add(a, mixed), m.mixture(m.norm(m.add(a, mixed), "norm"), "b"));
    QCOMPARE(m.edges(m.mixture(b, "c")), (Lines{"a > b", "b > c"}));
  }
  void what_reaches_only_other_cells_is_no_edge() {
    Mixtures m;
    const ValueId a = m.mixture(m.x, "a");
    const ValueId mixed = m.value("attention", {m.x, a, a}, {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}}, "mixed");
    QCOMPARE(m.edges(m.mixture(mixed, "b")), Lines{});
  }
  void parallel_routers_are_no_edge_of_each_other() {
    Mixtures m;
    const ValueId sum = m.add(m.mixture(m.x, "left"), m.mixture(m.x, "right"));
    QCOMPARE(m.edges(m.mixture(sum, "after")), (Lines{"left > after", "right > after"}));
  }
  void three_routers_summed_into_one_are_three_edges() {
    Mixtures m;
    const ValueId before = m.mixture(m.x, "before");
    const ValueId sum = m.add(m.add(m.mixture(before, "p"), m.mixture(before, "q")), m.mixture(before, "r"));
    QCOMPARE(m.edges(m.mixture(sum, "after")),
             (Lines{"before > p", "before > q", "before > r", "p > after", "q > after", "r > after"}));
  }
  void a_branch_without_work_passes_its_cells_on() {
    Mixtures m;
    const ValueId decision = m.decide(m.x, "skip");
    const ValueId some =
        m.gather({m.linear(m.scatter(m.x, decision, {1})[0], 4, "work")}, m.tokens, "place", m.x, "skip.joined");
    QCOMPARE(m.edges(m.mixture(some, "after")), (Lines{"skip > after"}));
  }
  void a_nested_router_takes_the_cells_of_its_branch_only() {
    Mixtures m;
    const ValueId decision = m.decide(m.x, "outer");
    const std::vector<ValueId> parts = m.scatter(m.x, decision, {0, 1});
    const ValueId joined =
        m.gather({m.linear(parts[0], 4, "0"), m.mixture(parts[1], "inner")}, m.tokens, "weighted", kNone, "joined");
    QCOMPARE(m.edges(m.mixture(joined, "after")), (Lines{"inner > after", "outer [0] > after", "outer [1] > inner"}));
  }
  void labels_decide_for_cells_that_come() {
    Mixtures m;
    const ValueId label = m.integers("label", m.tokens, 2);
    Protocol rule;
    rule.kind = ProtocolKind::label;
    const ValueId first = m.join(m.x, m.route(label, rule, "first", 2), "first");
    QCOMPARE(m.edges(m.join(first, m.route(label, rule, "second", 2), "second")), (Lines{"first > second"}));
  }
  void cells_go_through_both_bodies_of_a_guard() {
    Mixtures m;
    const ValueId decision = m.decide(m.x, "a"), a = m.join(m.x, decision, "a");
    const ValueId empty = m.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "empty");
    m.begin_body();
    m.end_body({m.mixture(a, "taken")});
    m.begin_body();
    m.end_body({m.mixture(a, "fallback")});
    const ValueId out = m.graph().node(m.add_region("guard", {empty}, {}, "guard")).outputs[0];
    QCOMPARE(m.edges(m.mixture(out, "after")),
             (Lines{"a > fallback", "a > taken", "fallback > after", "taken > after"}));
  }
  void exits_and_their_mixtures() {
    QCOMPARE(
        edges_of(exit_chain_toy().graph),
        (Lines{"block.0.exit [1] > block.1.moe", "block.1.exit [1] > block.2.moe", "block.1.moe [0,2] > block.1.exit",
               "block.1.moe [1] > block.1.moe.expert.1.inner", "block.1.moe.expert.1.inner > block.1.exit"}));
  }
  void cells_of_the_next_turn_are_other_cells() {
    QCOMPARE(edges_of(iterated_router_toy().graph), (Lines{"loop.exit [1] > loop.experts"}));
  }
  void models_of_one_router_a_layer_are_chains() {
    const auto model = open_model("preset:switch-base-8");
    const Graph& g = *model->forward;
    std::map<NodeId, int> out, in;
    size_t edges = 0, routers = 0;
    for (const RouterEdge& e : router_edges(g)) {
      ++out[e.from], ++in[e.to], ++edges;
      QVERIFY(e.branches.empty());
      QCOMPARE(g.node(e.from).attributes.word("stack"), g.node(e.to).attributes.word("stack"));
    }
    g.for_each_node([&](NodeId id, int) { routers += g.node(id).op->name == "route"; });
    QCOMPARE(routers, size_t{12});
    QCOMPARE(edges, size_t{10});  // two chains of six
    for (const auto& [node, count] : out) QCOMPARE(count, 1);
    for (const auto& [node, count] : in) QCOMPARE(count, 1);
  }

  void every_cell_of_random_graphs_goes_as_the_edges_say_data() {
    QTest::addColumn<bool>("ragged");
    QTest::addColumn<bool>("maps");
    QTest::newRow("dense") << false << false;
    QTest::newRow("ragged") << true << false;
    QTest::newRow("maps") << false << true;
  }
  void every_cell_of_random_graphs_goes_as_the_edges_say() {
    QFETCH(bool, ragged);
    QFETCH(bool, maps);
    size_t steps = 0, several = 0, partial = 0;
    for (int seed = 0; seed < drawn(ragged || maps ? 100 : 300); ++seed) {
      RandomOptions options;
      options.ragged = ragged;
      options.maps = maps;
      const RandomCase made = make_random_case(static_cast<uint64_t>(seed), options);
      const CellWalk walk(made);
      const std::vector<RouterEdge> edges = router_edges(made.graph);
      for (const RouterEdge& e : edges) partial += !e.branches.empty();
      for (size_t from = 0; from < walk.routers; ++from)
        for (const auto& [row, branches] : walk.kept[from])
          for (const int32_t b : branches) {
            std::set<size_t> said;
            for (const RouterEdge& e : edges) {
              const auto to =
                  static_cast<size_t>(std::find(walk.nodes.begin(), walk.nodes.end(), e.to) - walk.nodes.begin());
              if (e.from == walk.nodes[from] && walk.kept[to].contains(row) &&
                  (e.branches.empty() || std::binary_search(e.branches.begin(), e.branches.end(), b)))
                said.insert(to);
            }
            const std::set<size_t> went = walk.next(from, b, row);
            if (said != went) {
              std::string text = "seed " + std::to_string(seed) + ", " + made.name + ": from " +
                                 made.graph.node(walk.nodes[from]).name + ", branch " + std::to_string(b) + ", row " +
                                 std::to_string(row) + " said:";
              for (const size_t to : said) text += " " + made.graph.node(walk.nodes[to]).name;
              text += "; went:";
              for (const size_t to : went) text += " " + made.graph.node(walk.nodes[to]).name;
              QFAIL(text.c_str());
            }
            steps += went.size();
            several += went.size() > 1;
          }
    }
    QVERIFY(steps > (kSanitized ? 100 : 500));
    if (!ragged && !maps) QVERIFY(several > (kSanitized ? 10 : 50) && partial > (kSanitized ? 10 : 50));
  }
};

STORMCELL_TEST(RouterEdgesTest)

#include "router_edges_test.moc"
