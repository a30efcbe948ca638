// Constant decision and permanent path: what they make straight and why not, and that an input which is decided otherwise gets the right
// answer.
#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "core/graph/text.h"
#include "core/graph/uses.h"
#include "core/graph/verify.h"
#include "core/oracle/oracle.h"
#include "core/passes/constant_branches.h"
#include "core/passes/pipeline.h"
#include "core/runtime/named_routers.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

constexpr const char* kBoth[] = {"constant-decision", "permanent-path"};

/// 40 cells through one mixture of four experts, which go where the input "moe.labels" says.
RandomCase labelled_mixture(Mixture shape = {}) {
  MixtureBuilder b(5);
  const ValueId x = b.tokens(4, 10, 8);
  b.output("y", b.mixture(x, b.labelled(b.space_of(x), shape.branches, "moe"), shape, "moe"));
  return b.take("labelled mixture");
}

CaseInputs with_labels(const RandomCase& from, const std::string& router, std::vector<int32_t> labels) {
  CaseInputs inputs = from.inputs;
  auto& all = std::get<std::vector<int32_t>>(inputs.at(router + ".labels"));
  for (size_t i = 0; i < all.size(); ++i) all[i] = labels[i % labels.size()];
  return inputs;
}

PassResult apply(std::string_view pass, const RandomCase& from, const LoadProfile& profile, PassParameters options = {}) {
  const PassInput input = pass_input(from.graph, profile);
  return find_pass(pass)->run(input.on(from.graph, std::move(options), nullptr));
}
PassResult apply(std::string_view pass, const RandomCase& from, const CaseInputs& profiled, PassParameters options = {}) {
  return apply(pass, from, profile_of(from, {profiled}), std::move(options));
}

int64_t sum(const std::vector<int32_t>& counts) {
  int64_t all = 0;
  for (const int32_t n : counts) all += n;
  return all;
}

/// The plan answers as the one without passes, and each router's standing decision is the same; returns what it did.
ExecutionResult check_answer(Device& device, const RandomCase& from, const Graph& graph, const CaseInputs& inputs) {
  Plan plain(device, from.graph, from), optimised(device, graph, from);
  const ExecutionResult expected = plain.run(inputs), came = optimised.run(inputs);
  if (const std::string why = difference(expected.outputs, came.outputs); !why.empty())
    QTest::qFail((from.name + ": " + why).c_str(), __FILE__, __LINE__);
  std::map<std::string, std::vector<int32_t>> decided;
  const auto each = [](const Plan& of, const ExecutionResult& result, auto&& visit) {
    const Program& program = const_cast<Plan&>(of).executor().program();
    for (const ExecutedDecision* d : standing_decisions(program, name_routers(program), result))
      if (d && d->shape.cells > 0) visit(program.routers[d->router].name, d->choice);
  };
  each(plain, expected, [&](const std::string& router, const std::vector<int32_t>& choice) { decided[router] = choice; });
  each(optimised, came, [&](const std::string& router, const std::vector<int32_t>& choice) {
    if (decided.contains(router) && decided.at(router) != choice)
      QTest::qFail((from.name + ": other decisions of " + router).c_str(), __FILE__, __LINE__);
  });
  return came;
}

void check_oracle(const RandomCase& from, const Graph& graph, const CaseInputs& inputs) {
  const auto plain = Oracle<float>(from.graph, *from.weights).run(oracle_inputs<float>(inputs), from.bindings);
  const auto straight = Oracle<float>(graph, *from.weights).run(oracle_inputs<float>(inputs), from.bindings);
  for (const auto& [name, tensor] : plain.outputs)
    if (straight.output(name).reals != tensor.reals) QTest::qFail((from.name + ": the oracle's " + name).c_str(), __FILE__, __LINE__);
}

/// Scores of an input of its own, so that the test decides who goes where: of each cell the branches' scores, one after the other.
CaseInputs with_scores(const RandomCase& from, const std::string& router, const std::vector<std::vector<float>>& scores) {
  CaseInputs inputs = from.inputs;
  auto& all = std::get<std::vector<float>>(inputs.at(router + ".scores"));
  const size_t columns = scores[0].size();
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t cell = i / columns;
    all[i] = scores[cell % scores.size()][i % columns] + 0.001f * static_cast<float>(cell);  // each cell its own weights
  }
  return inputs;
}
ValueId given_scores(CaseBuilder& b, SpaceId space, int64_t branches, const Protocol& rule, const std::string& name) {
  return b.route(b.floats(name + ".scores", space, {branches}), rule, name);
}
ValueId weighed(CaseBuilder& b, ValueId rows, ValueId decision, const std::string& name) {
  const ValueId weight = b.value("choice_weight", {decision}, {{"space", int64_t{b.space_of(rows)}}}, name + ".weight");
  return b.value("multiply", {rows, weight}, {}, name + ".weighed");
}

