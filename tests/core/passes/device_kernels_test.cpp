// Passes for a device that has kernels for some operators only: they make none of the others, say so, and the plan runs
// there.
#include <algorithm>
#include <map>
#include <set>

#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/constant_router_cases.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

using OperatorNames = std::vector<std::string_view>;

OperatorNames operators_of_nodes(const Graph& graph) {
  std::set<std::string_view> found;
  graph.for_each_node([&](NodeId id, int) { found.insert(graph.node(id).op->name); });
  return {found.begin(), found.end()};
}

OperatorNames all_kernels_but(std::string_view lacking) {
  OperatorNames operators = cpu::operators_with_kernels();
  std::erase(operators, lacking);
  return operators;
}

/// Applies a pass for a device without kernels for `lacking`.
PassResult apply_without(std::string_view pass, std::string_view lacking, const Graph& graph,
                         const LoadProfile& profile, PassParameters options = {}) {
  const OperatorNames operators = all_kernels_but(lacking);
  PassInput input = pass_input(graph, profile);
  input.operators = operators;
  return find_pass(pass)->run(input.on(graph, std::move(options), nullptr));
}

/// Each branch got all cells or none, and half of the cells pad: every pass finds something to do.
LoadProfile straightened_profile(const RandomCase& from) {
  LoadProfile profile = profile_of(from, {from.inputs});
  for (auto& [router, load] : profile.routers)
    for (int64_t& n : load.load) n = 2 * n > load.cells ? load.cells : 0;
  return profile;
}
std::map<std::string, MaskFacts, std::less<>> padded_masks(const Graph& graph) {
  std::map<std::string, MaskFacts, std::less<>> masks;
  for (const Value& v : graph.values)
    if (v.role == InputRole::mask) masks[v.name] = {.cells = 2, .real = 1, .padding_last = true, .some_in_each = true};
  return masks;
}
PassSelection all_passes() {
  PassSelection selection;
  selection.enable = {"permanent-path"};
  for (const char* pass : {"constant-decision", "permanent-path"}) selection.options[pass]["min-cells"] = "1";
  return selection;
}

/// Operators that passes make beyond those of the graphs that they are given.
struct MadeOperators {
  std::map<std::string_view, int> anywhere;  ///< on a device that has all: graphs by operator
  int refused = 0;                           ///< reasons that name a missing kernel

  void look_at(const RandomCase& from) {
    const OperatorNames known = operators_of_nodes(from.graph);
    const LoadProfile profile = straightened_profile(from);
    PassInput input = pass_input(from.graph, profile);
    input.masks = padded_masks(from.graph);
    const std::vector<ChosenPass> chosen = select_passes(all_passes());
    for (const std::string_view op : operators_of_nodes(run_passes(input, chosen, OnTheirOwn::no).graph))
      if (std::find(known.begin(), known.end(), op) == known.end()) ++anywhere[op];
    input.operators = known;
    for (const PassOutcome& outcome : run_passes(input, chosen).outcomes)
      for (const PassResult* result : {&outcome.alone, &outcome.cumulative}) {
        refused += result->reason.find("the device has no kernel for ") != std::string::npos;
        for (const std::string_view op : operators_of_nodes(result->graph))
          QVERIFY2(op == "guard" || std::find(known.begin(), known.end(), op) != known.end(),
                   (from.name + ": " + std::string(outcome.pass->id) + " makes " + std::string(op)).c_str());
      }
  }
};

RandomCase mixture_of_products() {
  MixtureBuilder b(3);
  const ValueId x = b.tokens(3, 11, 24);
  Protocol rule;
  rule.k = 1;
  b.output("y", b.mixture(x, b.scored(x, rule, 4, "moe"), Mixture(), "moe"));
  return b.take("mixture of products");
}

}  // namespace

class DeviceKernelsTest : public QObject {
  Q_OBJECT
 private slots:
  void passes_make_no_operator_that_the_device_lacks() {
    MadeOperators made;
    RandomOptions over_maps;
    over_maps.maps = true;
    for (uint64_t seed = 0; seed < drawn(40) && !QTest::currentTestFailed(); ++seed) {
      made.look_at(make_random_case(seed));
      made.look_at(make_random_case(seed, over_maps));
      made.look_at(random_mixtures(seed));
      made.look_at(random_subnets(seed));
      made.look_at(random_sequence_experts(seed));
    }
    // Passes do make others for a device that has all: else this test would show nothing.
    for (const char* op : {"grouped_linear", "branches_empty", "branches_full"}) QVERIFY2(made.anywhere[op] > 0, op);
    QVERIFY(made.refused > 0);
  }

