// Horizontal fusion: which branches run as one, which do not and what differs, and that no bit changes.
#include <cmath>

#include "core/graph/roles.h"
#include "core/graph/text.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/fused_answers.h"
#include "tests/core/passes/same_by_the_oracle.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// A mixture of three branches, each written by `branch(builder, x, index)`.
template <class F>
RandomCase three_branches(F&& branch, std::string_view mode = "sum", int32_t k = 1) {
  MixtureBuilder b(12);
  const ValueId x = b.tokens(2, 4, 8);
  Protocol rule;
  rule.k = k;
  const std::vector<ValueId> parts = b.scatter(x, b.scored(x, rule, 3, "moe"), {0, 1, 2});
  std::vector<ValueId> results;
  for (int i = 0; i < 3; ++i) results.push_back(branch(b, parts[static_cast<size_t>(i)], i));
  b.output("y", b.gather(std::move(results), b.space_of(x), mode, kNone, "joined"));
  return b.take("three branches");
}
std::string product_name(int i, const char* part = "") { return "expert." + std::to_string(i) + part; }

}  // namespace

class HorizontalFusionTest : public QObject {
  Q_OBJECT
 private slots:
  void all_experts_become_one_chain_and_the_scatter_disappears() {
    for (const Expert expert : {Expert::plain, Expert::gated, Expert::single, Expert::normed})
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const int32_t k : {1, 3}) {
          MixtureBuilder b(3);
          b.weight_dtype = dtype;
          const ValueId x = b.tokens(3, 11, 24);
          Protocol rule;
          rule.k = k;
          Mixture shape;
          shape.branches = 6;
          shape.width = 70;
          shape.expert = expert;
          shape.mode = "weighted";
          b.output("y", b.mixture(x, b.scored(x, rule, 6, "moe"), shape, "moe"));
          const PassResult result = fuse(b.take("experts"));
          QVERIFY(result.applied);
          const size_t products = expert == Expert::single ? 1 : expert == Expert::gated ? 3 : 2;
          QCOMPARE(count_nodes(result.graph, "grouped_linear"), products);
          QCOMPARE(count_nodes(result.graph, "linear"), size_t{1});  // the router's
          QCOMPARE(count_nodes(result.graph, "scatter"), size_t{expert == Expert::normed});
          if (expert == Expert::plain)
            QCOMPARE(result.reason, std::string("1 router: 12 linear became 2 grouped_linear; 1 scatter removed"));
        }
  }

  void experts_with_biases_bring_them_along() {
    for (const Expert expert : {Expert::plain, Expert::gated, Expert::single, Expert::normed})
      for (const DType dtype : {DType::f32, DType::bf16}) {
        MixtureBuilder b(13);
        b.weight_dtype = dtype;
        const ValueId x = b.tokens(3, 11, 24);
        Protocol rule;
        rule.k = 2;
        Mixture shape{.branches = 6, .width = 70, .expert = expert, .mode = "weighted", .biases = true, .skip = true};
        b.output("y", b.mixture(x, b.scored(x, rule, 6, "moe"), shape, "moe"));
        const RandomCase from = b.take("biases");
        const PassResult result = fuse(from);
        QVERIFY2(result.applied, result.reason.c_str());
        same_by_the_oracle(from, result.graph);
        for (const Node& node : result.graph.nodes)
          if (node.op->name == "grouped_linear") {
            QCOMPARE(owned_inputs(node), size_t{12});
            QVERIFY(!extra_input(node, "bias"));
            for (size_t i = 0; i < 12; ++i) QCOMPARE(*branch_of_input(node, 2 + i), static_cast<int32_t>(i % 6));
          }
        const std::string text = to_text(result.graph);
        QCOMPARE(to_text(parse_graph(text, "again")), text);
      }
  }

  void what_follows_a_bias_is_folded_behind_it() {
    for (const Expert expert : {Expert::plain, Expert::gated, Expert::single}) {
      MixtureBuilder b(14);
      const ValueId x = b.tokens(2, 6, 8);
      Mixture shape{.expert = expert, .mode = "place", .biases = true, .skip = true};
      b.output("y", b.mixture(x, b.labelled(b.space_of(x), 4, "moe"), shape, "moe"));
      const RandomCase from = b.take("biases, all passes");
      LoadProfile profile;
      profile.routers["moe"] = {{12, 0, 0, 0}, 12, 1};
      const PassInput input = pass_input(from.graph, profile);
      for (const std::vector<std::string>& only : {std::vector<std::string>{"horizontal-fusion", "vertical-fusion"},
                                                   {"dead-path", "horizontal-fusion", "vertical-fusion"}}) {
        const PipelineResult all = run_passes(input, select_passes({.only = only}));
        QVERIFY(count_nodes(all.graph, "grouped_linear") > 0);
        // A scale is not folded behind a bias: it would scale the bias too.
        QCOMPARE(count_nodes(all.graph, "scale") > 0, expert == Expert::single);
        same_answers(from, all.graph);
        same_by_the_oracle(from, all.graph);
      }
      const PassResult vertical = find_pass("vertical-fusion")->run(input);
      same_answers(from, find_pass("horizontal-fusion")->run(pass_input(vertical.graph, profile)).graph);
    }
  }

  void a_flow_that_is_added_is_scattered_to_slots() {
    MixtureBuilder b(4);
    const ValueId x = b.tokens(2, 6, 8);
    Mixture shape;
    shape.skip = true;
    shape.mode = "place";
    shape.otherwise = true;
    b.output("y", b.mixture(x, b.labelled(b.space_of(x), 4, "moe"), shape, "moe"));
    const PassResult result = fuse(b.take("two flows"));
    QVERIFY(result.applied);
    QCOMPARE(count_nodes(result.graph, "scatter"), size_t{1});
    QCOMPARE(count_nodes(result.graph, "grouped_linear"), size_t{2});
  }

  void branches_that_lead_nowhere_stay_absent() {
    for (const bool otherwise : {false, true}) {
      MixtureBuilder b(5);
      const ValueId x = b.tokens(2, 9, 8);
      Protocol rule;
      rule.k = 2;
      const ValueId decision = b.scored(x, rule, 4, "moe");
      const std::vector<ValueId> parts = b.scatter(x, decision, {0, 2, 3});
      std::vector<ValueId> results;
      for (size_t i = 0; i < parts.size(); ++i)
        results.push_back(b.value("activation", {b.product(parts[i], 8, product_name(static_cast<int>(i)))},
                                  {{"kind", std::string("silu")}}, "active"));
      b.output("y", b.gather(std::move(results), b.space_of(x), "sum", otherwise ? x : kNone, "joined"));
      const PassResult result = fuse(b.take("absent branch"));
      QVERIFY(result.applied);
      QCOMPARE(count_nodes(result.graph, "grouped_linear"), size_t{1});
    }
  }

  void both_bodies_of_a_guard_are_fused() {
    MixtureBuilder b(6);
    const ValueId x = b.tokens(2, 6, 8);
    b.output("y", b.mixture(x, b.labelled(b.space_of(x), 4, "moe"), {}, "moe"));
    const RandomCase from = b.take("guarded");
    LoadProfile profile;
    profile.routers["moe"] = {{12, 0, 0, 0}, 12, 1};
    const PassInput input = pass_input(from.graph, profile);
    const PipelineResult both = run_passes(input, select_passes({.only = {"dead-path", "horizontal-fusion"}}));
    QCOMPARE(count_nodes(both.graph, "guard"), size_t{1});
    QCOMPARE(count_nodes(both.graph, "grouped_linear"), size_t{4});
    QCOMPARE(count_nodes(both.graph, "scatter"), size_t{0});
    same_answers(from, both.graph);
  }

  void products_that_carry_more_are_grouped_with_it() {
    MixtureBuilder b(7);
    const ValueId x = b.tokens(2, 6, 8);
    Mixture shape;
    shape.expert = Expert::gated;
    shape.skip = true;
    b.output("y", b.mixture(x, b.labelled(b.space_of(x), 4, "moe"), shape, "moe"));
    const RandomCase from = b.take("fused before");
    const LoadProfile none;
    // The other way round than the pipeline does it.
    PassResult vertical = find_pass("vertical-fusion")->run(pass_input(from.graph, none));
    const PassResult both = find_pass("horizontal-fusion")->run(pass_input(vertical.graph, none));
    QVERIFY(both.applied);
    // norm, skips scattered to slots, up, gate times up, down plus skip, gather plus residual
    QCOMPARE(count_nodes(both.graph, "grouped_linear"), size_t{3});
    for (const char* gone : {"activation", "multiply", "add", "linear"})
      QCOMPARE(count_nodes(both.graph, gone), size_t{0});
    same_answers(from, both.graph);
  }

  void a_router_nested_in_a_branch_is_fused_and_the_outer_one_says_why_not() {
    const RandomCase from = three_branches([](MixtureBuilder& b, ValueId x, int i) {
      if (i != 1) return b.product(x, 8, product_name(i));
      Protocol rule;
      return b.mixture(x, b.scored(x, rule, 4, "inner"), {}, "inner.moe");
    });
    const PassResult result = fuse(from);
    QCOMPARE(result.reason, std::string("1 router: 8 linear became 2 grouped_linear; 1 scatter removed; not applied to "
                                        "moe: branch 1 holds route \"inner\""));
  }

  void reals_are_compared_exactly() {
    const auto reason = [](double of_two) {
      const PassResult result = fuse(three_branches([&](auto& b, ValueId x, int i) {
        const ValueId gain = b.drawn("gain", {8}, 0.1, 1);
        const ValueId y = b.value("rms_norm", {x, gain}, {{"eps", i == 2 ? of_two : 1e-7}}, product_name(i, ".norm"));
        return b.product(y, 8, product_name(i));
      }));
      return result.applied ? std::string("applied") : result.reason;
    };
    QCOMPARE(reason(1e-7), std::string("applied"));
    QCOMPARE(reason(1e-8),
             std::string("not applied to moe: branch 2 has rms_norm \"expert.2.norm\" with eps 1e-08, branch 0 1e-07"));
    QVERIFY(reason(std::nextafter(1e-7, 1.0)) != "applied");
  }

  void experts_of_members_become_one() {
    for (const bool some : {false, true})
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const char* mode : {"sum", "weighted", "place"}) {
          MixtureBuilder b(23);
          b.weight_dtype = dtype;
          const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 6));
          const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 5));
          ValueId x =
              b.value("embedding", {b.integers("ids", tokens, 19), b.drawn("table", {19, 12}, 1)}, {}, "embedded");
          std::vector<ValueId> told;
          ValueId real = kNone;
          SpaceId base = tokens;
          if (some) {
            real = b.value("compact", {b.flags("mask", tokens)}, {}, "real");
            x = b.pack(x, real, sequences), base = b.space_of(x), told = {real};
          }
          Protocol rule;
          rule.k = 2;
          const bool place = std::string_view(mode) == "place";
          const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
          const ValueId decision = place ? b.labelled(sequences, 4, "tasks") : b.scored(whole, rule, 4, "tasks");
          told.insert(told.begin(), decision);
          const ValueId members = b.value("members", std::move(told), {{"base", int64_t{base}}}, "members");
          std::vector<ValueId> parts = b.pack_branches(x, members, decision, {0, 1, 2, 3});
          for (size_t i = 0; i < parts.size(); ++i)
            parts[i] = b.normed_expert(parts[i], 20, "gelu", product_name(static_cast<int>(i)));
          const ValueId joined = b.gather(std::move(parts), base, mode, kNone, "joined");
          // Behind the cells that are there nothing is promised.
          b.output("y", some ? b.value("expand", {joined, real}, {}, "expanded") : joined);
          const RandomCase from = b.take(std::string("members, ") + mode);
          const PassResult result = fuse(from);
          QVERIFY2(result.applied, result.reason.c_str());
          same_by_the_oracle(from, result.graph);
          QCOMPARE(result.reason,
                   std::string("1 router: 4 layer_norm became 1 grouped_layer_norm, 8 linear became 2 grouped_linear"));
          QCOMPARE(count_nodes(result.graph, "linear"), size_t{!place});
          for (const Node& node : result.graph.nodes)
            if (node.op->name == "pack") QCOMPARE(node.outputs.size(), size_t{1});
          const std::string text = to_text(result.graph);
          QCOMPARE(to_text(parse_graph(text, "again")), text);

          // A branch without members left out by a guard: the gather of its taken body names the others.
          LoadProfile profile;
          profile.routers["tasks"] = {{6, 6, 0, 6}, 6, 1};
          const PipelineResult cut =
              run_passes(pass_input(from.graph, profile),
                         select_passes({.only = {"dead-path", "horizontal-fusion", "vertical-fusion"}}));
          QCOMPARE(count_nodes(cut.graph, "guard"), size_t{1});
          QCOMPARE(count_nodes(cut.graph, "grouped_layer_norm"), size_t{2} - place);
          same_answers(from, cut.graph);
          same_by_the_oracle(from, cut.graph);
        }
  }

  void members_are_summed_in_the_order_of_their_branches() {
    const auto reason = [](const std::vector<size_t>& order, const char* mode, size_t joined) {
      MixtureBuilder b(24);
      const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 4));
      const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 3));
      const ValueId x =
          b.value("embedding", {b.integers("ids", tokens, 19), b.drawn("table", {19, 8}, 1)}, {}, "embedded");
      Protocol rule;
      rule.k = 2;
      const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
      const ValueId decision =
          std::string_view(mode) == "place" ? b.labelled(sequences, 3, "tasks") : b.scored(whole, rule, 3, "tasks");
      const ValueId members = b.value("members", {decision}, {{"base", int64_t{tokens}}}, "members");
      std::vector<int32_t> branches(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(joined));
      std::vector<ValueId> parts = b.pack_branches(x, members, decision, branches);
      for (size_t i = 0; i < parts.size(); ++i) parts[i] = b.product(parts[i], 8, product_name(branches[i]));
      b.output("y", b.gather(std::move(parts), tokens, mode, kNone, "joined"));
      const RandomCase from = b.take("order");
      const PassResult result = fuse(from);
      same_by_the_oracle(from, result.graph);
      return result.applied ? std::string("applied") : result.reason;
    };
    QCOMPARE(reason({0, 1, 2}, "sum", 3), std::string("applied"));
    QCOMPARE(reason({0, 1, 2}, "sum", 2), std::string("applied"));
    QCOMPARE(reason({1, 2, 0}, "place", 3), std::string("applied"));
    QCOMPARE(reason({1, 0, 2}, "sum", 3),
             std::string(
                 "not applied to tasks: gather \"joined\" sums members of its branches in another order than theirs"));
    QCOMPARE(reason({0, 1, 2}, "place", 2),
             std::string("not applied to tasks: gather \"joined\" places members of some of its branches"));
  }

  void it_says_which_branch_differs_in_what() {
    const auto reason = [](const RandomCase& from) {
      const PassResult result = fuse(from);
      return result.applied ? std::string("applied") : result.reason;
    };
    const auto active = [](MixtureBuilder& b, ValueId x, const char* kind) {
      return b.value("activation", {x}, {{"kind", std::string(kind)}}, "act");
    };
    QCOMPARE(reason(three_branches([&](auto& b, ValueId x, int i) {
               return active(b, b.product(x, 8, product_name(i)), i == 2 ? "gelu" : "relu");
             })),
             std::string("not applied to moe: branch 2 has activation \"act\" with kind gelu, branch 0 relu"));
    QCOMPARE(reason(three_branches(
                 [&](auto& b, ValueId x, int i) { return b.linear(x, 8, product_name(i), "none", i == 1); })),
             std::string("not applied to moe: branch 1 has linear \"expert.1\" with extras bias, branch 0 none"));
    QCOMPARE(reason(three_branches([&](auto& b, ValueId x, int i) { return b.linear(x, 8, product_name(i)); })),
             std::string("applied"));
    QCOMPARE(
        reason(three_branches([&](auto& b, ValueId x, int i) {
          return b.value("linear", {x, b.drawn(product_name(i), {8, 8}, 1)}, {{"precise", int64_t{1}}},
                         product_name(i));
        })),
        std::string(
            "not applied to moe: branch 0 has precise in linear \"expert.0\", which grouped products do not take"));
    QCOMPARE(reason(three_branches([&](auto& b, ValueId x, int i) {
               return b.product(b.product(x, 8 + i, product_name(i, ".up")), 8, product_name(i, ".down"));
             })),
             std::string(
                 "not applied to moe: branch 1 has linear \"expert.1.up\" with weights f32 [9,8], branch 0 f32 [8,8]"));
    QCOMPARE(reason(three_branches(
                 [&](auto& b, ValueId x, int i) { return i == 1 ? x : b.product(x, 8, product_name(i)); })),
             std::string("not applied to moe: branch 1 has no linear \"expert.0\" as branch 0 has"));
    QCOMPARE(reason(three_branches(
                 [&](auto& b, ValueId x, int i) { return i == 0 ? x : b.product(x, 8, product_name(i)); })),
             std::string("not applied to moe: branch 1 has one more, linear \"expert.1\", than branch 0"));
    QCOMPARE(reason(three_branches([&](auto& b, ValueId x, int i) {
               return b.product(b.norm(x, product_name(i, ".norm")), 8, product_name(i));
             })),
             std::string("not applied to moe: branch 1 has weights of its own in rms_norm \"expert.1.norm\""));
    QCOMPARE(reason(three_branches([&](auto& b, ValueId x, int i) {
               const ValueId y = b.product(x, 8, product_name(i));
               return i == 2 ? b.value("scale", {y}, {{"factor", 1.0}}, "act") : active(b, y, "relu");
             })),
             std::string("not applied to moe: branch 2 has scale \"act\" where branch 0 has activation \"act\""));
    QCOMPARE(
        reason(three_branches([&](auto& b, ValueId x, int i) { return b.product(x, 8, product_name(i)); }, "place", 2)),
        std::string("not applied to moe: gather \"joined\" places rows, of which a cell may have several"));
    QCOMPARE(reason(three_branches([&](auto& b, ValueId x, int) { return active(b, x, "relu"); })),
             std::string("not applied to moe: its branches hold no product"));
    QCOMPARE(reason(three_branches([&](auto& b, ValueId x, int i) {
               const ValueId y = b.product(x, 8, product_name(i));
               return b.add(y, i == 2 ? y : x);
             })),
             std::string("not applied to moe: branch 2 has add \"sum\" with other inputs than branch 0"));
  }
};
STORMCELL_TEST(HorizontalFusionTest)
#include "horizontal_fusion_test.moc"