/// The guards of a plan on both devices and both inputs: they hold on the usual one and miss on the other, and the answer is right on both.
void check_hit_and_miss(const RandomCase& from, const PassResult& result, const CaseInputs& usual, const CaseInputs& other) {
  QVERIFY2(result.applied, (from.name + ": " + result.reason).c_str());
  const std::string text = to_text(result.graph);
  QCOMPARE(to_text(parse_graph(text, "again")), text);
  check_oracle(from, result.graph, usual);
  check_oracle(from, result.graph, other);
  cpu::CpuDevice cpu(2);
  EmulatedDevice emulated(1);
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
    const ExecutionResult held = check_answer(*device, from, result.graph, usual),
                          missed = check_answer(*device, from, result.graph, other);
    QVERIFY2(sum(held.guard_hits) > 0 && sum(held.guard_misses) == 0, from.name.c_str());
    QVERIFY2(sum(missed.guard_misses) > 0, from.name.c_str());
  }
}

/// Nodes of an operator that run while all guards hold.
size_t count_usual(const Graph& graph, std::string_view op) {
  size_t count = 0;
  for (const BlockPlace place : blocks_of(graph, Fallbacks::left_out))
    for (const NodeId id : block_at(graph, place).nodes) count += graph.node(id).op->name == op;
  return count;
}

/// Nodes of an operator in the body that runs while the only guard holds.
size_t count_taken(const Graph& graph, std::string_view op) {
  size_t count = 0;
  for (const NodeId id : graph.top.nodes)
    if (graph.node(id).op->name == "guard")
      for (const NodeId inner : graph.node(id).bodies[0].nodes) count += graph.node(inner).op->name == op;
  return count;
}

}  // namespace