  void without_grouped_products_horizontal_fusion_says_so_and_the_other_passes_go_on() {
    const RandomCase from = mixture_of_products();
    const LoadProfile none;
    const PassResult fused = find_pass("horizontal-fusion")->run(pass_input(from.graph, none));
    QVERIFY(fused.applied);
    const PassResult left = apply_without("horizontal-fusion", "grouped_linear", from.graph, none);
    QVERIFY(!left.applied);
    QCOMPARE(left.reason, std::string("not applied to moe: the device has no kernel for grouped_linear"));

    EmulatedDevice lacking(1), whole(1);
    lacking.lacks = {"grouped_linear"};
    const OperatorNames operators = lacking.info().operators;
    QCOMPARE(operators, all_kernels_but("grouped_linear"));
    PassInput input = pass_input(from.graph, none);
    input.operators = operators;
    const PipelineResult optimised = run_passes(input, select_passes({}));
    Plan there(lacking, optimised.graph, from), here(whole, from.graph, from);
    QCOMPARE(difference(here.run(from.inputs).outputs, there.run(from.inputs).outputs), std::string());
    // Made for a device that has all, the plan would not run.
    const std::string told = complaint([&] { Plan(lacking, fused.graph, from); });
    QVERIFY2(told.find("no kernel for grouped_linear") != std::string::npos, told.c_str());
  }

  void convolutions_stay_apart_where_the_device_lacks_what_joins_them() {
    const LoadProfile none;
    CaseBuilder b(7);
    const ValueId x = b.floats("x", b.root_space("maps", b.bound_symbol("N", 3)), {9, 21, 4});
    const ValueId inner = b.value("activation", {b.conv(x, 4, 3, 1, "first")}, {{"kind", std::string("relu")}}, "relu");
    b.output("y", b.add(x, b.conv(inner, 4, 3, 1, "second"), "block"));
    const RandomCase block = b.take("a residual block");
    const PassResult folded = apply_without("vertical-fusion", "residual_blocks", block.graph, none);
    QVERIFY(folded.applied);
    QCOMPARE(count_nodes(folded.graph, "conv2d"), size_t{2});
    QVERIFY2(folded.reason.ends_with("; convolutions stay apart: the device has no kernel for residual_blocks"),
             folded.reason.c_str());
    QCOMPARE(
        count_nodes(apply_without("vertical-fusion", "separable_conv2d", block.graph, none).graph, "residual_blocks"),
        size_t{1});

    CaseBuilder two(7);
    const ValueId map = two.floats("x", two.root_space("maps", two.bound_symbol("N", 3)), {9, 21, 8});
    const ValueId depthwise = two.value("conv2d", {map, two.drawn("a.weight", {8, 3, 3, 1}, 0.3)},
                                        {{"groups", int64_t{8}}, {"padding", int64_t{1}}}, "a");
    two.output("y", two.conv(depthwise, 5, 1, 1, "b"));
    const RandomCase separable = two.take("two convolutions");
    const PassResult apart = apply_without("vertical-fusion", "separable_conv2d", separable.graph, none);
    QVERIFY(!apart.applied);
    QVERIFY2(apart.reason.ends_with("; convolutions stay apart: the device has no kernel for separable_conv2d"),
             apart.reason.c_str());
  }

  void guards_are_not_made_without_what_asks_for_them() {
    const RandomCase from = ConstantRouterCases::labelled_mixture();
    const auto refusal = [&](std::string_view pass, std::string_view lacking, std::vector<int32_t> labels,
                             PassParameters options) {
      const LoadProfile profile = profile_of(from, {ConstantRouterCases::with_labels(from, "moe", std::move(labels))});
      const PassResult with_all =
          find_pass(pass)->run(pass_input(from.graph, profile).on(from.graph, options, nullptr));
      const PassResult without = apply_without(pass, lacking, from.graph, profile, options);
      return std::pair(with_all.applied && !without.applied, without.reason);
    };
    const auto [dead, why_not_dead] = refusal("dead-path", "branches_empty", {0, 1}, {});
    QVERIFY2(dead && why_not_dead.find("moe: the device has no kernel for branches_empty") != std::string::npos,
             why_not_dead.c_str());
    for (const char* pass : ConstantRouterCases::kBoth) {
      const auto [constant, why_not] = refusal(pass, "branches_full", {2}, {{"min-cells", "1"}});
      QVERIFY2(constant && why_not.find("moe: the device has no kernel for branches_full") != std::string::npos,
               why_not.c_str());
    }
  }

  void regions_need_no_kernel() {
    const LoadProfile none;
    const Graph empty;
    PassInput input = pass_input(empty, none);
    QVERIFY(input.has_kernel("linear") && input.has_kernel("guard"));
    const OperatorNames products{"linear"};
    input.operators = products;
    QVERIFY(input.has_kernel("linear") && input.has_kernel("guard") && input.has_kernel("repeat") &&
            !input.has_kernel("scatter"));
    QVERIFY(!input.on(empty, {}, nullptr).has_kernel("scatter"));
  }
};
STORMCELL_TEST(DeviceKernelsTest)
#include "device_kernels_test.moc"
