// Random graphs and toys are valid and repeatable, and reach what they are there to reach.
#include <set>

#include "core/graph/label_inputs.h"
#include "core/graph/operator.h"
#include "core/graph/verify.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

class RandomGraphTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_are_valid_and_complete() {
    std::set<std::string> operators, protocols;
    size_t routers = 0;
    for (uint64_t seed = 0; seed < 600; ++seed) {
      RandomOptions options;
      options.maps = seed >= 400;
      const RandomCase made = make_random_case(seed, options);
      verify(made.graph);
      made.graph.for_each_node([&](NodeId id, int) {
        const Node& node = made.graph.node(id);
        operators.emplace(node.op->name);
        if (node.op->name == "route") protocols.insert(node.attributes.word("protocol")), ++routers;
      });
      for (const Value& v : made.graph.values) {
        if (v.kind == ValueKind::input) QVERIFY(made.inputs.contains(v.name));
        if (v.kind == ValueKind::weight) QVERIFY(made.weights->find(weight_text(v)) != nullptr);
      }
      QVERIFY(!made.graph.outputs.empty());
    }
    QCOMPARE(protocols.size(), size_t{9});
    QVERIFY(routers > 800);
    for (const char* op : {"embedding",
                           "linear",
                           "grouped_linear",
                           "rms_norm",
                           "activation",
                           "add",
                           "multiply",
                           "attention",
                           "rotary",
                           "positions",
                           "route",
                           "scatter",
                           "gather",
                           "conv2d",
                           "pool",
                           "reduce",
                           "broadcast",
                           "argmax",
                           "branches_empty",
                           "guard",
                           "choice_weight",
                           "resize",
                           "unfold",
                           "fold",
                           "pixel_shuffle",
                           "concat",
                           "standardize",
                           "squared_distance",
                           "residual_blocks",
                           "layer_norm",
                           "merge_cells",
                           "window_attention",
                           "zeros",
                           "grouped_conv2d",
                           "separable_conv2d",
                           "grouped_residual_blocks",
                           "grouped_layer_norm"})
      QVERIFY2(operators.contains(op), op);
  }

  void the_same_seed_makes_the_same_graph() {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const RandomCase a = make_random_case(seed), b = make_random_case(seed);
      QCOMPARE(a.graph.nodes.size(), b.graph.nodes.size());
      QVERIFY(a.inputs == b.inputs);
      for (const Value& v : a.graph.values)
        if (v.kind == ValueKind::weight)
          QVERIFY(std::memcmp(a.weights->bytes(weight_text(v)).get(), b.weights->bytes(weight_text(v)).get(),
                              static_cast<size_t>(a.weights->find(weight_text(v))->bytes())) == 0);
    }
  }

  void graphs_over_maps_hold_what_they_are_for() {
    RandomOptions options;
    options.maps = true;
    int below_branches = 0, in_branches = 0, weights_within = 0, labelled = 0, several = 0;
    for (uint64_t seed = 0; seed < 80; ++seed) {
      const Graph g = make_random_case(seed, options).graph;
      bool below = false, members = false, within = false, joined = false;
      for (const CellSpace& s : g.spaces) below = below || (s.kind == SpaceKind::dense && g.is_dynamic(s.parent));
      for (const Node& n : g.nodes) {
        if (n.op->name == "unfold") members = members || g.holds_members(g.value(n.outputs[0]).type.space);
        if (n.op->name == "choice_weight") within = within || g.is_dynamic(g.value(n.inputs[0]).type.space);
        std::set<ValueId> decisions;
        for (const ValueId v : n.inputs)
          if (n.op->name == "gather" && g.space(g.value(v).type.space).kind == SpaceKind::routed)
            decisions.insert(g.space(g.value(v).type.space).decision);
        joined = joined || decisions.size() > 1;
      }
      below_branches += below;
      in_branches += members;
      weights_within += within;
      several += joined;
      labelled += !label_inputs(g).empty();
    }
    const std::string counts = std::to_string(below_branches) + " " + std::to_string(in_branches) + " " +
                               std::to_string(weights_within) + " " + std::to_string(several) + " " +
                               std::to_string(labelled);
    QVERIFY2(below_branches > 4 && in_branches > 8 && weights_within > 8 && several > 8 && labelled > 4,
             counts.c_str());
  }
  void toys_are_valid() {
    for (const Toy& toy : toys()) verify(toy.make(1).graph);
  }
};
STORMCELL_TEST(RandomGraphTest)
#include "random_graph_test.moc"