class ConstantDecisionTest : public QObject {
  Q_OBJECT
 private slots:
  void cells_that_all_went_one_way_are_not_sent_and_a_miss_is_right() {
    for (const char* pass : kBoth)
      for (const char* mode : {"sum", "place"})
        for (const bool otherwise : {false, true}) {
          const RandomCase from = labelled_mixture({.mode = mode, .otherwise = otherwise});
          const CaseInputs usual = with_labels(from, "moe", {2}), other = with_labels(from, "moe", {2, 2, 0});
          const PassResult result = apply(pass, from, usual);
          QVERIFY2(result.applied, result.reason.c_str());
          QVERIFY(result.same_bits);
          QCOMPARE(result.parameters, (PassParameters{{"moe", "2"}}));
          QCOMPARE(count_taken(result.graph, "linear"), size_t{2});
          for (const char* gone : {"scatter", "gather"}) QCOMPARE(count_taken(result.graph, gone), size_t{0});
          const std::string text = to_text(result.graph);
          QCOMPARE(to_text(parse_graph(text, "again")), text);
          check_oracle(from, result.graph, usual);
          check_oracle(from, result.graph, other);
          cpu::CpuDevice cpu(2);
          EmulatedDevice emulated(1);
          for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
            const ExecutionResult held = check_answer(*device, from, result.graph, usual);
            QCOMPARE(sum(held.guard_hits), int64_t{1});
            QCOMPARE(held.late_loads, int64_t{0});
            const ExecutionResult missed = check_answer(*device, from, result.graph, other);
            QCOMPARE(sum(missed.guard_misses), int64_t{1});
            QCOMPARE(missed.late_loads, int64_t{1});  // the other experts
          }
        }
  }

  void a_decision_stands_before_its_guard_or_behind_what_it_decides() {
    const RandomCase from = labelled_mixture();
    const CaseInputs usual = with_labels(from, "moe", {1});
    const Graph early = apply("constant-decision", from, usual).graph, late = apply("permanent-path", from, usual).graph;
    QCOMPARE(count_taken(early, "route"), size_t{0});
    QCOMPARE(count_taken(late, "route"), size_t{1});
    QCOMPARE(count_nodes(early, "route"), size_t{1});
    QCOMPARE(count_nodes(late, "route"), size_t{2});
    for (const NodeId id : late.top.nodes)
      if (late.node(id).op->name == "guard") {
        QVERIFY(late.node(id).inputs.empty());
        const std::vector<NodeId>& nodes = late.node(id).bodies[0].nodes;
        QCOMPARE(late.node(nodes[nodes.size() - 2]).op->name, std::string_view("route"));
        QCOMPARE(late.node(nodes.back()).op->name, std::string_view("branches_full"));
        QCOMPARE(late.node(id).attributes.word("pass"), std::string("permanent-path"));
      }
  }

  /// Sequences of one task, whose tokens go to its two experts: nothing is packed while they come alone.
  void members_of_sequences_that_all_go_one_way_are_not_packed() {
    for (const bool some : {false, true})
      for (const char* mode : {"sum", "place"}) {
        MixtureBuilder b(8);
        const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 5));
        const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 7));
        ValueId x = b.value("embedding", {b.integers("ids", tokens, 19), b.drawn("table", {19, 12}, 1)}, {}, "embedded");
        SpaceId base = tokens;
        std::vector<ValueId> told{b.labelled(sequences, 4, "moe")};
        if (some) {
          told.push_back(b.value("compact", {b.flags("mask", tokens)}, {}, "real"));
          x = b.pack(x, told[1], sequences);
          base = b.space_of(x);
        }
        const ValueId members = b.value("members", told, {{"base", int64_t{base}}}, "members");
        std::vector<ValueId> parts = b.pack_branches(x, members, told[0], {0, 1, 2, 3});
        for (size_t k = 0; k < parts.size(); ++k) parts[k] = b.normed_expert(parts[k], 20, "gelu", "expert." + std::to_string(k));
        const ValueId joined = b.gather(std::move(parts), base, mode, kNone, "joined");
        b.output("y", some ? b.value("expand", {joined, told[1]}, {}, "expanded") : joined);
        const RandomCase from = b.take(std::string("members, ") + mode);
        const CaseInputs usual = with_labels(from, "moe", {2}), other = with_labels(from, "moe", {2, 0, 2});
        const PassResult result = apply("constant-decision", from, usual, {{"min-cells", "1"}});
        QVERIFY2(result.applied, result.reason.c_str());
        QCOMPARE(result.parameters, (PassParameters{{"moe", "2"}}));
        QCOMPARE(count_taken(result.graph, "pack") + count_taken(result.graph, "gather"), size_t{0});
        QCOMPARE(count_taken(result.graph, "linear"), size_t{2});
        check_hit_and_miss(from, result, usual, other);
      }
  }

  /// The rule of TaskMoE: a task has two experts, and both get all.
  void two_experts_of_a_task_are_summed_without_packing() {
    MixtureBuilder b(9);
    const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 5));
    const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 7));
    const ValueId x = b.value("embedding", {b.integers("ids", tokens, 19), b.drawn("table", {19, 12}, 1)}, {}, "embedded");
    Protocol rule;
    rule.kind = ProtocolKind::hash;
    const ValueId decision = b.route(b.integers("moe.labels", sequences, 50), rule, "moe", 6);
    const ValueId members = b.value("members", {decision}, {{"base", int64_t{tokens}}}, "members");
    std::vector<ValueId> parts = b.pack_branches(x, members, decision, {0, 1, 2, 3, 4, 5});
    for (size_t k = 0; k < parts.size(); ++k) parts[k] = b.normed_expert(parts[k], 20, "gelu", "expert." + std::to_string(k));
    b.output("y", b.gather(std::move(parts), tokens, "sum", kNone, "joined"));
    const RandomCase from = b.take("two experts of a task");
    const CaseInputs usual = with_labels(from, "moe", {3}), other = with_labels(from, "moe", {3, 3, 4, 17, 30});
    const PassResult result = apply("constant-decision", from, usual, {{"min-cells", "1"}});
    QVERIFY2(result.applied, result.reason.c_str());
    QCOMPARE(count_taken(result.graph, "pack"), size_t{0});
    QCOMPARE(count_taken(result.graph, "linear"), size_t{4});
    check_hit_and_miss(from, result, usual, other);
    // Its members are told by the decision, which so cannot be made behind the branches.
    const std::string late = apply("permanent-path", from, usual, {{"min-cells", "1"}}).reason;
    QVERIFY2(late.find("others ask for its decision") != std::string::npos, late.c_str());
  }

  void members_by_chance_are_made_straight_or_left_alone_with_a_reason() {
    int straight = 0, weighed = 0;
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      const RandomCase from = random_sequence_experts(seed);
      CaseInputs usual = from.inputs;
      for (auto& [name, values] : usual)
        if (name.ends_with(".labels"))
          for (int32_t& label : std::get<std::vector<int32_t>>(values)) label = 1;
      for (const char* pass : kBoth) {
        const PassResult result = apply(pass, from, usual, {{"min-cells", "1"}});
        straight += result.applied;
        weighed += result.reason.find("weighs members by what their parents chose") != std::string::npos;
        if (!result.applied) continue;
        check_oracle(from, result.graph, usual);
        check_oracle(from, result.graph, from.inputs);
        cpu::CpuDevice cpu(2);
        EmulatedDevice emulated(1);
        for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)})
          for (const CaseInputs& inputs : {usual, from.inputs}) check_answer(*device, from, result.graph, inputs);
      }
    }
    QVERIFY2(straight >= 20 && weighed > 0, qPrintable(QString("%1 straight, %2 weighed").arg(straight).arg(weighed)));
  }

  void all_branches_may_get_all_cells() {
    for (const char* pass : kBoth) {
      MixtureBuilder b(6);
      const ValueId x = b.tokens(4, 10, 8);
      Protocol rule;
      rule.k = 2;
      Mixture shape{.branches = 2, .skip = true};
      b.output("y", b.mixture(x, b.scored(x, rule, 2, "moe"), shape, "moe"));
      const RandomCase from = b.take("two of two");
      const PassResult result = apply(pass, from, from.inputs);
      QVERIFY2(result.applied, result.reason.c_str());
      QCOMPARE(result.parameters, (PassParameters{{"moe", "0,1"}}));
      QCOMPARE(count_taken(result.graph, "gather"), size_t{1});  // it sums two rows a cell
      cpu::CpuDevice cpu(2);
      for (uint64_t turn = 0; turn < 3; ++turn)
        QCOMPARE(sum(check_answer(cpu, from, result.graph, drawn_anew(from, turn)).guard_misses), int64_t{0});
    }
  }

  void an_exit_that_takes_all_that_come_needs_no_rest_of_the_chain() {
    MixtureBuilder b(7);
    const ValueId x = b.tokens(4, 10, 8);
    const SpaceId tokens = b.space_of(x);
    const ValueId first = b.labelled(tokens, 2, "first");
    const std::vector<ValueId> parts = b.scatter(x, first, {0, 1});
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    const ValueId second = b.route(b.value("scale", {b.product(parts[1], 2, "second.scores")}, {{"factor", 0.0}}, "flat"), rule, "second");
    const std::vector<ValueId> rest = b.scatter(parts[1], second, {0, 1});
    b.output("y", b.gather({b.product(parts[0], 8, "a"), b.product(rest[0], 8, "b"), b.product(rest[1], 8, "c")}, tokens, "sum", kNone,
                           "joined"));
    const RandomCase from = b.take("exits");
    LoadProfile profile;
    profile.routers["first"] = {{20, 20}, 40, 1};
    profile.routers["second"] = {{40, 0}, 40, 1};
    for (const char* pass : kBoth) {
      const PassResult result = apply(pass, from, profile);
      QVERIFY2(result.applied, result.reason.c_str());
      cpu::CpuDevice cpu(1);
      EmulatedDevice emulated(2);
      for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)})
        for (const std::vector<int32_t>& labels : {std::vector<int32_t>{0, 1}, {1}, {0}})
          check_answer(*device, from, result.graph, with_labels(from, "first", labels));
    }
    // An exit that nobody takes leaves the next one with all cells.
    profile.routers["first"] = {{0, 40}, 40, 1};
    profile.routers["second"] = {{20, 20}, 40, 1};
    for (const char* pass : kBoth) {
      const PassResult result = apply(pass, from, profile);
      QCOMPARE(result.parameters, (PassParameters{{"first", "1"}}));
      check_hit_and_miss(from, result, with_labels(from, "first", {1}), with_labels(from, "first", {0, 1}));
    }
  }

  void it_says_why_it_does_not_apply() {
    const RandomCase from = labelled_mixture();
    const auto reason = [&](std::vector<int64_t> load, int64_t cells) {
      LoadProfile profile;
      profile.routers["moe"] = {std::move(load), cells, 1};
      return apply("constant-decision", from, profile).reason;
    };
    QCOMPARE(reason({39, 1, 0, 0}, 40), std::string("no router sent all profiled cells to the same branches"));
    QCOMPARE(reason({20, 0, 0, 0}, 20), std::string("1 router always decided the same way, about too few cells to go by (min-cells)"));
    QVERIFY(reason({500, 0, 0, 0}, 500)
                .starts_with("1 router always decided the same way (0 of 500 profiled cells otherwise, at most 0.6 % "
                             "at 95 %): nothing is sent or joined there; "));
    QCOMPARE(apply("constant-decision", from, LoadProfile{}).reason, std::string("no router was profiled"));
    MixtureBuilder b(8);
    const ValueId x = b.tokens(4, 10, 8);
    Protocol rule;
    rule.k = 3;
    b.output("y", b.mixture(x, b.scored(x, rule, 4, "moe"), {.mode = "weighted"}, "moe"));
    LoadProfile profile;
    profile.routers["moe"] = {{0, 40, 40, 40}, 40, 1};
    QCOMPARE(apply("constant-decision", b.take("weighted"), profile).reason,
             std::string("not applied to moe: gather \"moe.joined\" would sum rows in another order"));
  }

  void rows_that_the_decision_weighs_are_weighed_over_all_cells() {
    for (const char* pass : kBoth)
      for (const int32_t k : {1, 2}) {
        MixtureBuilder b(11);
        const ValueId x = b.tokens(4, 10, 8);
        Protocol rule;
        rule.k = k;
        b.output("y", b.mixture(x, given_scores(b, b.space_of(x), 4, rule, "moe"), {.mode = "weighted"}, "moe"));
        const RandomCase from = b.take("weighted, of " + std::to_string(k));
        const CaseInputs usual = with_scores(from, "moe", {{0, 3, 2, -1}, {-2, 5, 2.5f, 0}}),
                         other = with_scores(from, "moe", {{0, 3, 2, -1}, {-2, 5, 2.5f, 0}, {0, 1, 2, 4}});
        const PassResult result = apply(pass, from, usual);
        check_hit_and_miss(from, result, usual, other);
        QCOMPARE(result.parameters, (PassParameters{{"moe", k == 1 ? "1" : "1,2"}}));
        QCOMPARE(count_taken(result.graph, "scatter"), size_t{0});
        QCOMPARE(count_taken(result.graph, "choice_weight"), static_cast<size_t>(k));
        QCOMPARE(count_taken(result.graph, "gather"), static_cast<size_t>(k - 1));
      }
  }

  void what_capacity_may_drop_is_weighed_where_nothing_is_dropped() {
    MixtureBuilder b(12);
    const ValueId x = b.tokens(4, 10, 8);
    Protocol rule;
    rule.kind = ProtocolKind::switch_top1;
    rule.capacity = 10;
    rule.dropped = DroppedCells::scaled_input;
    b.output("y", b.mixture(x, given_scores(b, b.space_of(x), 4, rule, "moe"), {.mode = "weighted", .otherwise = true}, "moe"));
    const RandomCase from = b.take("capacity");
    const CaseInputs usual = with_scores(from, "moe", {{0, 3, 2, -1}}), other = with_scores(from, "moe", {{0, 3, 2, -1}, {4, 3, 2, -1}});
    for (const char* pass : kBoth) {
      const PassResult result = apply(pass, from, usual);
      check_hit_and_miss(from, result, usual, other);
      QCOMPARE(count_taken(result.graph, "gather"), size_t{0});
    }
  }

  /// Three ways with gates of their own, as DynamicRouting sends its maps: any of them may be open.
  void closed_ways_go_and_open_ones_are_weighed_without_sending() {
    MixtureBuilder b(13);
    const ValueId x = b.tokens(4, 10, 8);
    const SpaceId tokens = b.space_of(x);
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    const ValueId decision = given_scores(b, tokens, 3, rule, "ways");
    std::vector<ValueId> ways, came;
    for (int32_t w = 0; w < 3; ++w) {
      const std::string name = "way." + std::to_string(w);
      const ValueId part = b.scatter(x, decision, {w})[0];
      ways.push_back(weighed(b, b.product(part, 8, name), decision, name));
      came.push_back(b.value("choice_weight", {decision}, {{"space", int64_t{b.space_of(part)}}}, name + ".came"));
    }
    b.output("first", b.gather({ways[0], ways[1]}, tokens, "sum", kNone, "first"));
    b.output("second", b.gather({ways[2]}, tokens, "sum", kNone, "second"));  // which no row reaches
    b.output("third", b.gather({ways[2]}, tokens, "sum", x, "third"));
    b.output("came", b.gather(came, tokens, "sum", kNone, "came"));
    const RandomCase from = b.take("ways");
    const CaseInputs usual = with_scores(from, "ways", {{0.5f, 2, -1}, {0.25f, 1, -3}}),
                     other = with_scores(from, "ways", {{0.5f, 2, -1}, {0.25f, 1, -3}, {-1, 1, 2}});
    const PassResult result = apply("constant-decision", from, usual);
    check_hit_and_miss(from, result, usual, other);
    QCOMPARE(count_taken(result.graph, "linear"), size_t{2});
    QCOMPARE(count_taken(result.graph, "scatter"), size_t{0});
    QCOMPARE(count_taken(result.graph, "zeros"), size_t{1});
    QCOMPARE(count_taken(result.graph, "gather"), size_t{1});  // of two rows; weights alone, which send nothing, stay as they are
    QCOMPARE(apply("permanent-path", from, usual).reason, std::string("not applied to ways: others ask for its decision"));
  }

  /// A late guard whose weights are asked for decides first; without a decision there are none.
  void weights_wait_for_a_late_decision() {
    MixtureBuilder b(17);
    const ValueId x = b.tokens(4, 10, 8);
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    const ValueId decision = given_scores(b, b.space_of(x), 2, rule, "ways");
    const std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
    b.output("y", b.gather({weighed(b, b.product(parts[0], 8, "a"), decision, "a"), weighed(b, b.product(parts[1], 8, "b"), decision, "b")},
                           b.space_of(x), "sum", kNone, "joined"));
    const RandomCase from = b.take("late weights");
    const CaseInputs usual = with_scores(from, "ways", {{0.5f, 2}, {0.25f, 1}}), other = with_scores(from, "ways", {{0.5f, 2}, {-1, 1}});
    check_hit_and_miss(from, apply("permanent-path", from, usual), usual, other);
    QCOMPARE(apply("permanent-path", from, usual, {{"approximate", "on"}}).reason,
             std::string("not applied to ways: what it chose is weighed by its scores"));
  }

  /// Rows of several routers meet in one gather, which only one guard can hold.
  void routers_whose_rows_meet_share_a_guard() {
    for (const char* pass : kBoth) {
      MixtureBuilder b(14);
      const ValueId x = b.tokens(4, 10, 8);
      const SpaceId tokens = b.space_of(x);
      std::vector<ValueId> rows;
      for (const char* name : {"a", "b", "c"}) {
        const std::vector<ValueId> parts = b.scatter(x, b.labelled(tokens, 2, name), {0, 1});
        for (size_t i = 0; i < parts.size(); ++i) rows.push_back(b.product(parts[i], 8, name + std::to_string(i)));
      }
      b.output("y", b.gather(rows, tokens, "place", kNone, "joined"));
      const RandomCase from = b.take("three routers");
      // One of them is not constant: the guard is of the others.
      CaseInputs usual = with_labels(from, "a", {1}), other = usual;
      std::get<std::vector<int32_t>>(usual.at("b.labels")).assign(40, 0);
      other = usual;
      for (CaseInputs* inputs : {&usual, &other}) {
        auto& mixed = std::get<std::vector<int32_t>>(inputs->at("c.labels"));
        for (size_t i = 0; i < mixed.size(); ++i) mixed[i] = static_cast<int32_t>(i % 2);
      }
      std::get<std::vector<int32_t>>(other.at("b.labels"))[7] = 1;
      const PassResult result = apply(pass, from, usual);
      check_hit_and_miss(from, result, usual, other);
      QCOMPARE(result.parameters, (PassParameters{{"a", "1"}, {"b", "0"}}));
      QCOMPARE(count_nodes(result.graph, "guard"), size_t{1});
      QCOMPARE(count_usual(result.graph, "scatter"), size_t{1});
      QCOMPARE(count_usual(result.graph, "linear"), size_t{4});
    }
  }

  /// A router in a branch of another, in which one more decides: each where its cells are all that there are.
  void routers_within_what_gets_all_cells_are_made_straight_in_turn() {
    for (const char* pass : kBoth) {
      MixtureBuilder b(15);
      const ValueId x = b.tokens(4, 10, 8);
      const SpaceId tokens = b.space_of(x);
      Protocol rule;
      rule.kind = ProtocolKind::threshold;
      const ValueId outer = b.labelled(tokens, 2, "outer");
      const ValueId all_scores = b.floats("inner.scores", tokens, {2}), all_labels = b.integers("last.labels", tokens, 2);
      const std::vector<ValueId> parts = b.scatter(x, outer, {0, 1});
      const ValueId inner = b.route(b.scatter(all_scores, outer, {1})[0], rule, "inner");
      Protocol by_label;
      by_label.kind = ProtocolKind::label;
      std::vector<ValueId> rows{b.product(parts[0], 8, "skip")};
      const ValueId kept = b.scatter(b.product(parts[1], 8, "work"), inner, {0})[0];
      rows.push_back(weighed(b, b.product(kept, 8, "kept"), inner, "kept"));
      const ValueId sent = b.scatter(parts[1], inner, {1})[0];
      const ValueId labels = b.scatter(b.scatter(all_labels, outer, {1})[0], inner, {1})[0];
      const ValueId last = b.route(labels, by_label, "last", 2);
      const std::vector<ValueId> leaves = b.scatter(sent, last, {0, 1});
      rows.push_back(b.product(leaves[0], 8, "left"));
      rows.push_back(b.product(leaves[1], 8, "right"));
      b.output("y", b.gather(rows, tokens, "sum", kNone, "joined"));
      const RandomCase from = b.take("within");
      const auto inputs = [&](std::vector<int32_t> outer_goes, std::vector<std::vector<float>> inner_scores,
                              std::vector<int32_t> last_goes) {
        CaseInputs set = with_labels(from, "outer", std::move(outer_goes));
        set.at("inner.scores") = with_scores(from, "inner", inner_scores).at("inner.scores");
        set.at("last.labels") = with_labels(from, "last", std::move(last_goes)).at("last.labels");
        return set;
      };
      const CaseInputs usual = inputs({1}, {{1, 2}, {2, 0.5f}}, {1});
      const PassResult result = apply(pass, from, usual);
      QCOMPARE(result.parameters, (PassParameters{{"inner", "0,1"}, {"last", "1"}, {"outer", "1"}}));
      QCOMPARE(count_usual(result.graph, "scatter"), size_t{0});
      QCOMPARE(count_nodes(result.graph, "guard"), size_t{3});
      // Each of the three misses in turn, and all of them at once.
      check_hit_and_miss(from, result, usual, inputs({1, 0}, {{1, 2}}, {1}));
      check_hit_and_miss(from, result, usual, inputs({1}, {{1, 2}, {1, -1}}, {1}));
      check_hit_and_miss(from, result, usual, inputs({1}, {{1, 2}}, {1, 0}));
      check_hit_and_miss(from, result, usual, inputs({0, 1, 1}, {{-1, 2}, {1, 1}}, {0, 1, 1}));
    }
  }

  void a_router_that_ranks_the_cells_of_its_branch_is_left_where_it_is() {
    MixtureBuilder b(16);
    const ValueId x = b.tokens(4, 10, 8);
    const SpaceId tokens = b.space_of(x);
    const ValueId outer = b.labelled(tokens, 2, "outer");
    const std::vector<ValueId> parts = b.scatter(x, outer, {0, 1});
    Protocol rule;
    rule.kind = ProtocolKind::switch_top1;
    rule.capacity = 5;
    const ValueId inner = b.scored(parts[1], rule, 2, "inner");
    const std::vector<ValueId> within = b.scatter(parts[1], inner, {0, 1});
    b.output("y", b.gather({b.product(parts[0], 8, "a"), b.product(within[0], 8, "b"), b.product(within[1], 8, "c")}, tokens, "sum", kNone,
                           "joined"));
    const RandomCase from = b.take("ranked");
    QCOMPARE(apply("constant-decision", from, with_labels(from, "outer", {1})).reason,
             std::string("not applied to outer: route \"inner\" works on several cells at once"));
  }

  void a_decision_that_others_ask_for_stays_where_it_is() {
    MixtureBuilder b(9);
    const ValueId x = b.tokens(4, 10, 8), decision = b.labelled(b.space_of(x), 2, "moe");
    const std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
    b.output("y", b.gather({b.product(parts[0], 8, "a"), b.product(parts[1], 8, "b")}, b.space_of(x), "sum", kNone, "joined"));
    b.output("empty", b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "empty"));
    const RandomCase from = b.take("asked twice");
    const CaseInputs usual = with_labels(from, "moe", {0});
    QVERIFY(apply("constant-decision", from, usual).applied);
    QCOMPARE(apply("permanent-path", from, usual).reason, std::string("not applied to moe: others ask for its decision"));
  }

  void a_decision_on_what_another_s_branches_gave_shares_no_late_guard_with_it() {
    MixtureBuilder b(11);
    const ValueId x = b.tokens(4, 10, 8);
    const std::vector<ValueId> first = b.scatter(x, b.labelled(b.space_of(x), 2, "first"), {0, 1});
    const ValueId some = b.product(first[0], 8, "a"),
                  joined = b.gather({some, b.product(first[1], 8, "b")}, b.space_of(x), "sum", kNone, "joined");
    Protocol both;
    both.k = 2;
    const std::vector<ValueId> second = b.scatter(x, b.scored(joined, both, 2, "second"), {0, 1});
    b.output("y", b.gather({b.product(second[0], 8, "c"), b.product(second[1], 8, "d"), some}, b.space_of(x), "sum", kNone, "all"));
    const RandomCase from = b.take("one after the other");
    const CaseInputs usual = with_labels(from, "first", {0});
    const PassResult result = apply("permanent-path", from, usual);
    QVERIFY2(result.applied && result.parameters.contains("second") && !result.parameters.contains("first"), result.reason.c_str());
    verify(result.graph);
    cpu::CpuDevice cpu(1);
    for (const CaseInputs& inputs : {usual, with_labels(from, "first", {0, 1})}) check_answer(cpu, from, result.graph, inputs);
  }

  void the_parameters_do_the_same_again_without_a_profile() {
    const RandomCase from = labelled_mixture();
    const PassParameters found{{"moe", "3"}}, unknown{{"moe", "3"}, {"other", "1"}};
    const LoadProfile none;
    for (const char* pass : kBoth) {
      const PassResult first = apply(pass, from, with_labels(from, "moe", {3})),
                       again = find_pass(pass)->run(pass_input(from.graph, none).on(from.graph, {}, &found));
      QCOMPARE(to_text(again.graph), to_text(first.graph));
      const PassResult refused = find_pass(pass)->run(pass_input(from.graph, none).on(from.graph, {}, &unknown));
      QVERIFY2(refused.reason.ends_with("not applied to other: the model has no such router"), refused.reason.c_str());
    }
  }

  void approximate_leaves_the_decision_out_and_says_so() {
    MixtureBuilder b(10);
    const ValueId x = b.tokens(4, 10, 8);
    Protocol rule;
    rule.k = 2;
    b.output("y", b.mixture(x, b.scored(x, rule, 2, "moe"), {.branches = 2}, "moe"));
    const RandomCase from = b.take("approximate");
    const PassResult result = apply("permanent-path", from, from.inputs, {{"approximate", "on"}});
    QVERIFY(result.applied && !result.same_bits);
    QVERIFY2(result.reason.starts_with("approximate: 1 router always decided the same way (0 of 40 profiled cells otherwise, at most 7.3 % "
                                       "at 95 %): their decisions are not computed"),
             result.reason.c_str());
    for (const char* gone : {"guard", "route", "scatter"}) QCOMPARE(count_nodes(result.graph, gone), size_t{0});
    verify(result.graph);
    cpu::CpuDevice cpu(1);
    check_answer(cpu, from, result.graph, from.inputs);
  }

  void random_graphs_answer_as_before() {
    int applied = 0, hits = 0, misses = 0, within = 0, weights = 0;
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(1);
    for (uint64_t seed = 0; seed < drawn(120); ++seed) {
      RandomOptions options;
      options.maps = seed % 3 == 1;
      const RandomCase from = seed % 3 == 0 ? random_mixtures(seed) : make_random_case(seed, options);
      const LoadProfile profile = profile_of(from, {from.inputs});
      for (const char* pass : kBoth) {
        const PassResult result = apply(pass, from, profile, {{"min-cells", "1"}});
        if (!result.applied) continue;
        ++applied;
        result.graph.for_each_node([&](NodeId id, int) {
          const Attributes& attributes = result.graph.node(id).attributes;
          within += attributes.has("within"), weights += result.graph.node(id).op->name == "choice_weight" && attributes.has("branch");
        });
        for (uint64_t turn = 0; turn < 3; ++turn) {
          const CaseInputs inputs = turn == 0 ? from.inputs : drawn_anew(from, turn);
          const ExecutionResult came =
              check_answer(turn == 1 ? static_cast<Device&>(emulated) : static_cast<Device&>(cpu), from, result.graph, inputs);
          hits += static_cast<int>(sum(came.guard_hits)), misses += static_cast<int>(sum(came.guard_misses));
        }
      }
    }
    qInfo("applied %d times, %d hits, %d misses; %d routers within, %d weights", applied, hits, misses, within, weights);
    QVERIFY(applied > drawn(10) && hits > drawn(10) && misses > drawn(3));
    QVERIFY(within > drawn(3) && weights > drawn(3));
  }

  /// Everything constant that may be, on a network of ways over maps of three sizes: the loads that the pass is shown are those of one
  /// picture, which the others do not follow.
  void a_network_of_ways_answers_as_before() {
    int hits = 0, misses = 0;
    cpu::CpuDevice cpu(2);
    for (uint64_t seed = 1; seed < 8; ++seed) {
      const RandomCase from = path_network_toy(seed);
      LoadProfile profile = profile_of(from, {from.inputs});
      // A branch that most cells take counts as taken by all, the others as dead.
      for (auto& [router, load] : profile.routers)
        for (int64_t& n : load.load) n = 2 * n > load.cells ? load.cells : 0;
      for (const char* pass : kBoth) {
        const PassResult result = apply(pass, from, profile, {{"min-cells", "1"}});
        QVERIFY2(result.applied, result.reason.c_str());
        check_oracle(from, result.graph, from.inputs);
        for (uint64_t turn = 0; turn < 3; ++turn) {
          const ExecutionResult came = check_answer(cpu, from, result.graph, turn == 0 ? from.inputs : drawn_anew(from, turn));
          hits += static_cast<int>(sum(came.guard_hits)), misses += static_cast<int>(sum(came.guard_misses));
        }
      }
    }
    qInfo("%d hits, %d misses", hits, misses);
    QVERIFY(misses > 10);
  }
};
STORMCELL_TEST(ConstantDecisionTest)
#include "constant_decision_test.moc"
