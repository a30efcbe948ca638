// Constant decision and permanent path on rows that a decision packs or weighs: the same without packing,
// weighed over all cells.
#include "core/cpu/cpu_device.h"
#include "core/passes/pass.h"
#include "tests/core/passes/constant_router_cases.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class ConstantRowsTest : public QObject, private ConstantRouterCases {
  Q_OBJECT
 private slots:
  /// Sequences of one task, whose tokens go to its two experts: nothing is packed while they come alone.
  void members_of_sequences_that_all_go_one_way_are_not_packed() {
    for (const bool some : {false, true})
      for (const char* mode : {"sum", "place"}) {
        MixtureBuilder b(8);
        const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 5));
        const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 7));
        ValueId x =
            b.value("embedding", {b.integers("ids", tokens, 19), b.drawn("table", {19, 12}, 1)}, {}, "embedded");
        SpaceId base = tokens;
        std::vector<ValueId> told{b.labelled(sequences, 4, "moe")};
        if (some) {
          told.push_back(b.value("compact", {b.flags("mask", tokens)}, {}, "real"));
          x = b.pack(x, told[1], sequences);
          base = b.space_of(x);
        }
        const ValueId members = b.value("members", told, {{"base", int64_t{base}}}, "members");
        std::vector<ValueId> parts = b.pack_branches(x, members, told[0], {0, 1, 2, 3});
        for (size_t k = 0; k < parts.size(); ++k)
          parts[k] = b.normed_expert(parts[k], 20, "gelu", "expert." + std::to_string(k));
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
    const ValueId x =
        b.value("embedding", {b.integers("ids", tokens, 19), b.drawn("table", {19, 12}, 1)}, {}, "embedded");
    Protocol rule;
    rule.kind = ProtocolKind::hash;
    const ValueId decision = b.route(b.integers("moe.labels", sequences, 50), rule, "moe", 6);
    const ValueId members = b.value("members", {decision}, {{"base", int64_t{tokens}}}, "members");
    std::vector<ValueId> parts = b.pack_branches(x, members, decision, {0, 1, 2, 3, 4, 5});
    for (size_t k = 0; k < parts.size(); ++k)
      parts[k] = b.normed_expert(parts[k], 20, "gelu", "expert." + std::to_string(k));
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
    b.output("y", b.mixture(x, given_scores(b, b.space_of(x), 4, rule, "moe"), {.mode = "weighted", .otherwise = true},
                            "moe"));
    const RandomCase from = b.take("capacity");
    const CaseInputs usual = with_scores(from, "moe", {{0, 3, 2, -1}}),
                     other = with_scores(from, "moe", {{0, 3, 2, -1}, {4, 3, 2, -1}});
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
    QCOMPARE(count_taken(result.graph, "gather"),
             size_t{1});  // of two rows; weights alone, which send nothing, stay as they are
    QCOMPARE(apply("permanent-path", from, usual).reason,
             std::string("not applied to ways: others ask for its decision"));
  }

  /// A late guard whose weights are asked for decides first; without a decision there are none.
  void weights_wait_for_a_late_decision() {
    MixtureBuilder b(17);
    const ValueId x = b.tokens(4, 10, 8);
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    const ValueId decision = given_scores(b, b.space_of(x), 2, rule, "ways");
    const std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
    b.output("y", b.gather({weighed(b, b.product(parts[0], 8, "a"), decision, "a"),
                            weighed(b, b.product(parts[1], 8, "b"), decision, "b")},
                           b.space_of(x), "sum", kNone, "joined"));
    const RandomCase from = b.take("late weights");
    const CaseInputs usual = with_scores(from, "ways", {{0.5f, 2}, {0.25f, 1}}),
                     other = with_scores(from, "ways", {{0.5f, 2}, {-1, 1}});
    check_hit_and_miss(from, apply("permanent-path", from, usual), usual, other);
    QCOMPARE(apply("permanent-path", from, usual, {{"approximate", "on"}}).reason,
             std::string("not applied to ways: what it chose is weighed by its scores"));
  }
};
STORMCELL_TEST(ConstantRowsTest)
#include "constant_rows_test.moc"
