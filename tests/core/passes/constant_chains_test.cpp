// Constant decision and permanent path where several routers stand behind, within or beside each other: which guards
// they share, and which decisions stay where they are.
#include "core/cpu/cpu_device.h"
#include "core/graph/verify.h"
#include "core/passes/pass.h"
#include "tests/core/passes/constant_router_cases.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class ConstantChainsTest : public QObject, private ConstantRouterCases {
  Q_OBJECT
 private slots:
  void an_exit_that_takes_all_that_come_needs_no_rest_of_the_chain() {
    MixtureBuilder b(7);
    const ValueId x = b.tokens(4, 10, 8);
    const SpaceId tokens = b.space_of(x);
    const ValueId first = b.labelled(tokens, 2, "first");
    const std::vector<ValueId> parts = b.scatter(x, first, {0, 1});
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    const ValueId second =
        b.route(b.value("scale", {b.product(parts[1], 2, "second.scores")}, {{"factor", 0.0}}, "flat"), rule, "second");
    const std::vector<ValueId> rest = b.scatter(parts[1], second, {0, 1});
    b.output("y", b.gather({b.product(parts[0], 8, "a"), b.product(rest[0], 8, "b"), b.product(rest[1], 8, "c")},
                           tokens, "sum", kNone, "joined"));
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
      const ValueId all_scores = b.floats("inner.scores", tokens, {2}),
                    all_labels = b.integers("last.labels", tokens, 2);
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
    b.output("y", b.gather({b.product(parts[0], 8, "a"), b.product(within[0], 8, "b"), b.product(within[1], 8, "c")},
                           tokens, "sum", kNone, "joined"));
    const RandomCase from = b.take("ranked");
    QCOMPARE(apply("constant-decision", from, with_labels(from, "outer", {1})).reason,
             std::string("not applied to outer: route \"inner\" works on several cells at once"));
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
    b.output("y", b.gather({b.product(second[0], 8, "c"), b.product(second[1], 8, "d"), some}, b.space_of(x), "sum",
                           kNone, "all"));
    const RandomCase from = b.take("one after the other");
    const CaseInputs usual = with_labels(from, "first", {0});
    const PassResult result = apply("permanent-path", from, usual);
    QVERIFY2(result.applied && result.parameters.contains("second") && !result.parameters.contains("first"),
             result.reason.c_str());
    verify(result.graph);
    cpu::CpuDevice cpu(1);
    for (const CaseInputs& inputs : {usual, with_labels(from, "first", {0, 1})})
      check_answer(cpu, from, result.graph, inputs);
  }
};
STORMCELL_TEST(ConstantChainsTest)
#include "constant_chains_test.moc"
