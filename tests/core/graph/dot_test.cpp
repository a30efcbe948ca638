// Graphviz output: well formed, routers stand out, alike branches are drawn once.
#include "core/graph/dot.h"

#include "core/graph/alike_branches.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

size_t count(const std::string& text, const std::string& part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// Braces that match outside of quotes, quotes that close on their line.
bool is_well_formed(const std::string& text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == '\n' && quoted) {
      return false;
    } else if (!quoted && c == '{') {
      ++depth;
    } else if (!quoted && c == '}' && --depth < 0) {
      return false;
    }
  }
  return depth == 0 && !quoted;
}

/// Layers of a mixture of `experts` alike experts, the last with another activation when `odd`.
Graph layers(int count, int experts, bool odd) {
  CaseBuilder b(1);
  const SpaceId tokens = b.dense_space("tokens", b.root_space("sequences", b.symbol("N")), b.symbol("T"));
  ValueId x = b.input("x", DType::f32, tokens, {4});
  for (int layer = 0; layer < count; ++layer) {
    const std::string name = "layer." + std::to_string(layer);
    const ValueId decision = b.route(b.linear(x, experts, name + ".router"), {}, name);
    std::vector<int32_t> branches;
    for (int32_t i = 0; i < experts; ++i) branches.push_back(i);
    std::vector<ValueId> results = b.scatter(x, decision, branches);
    for (int i = 0; i < experts; ++i) {
      const std::string expert = name + ".expert." + std::to_string(i);
      ValueId& y = results[static_cast<size_t>(i)];
      y = b.linear(b.linear(y, 8, expert + ".wi", odd && i + 1 == experts ? "gelu" : "relu"), 4, expert + ".wo");
    }
    x = b.add(x, b.gather(std::move(results), tokens, "weighted"));
  }
  b.output("y", x);
  return b.finish();
}

}  // namespace

class DotTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_and_toys_are_well_formed() {
    for (uint64_t seed = 0; seed < 100; ++seed) {
      const RandomCase made = make_random_case(seed);
      for (const bool collapse : {false, true})
        QVERIFY2(is_well_formed(to_dot(made.graph, {collapse})), made.name.c_str());
    }
    for (const Toy& toy : toys()) QVERIFY2(is_well_formed(to_dot(toy.make(1).graph)), toy.name);
  }
  void names_with_quotes_do_no_harm() {
    GraphBuilder b;
    b.output("o\"ut\\", b.value("scale", {b.input("in\"\\\n{", DType::f32, b.root_space("a\"b", 2), {3})},
                                {{"factor", 2.0}}, "n\"{"));
    QVERIFY(is_well_formed(to_dot(b.finish())));
  }
  void alike_branches_are_drawn_once() {
    const std::string text = to_dot(layers(2, 8, false));
    QCOMPARE(count(text, "branch 0..7 x8"), size_t{2});
    QCOMPARE(count(text, "shape=diamond"), size_t{2});
    QCOMPARE(count(text, "expert."), size_t{4});
  }
  void a_branch_that_differs_is_drawn_apart() {
    const std::string text = to_dot(layers(1, 8, true));
    QCOMPARE(count(text, "branch 0..6 x7"), size_t{1});
    QCOMPARE(count(text, "branch 7\""), size_t{1});
  }
  void every_branch_is_drawn_when_asked() {
    const std::string text = to_dot(layers(1, 8, false), {false});
    for (int i = 0; i < 8; ++i) QCOMPARE(count(text, "branch " + std::to_string(i) + "\""), size_t{1});
  }
  void many_experts_stay_readable() {
    const std::string text = to_dot(layers(12, 256, false));
    QCOMPARE(count(text, "branch 0..255 x256"), size_t{12});
    QVERIFY(text.size() < 30000);
  }
  void bodies_and_nested_branches_are_framed() {
    const std::string text = to_dot(iterated_router_toy().graph);
    QCOMPARE(count(text, "label=\"repeat loop\""), size_t{1});
    QVERIFY(count(text, "label=\"loop.experts: branch 0..1 x2\"") == 1);
    const size_t outer = text.find("loop.exit: branch 1"), inner = text.find("loop.experts: branch");
    QVERIFY(outer < inner);
  }
  void nested_routers_of_alike_branches_are_alike() {
    const RandomCase toy = exit_chain_toy();
    const Graph& g = toy.graph;
    for (const auto& [space, first] : alike_branches(g)) {
      QCOMPARE(g.space(space).decision, g.space(first).decision);
      QVERIFY(g.space(first).branch <= g.space(space).branch);
    }
  }
};
STORMCELL_TEST(DotTest)
#include "dot_test.moc"
