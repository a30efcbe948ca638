// Constant decision and permanent path: what they make straight and why not, and that an input which is decided
// otherwise gets the right answer.
#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/passes/pass.h"
#include "tests/core/passes/constant_router_cases.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

class ConstantDecisionTest : public QObject, private ConstantRouterCases {
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
    const Graph early = apply("constant-decision", from, usual).graph,
                late = apply("permanent-path", from, usual).graph;
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

  void it_says_why_it_does_not_apply() {
    const RandomCase from = labelled_mixture();
    const auto reason = [&](std::vector<int64_t> load, int64_t cells) {
      LoadProfile profile;
      profile.routers["moe"] = {std::move(load), cells, 1};
      return apply("constant-decision", from, profile).reason;
    };
    QCOMPARE(reason({39, 1, 0, 0}, 40), std::string("no router sent all profiled cells to the same branches"));
    QCOMPARE(reason({20, 0, 0, 0}, 20),
             std::string("1 router always decided the same way, but about too few cells to rely on it (min-cells)"));
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

  void a_decision_that_others_ask_for_stays_where_it_is() {
    MixtureBuilder b(9);
    const ValueId x = b.tokens(4, 10, 8), decision = b.labelled(b.space_of(x), 2, "moe");
    const std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
    b.output("y", b.gather({b.product(parts[0], 8, "a"), b.product(parts[1], 8, "b")}, b.space_of(x), "sum", kNone,
                           "joined"));
    b.output("empty", b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "empty"));
    const RandomCase from = b.take("asked twice");
    const CaseInputs usual = with_labels(from, "moe", {0});
    QVERIFY(apply("constant-decision", from, usual).applied);
    QCOMPARE(apply("permanent-path", from, usual).reason,
             std::string("not applied to moe: others ask for its decision"));
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
    QVERIFY2(result.reason.starts_with(
                 "approximate: 1 router always decided the same way (0 of 40 profiled cells otherwise, at most 7.3 % "
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
          within += attributes.has("within"),
              weights += result.graph.node(id).op->name == "choice_weight" && attributes.has("branch");
        });
        for (uint64_t turn = 0; turn < 3; ++turn) {
          const CaseInputs inputs = turn == 0 ? from.inputs : drawn_anew(from, turn);
          const ExecutionResult came = check_answer(
              turn == 1 ? static_cast<Device&>(emulated) : static_cast<Device&>(cpu), from, result.graph, inputs);
          hits += static_cast<int>(sum(came.guard_hits)), misses += static_cast<int>(sum(came.guard_misses));
        }
      }
    }
    qInfo("applied %d times, %d hits, %d misses; %d routers within, %d weights", applied, hits, misses, within,
          weights);
    QVERIFY(applied > drawn(10) && hits > drawn(10) && misses > drawn(3));
    QVERIFY(within > drawn(3) && weights > drawn(3));
  }

  /// Everything constant that may be, on a network of ways over maps of three sizes: the loads that the pass is shown
  /// are those of one picture, which the others do not follow.
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
          const ExecutionResult came =
              check_answer(cpu, from, result.graph, turn == 0 ? from.inputs : drawn_anew(from, turn));
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
