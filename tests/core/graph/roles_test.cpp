// Roles that operators declare, held against what nodes of random graphs and toys really do.
#include "core/graph/roles.h"

#include <algorithm>
#include <map>
#include <set>

#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

const std::vector<RandomCase>& cases() {
  static const std::vector<RandomCase> list = [] {
    std::vector<RandomCase> all;
    for (const Toy& toy : toys()) all.push_back(toy.make(1));
    for (uint64_t seed = 0; seed < 60; ++seed) all.push_back(make_random_case(seed));
    return all;
  }();
  return list;
}

template <class Check>
void for_each_node(Check check) {
  for (const RandomCase& from : cases())
    from.graph.for_each_node([&](NodeId id, int) { check(from.graph, from.graph.node(id)); });
}

QByteArray named(const Node& n) { return QByteArray::fromStdString(std::string(n.op->name) + " " + n.name); }

}  // namespace

class RolesTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_pointwise_has_flow_from_the_same_cell_alone() {
    std::set<std::string_view> seen;
    for_each_node([&](const Graph& g, const Node& n) {
      if (!has_role(n, Role::pointwise)) return;
      seen.insert(n.op->name);
      for (size_t i = 0; i < n.inputs.size(); ++i) {
        const Mix mix = n.op->flow(g, n, i).mix;
        QVERIFY2(mix == Mix::cell || mix == Mix::none, named(n).constData());
        const ValueKind kind = g.value(n.inputs[i]).kind;
        QVERIFY2(kind != ValueKind::decision && kind != ValueKind::ragged, named(n).constData());
      }
      for (const ValueId v : n.outputs) QCOMPARE(g.value(v).type.space, g.value(n.inputs[0]).type.space);
    });
    QVERIFY2(seen.size() >= 7, QByteArray::number(static_cast<int>(seen.size())).constData());
  }
  void decisions_are_made_by_routes_and_exchanges_alone() {
    for_each_node([&](const Graph& g, const Node& n) {
      for (const ValueId v : n.outputs)
        if (g.value(v).kind == ValueKind::decision)
          QVERIFY2(is_route(n) || has_role(n, Role::exchange), named(n).constData());
    });
  }
  void rows_come_to_branches_through_what_opens_them() {
    std::map<Role, int> count;
    for_each_node([&](const Graph& g, const Node& n) {
      ++count[n.op->role];
      if (n.outputs.empty() || !n.bodies.empty()) return;
      const SpaceId to = g.value(n.outputs[0]).type.space;
      if (to == kNone || g.space(to).kind != SpaceKind::routed) return;
      // Rows, not what tells where they go; a nested router's gather gives rows in the branch, from below it.
      size_t rows = 0, inside = 0;
      for (const ValueId v : n.inputs) {
        const Value& in = g.value(v);
        if (in.kind == ValueKind::weight || in.kind == ValueKind::decision || in.kind == ValueKind::ragged) continue;
        ++rows;
        inside += g.is_within(in.type.space, to);
      }
      if (rows > 0 && inside == 0) QVERIFY2(opens(g, n, g.space(to).decision), named(n).constData());
    });
    QVERIFY(count[Role::open] > 100);
    QVERIFY(count[Role::grouped] > 3);
    QVERIFY(count[Role::guard] > 3);
  }
  void what_closes_joins_rows_from_below_its_own_cells() {
    for_each_node([&](const Graph& g, const Node& n) {
      if (!has_role(n, Role::close)) return;
      for (size_t i = 0; i < joined_inputs(n); ++i)
        QVERIFY2(g.is_within(g.value(n.inputs[i]).type.space, g.value(n.outputs[0]).type.space), named(n).constData());
    });
  }
  void bodies_are_held_by_those_whose_role_has_some() {
    for_each_node([&](const Graph&, const Node& n) { QCOMPARE(n.bodies.size(), body_count(*n.op)); });
  }
  void branches_sent_are_those_of_the_outputs_or_of_the_weights() {
    for_each_node([&](const Graph& g, const Node& n) {
      if (sends_by(g, n) == kNone) {
        QVERIFY(has_role(n, Role::open) || branches_sent(g, n).empty());
        return;
      }
      const std::vector<int32_t> sent = branches_sent(g, n);
      if (has_role(n, Role::open)) QCOMPARE(sent.size(), n.outputs.size());
      size_t own = 0;
      for (size_t i = 0; i < n.inputs.size(); ++i)
        if (const auto b = branch_of_input(n, i)) {
          QCOMPARE(*b, sent[own++ % sent.size()]);
          QVERIFY(g.value(n.inputs[i]).kind == ValueKind::weight);
        }
      QCOMPARE(own, owned_inputs(n));
      QCOMPARE(own > 0, has_role(n, Role::grouped));
      QCOMPARE(own % sent.size(), size_t{0});
    });
  }
  void what_is_declared_of_neighbours_names_what_there_is() {
    for (const Operator* op : operators()) {
      if (!op->grouped_as.empty()) {
        const Operator* grouped = find_operator(op->grouped_as);
        QVERIFY(grouped && grouped->role == Role::grouped && op->role == Role::pointwise);
      }
      if (!op->folds_as.empty())
        QVERIFY(std::any_of(operators().begin(), operators().end(),
                            [&](const Operator* by) { return by != op && absorbs(*by, op->folds_as); }));
      for (const std::string_view word : {"gain", "scale", "activation", "multiply", "residual", "factors"})
        QVERIFY(!absorbs(*op, word) || knows(*op, word));
      QVERIFY(!op->keeps_rows || op->role == Role::state);
    }
  }
};
STORMCELL_TEST(RolesTest)
#include "roles_test.moc"
