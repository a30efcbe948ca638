// A plan for a card chooses kernels and lays memory out by what core/runtime has for every device, with rows of its own
// and no CUDA.
#include <memory>
#include <string>
#include <vector>

#include "core/graph/annotation_rules.h"
#include "core/runtime/lower.h"
#include "gpu/plan/planned_steps.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using gpu::PlanKernel;
using gpu::PlannedSteps;
using gpu::PlanRow;

std::unique_ptr<PlanKernel> plan_any(const KernelBuildContext&) { return std::make_unique<PlanKernel>(); }
std::unique_ptr<PlanKernel> plan_product(const KernelBuildContext& m) {
  m.branch_weight(1, kPlainF32Layout, DType::f32);
  m.f32_weight(2);
  auto kernel = std::make_unique<PlanKernel>();
  kernel->name = "product";
  kernel->scratch_bytes = m.most_rows(0) * 4;
  return kernel;
}
/// Supports products of four results alone.
std::unique_ptr<PlanKernel> plan_narrow_product(const KernelBuildContext& m) {
  if (m.program.operands[m.step.outputs[0]].width != 4) return nullptr;
  auto kernel = plan_product(m);
  kernel->name = "narrow";
  return kernel;
}
std::unique_ptr<PlanKernel> plan_grouped_product(const KernelBuildContext& m) {
  auto kernel = std::make_unique<PlanKernel>();
  kernel->rows = BranchRows(m);
  kernel->weights =
      BranchWeights(m, 2, [&](size_t input) { return m.branch_weight(input, kPlainF32Layout, DType::f32); });
  return kernel;
}
std::unique_ptr<PlanKernel> plan_joining(const KernelBuildContext& m) {
  auto kernel = std::make_unique<PlanKernel>();
  kernel->computed = branches_computed(m);
  const SpaceId target(m.node().attributes.integer("space"));
  kernel->chains.emplace_back(cell_chain(m.graph(), m.type(0).space, target), m.node().inputs.size());
  return kernel;
}

const std::vector<PlanRow> kPlanRows = {
    {"linear", "linear.narrow", plan_narrow_product},
    {"linear", "linear.product", plan_product},
    {"grouped_linear", "grouped_linear.tiles", plan_grouped_product},
    {"scatter", "move", plan_any, {.bf16_out = true}},
    {"gather", "join", plan_joining},
    {"route", "route", plan_any},
};

/// A router of three branches, two of them in one product over all slots; behind it a router of four, each branch by
/// itself.
RandomCase slots_and_branches() {
  CaseBuilder b(4);
  const SpaceId tokens = b.root_space("tokens", b.bound_symbol("N", 12));
  const ValueId x = b.floats("x", tokens, {8});
  const ValueId d = b.route(b.linear(x, 3, "scores"), {}, "moe");
  const SpaceId all = b.routed_space(d, kAllBranches);
  const ValueId first = b.drawn("first", {8, 8}, 0.5), second = b.drawn("second", {8, 8}, 0.5);
  const ValueId rows =
      b.value("grouped_linear", {x, d, first, second},
              {{"slots", int64_t{all}}, {"branches", std::vector<int64_t>{2, 0}}, {"activation", std::string("none")}},
              "experts");
  const ValueId y = b.gather({rows}, tokens, "weighted", kNone, "joined");
  const ValueId then = b.route(b.linear(y, 4, "then.scores"), {}, "then");
  std::vector<ValueId> parts = b.scatter(y, then, {0, 1, 2, 3});
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = b.linear(parts[i], 8, "then." + std::to_string(i));
  b.output("y", b.gather(parts, tokens, "weighted", kNone, "then.joined"));
  return b.take("slots and branches");
}

/// A case with what a plan of it needs, on a device that only counts bytes.
struct PlannedCase {
  explicit PlannedCase(RandomCase from, int64_t budget = 0)
      : c(std::move(from)),
        device(1),
        store(device, c.weights, budget),
        program(lower(std::make_shared<Graph>(c.graph))) {}
  PlannedSteps plan(std::span<const PlanRow> rows = kPlanRows) {
    CompileOptions options{c.bindings};
    options.scores = true;
    return gpu::plan_steps(program, store, options, rows);
  }
  const PlanKernel& kernel_of(const PlannedSteps& planned, const std::string& node) const {
    for (const int32_t at : program.steps.ids())
      if (planned.kernels[at] && program.graph->node(program.steps[at].node).name == node) return *planned.kernels[at];
    failed(node, "has no step");
  }
  RandomCase c;
  EmulatedDevice device;
  WeightStore store;
  Program program;
};

RandomCase annotated_case(const std::string& annotation) {
  RandomCase c = slots_and_branches();
  annotate(c.graph, annotation, "test");
  return c;
}
std::string refusal_of_plan(const std::string& annotation, std::span<const PlanRow> rows = kPlanRows) {
  return complaint(
      [&] { PlannedCase(annotation.empty() ? slots_and_branches() : annotated_case(annotation)).plan(rows); });
}

}  // namespace

class GpuPlanTest : public QObject {
  Q_OBJECT
 private slots:
  void the_first_row_that_supports_a_step_or_the_one_it_asks_for_makes_its_kernel() {
    PlannedCase free(slots_and_branches());
    const PlannedSteps planned = free.plan();
    QCOMPARE(free.kernel_of(planned, "then.scores").name, std::string_view("narrow"));
    QCOMPARE(free.kernel_of(planned, "scores").name, std::string_view("product"));
    PlannedCase asked(annotated_case("then.scores.kernel=linear.product"));
    QCOMPARE(asked.kernel_of(asked.plan(), "then.scores").name, std::string_view("product"));
    QCOMPARE(kernel_names(std::span<const PlanRow>(kPlanRows), "linear"),
             (std::vector<std::string>{"linear.narrow", "linear.product"}));
    QVERIFY(bf16_rows(std::span<const PlanRow>(kPlanRows)).read.empty());
    QCOMPARE(bf16_rows(std::span<const PlanRow>(kPlanRows)).write.size(), size_t{1});
  }

  void a_step_that_no_row_supports_is_refused_in_the_words_of_every_device() {
    QCOMPARE(refusal_of_plan(""), std::string());
    QCOMPARE(refusal_of_plan("scores.kernel=linear.narrow"),
             std::string("linear \"scores\": kernel linear.narrow does not support this case (linear.product does)"));
    const std::string unknown = refusal_of_plan("scores.kernel=linear.other");
    QVERIFY2(
        unknown.starts_with("linear \"scores\": expected kernel linear.narrow or linear.product, got \"linear.other\""),
        unknown.c_str());
    const std::string format = refusal_of_plan("scores.weight.format=bf16");
    QVERIFY2(
        format.find("no kernel holds weight %scores.weight in bf16 (leave that annotation out)") != std::string::npos,
        format.c_str());
    // No product at all.
    const std::string none = refusal_of_plan("", std::span<const PlanRow>(kPlanRows).subspan(2));
    QCOMPARE(none, std::string("linear \"scores\": no CUDA kernel"));
  }

  void steps_know_branches_and_weights() {
    PlannedCase free(slots_and_branches());
    const PlannedSteps planned = free.plan();
    const PlanKernel& experts = free.kernel_of(planned, "experts");
    QVERIFY(experts.rows && experts.rows->from_cells() && !experts.rows->holds_members());
    QCOMPARE(experts.rows->branches(), 3);
    QCOMPARE(experts.weights.weights().size(), size_t{2});
    QCOMPARE(experts.weights.weights()[0].branch, 2);
    QCOMPARE(free.store.key(experts.weights.weights()[0].handle).tensor, std::string("first"));
    const PlanKernel& joined = free.kernel_of(planned, "joined");
    QVERIFY(joined.computed == std::optional(std::vector<int64_t>{2, 0}));
    QCOMPARE(joined.chains.at(0).size(), size_t{1});
    QVERIFY(!free.kernel_of(planned, "then.joined").computed);
  }

  void the_layout_is_the_one_of_every_device() {
    for (const bool limited : {false, true}) {
      PlannedCase planned_case(slots_and_branches(), limited ? 4096 : 0);
      const PlannedSteps planned = planned_case.plan();
      WeightStore store(planned_case.device, planned_case.c.weights, limited ? 4096 : 0);
      CompileOptions options{planned_case.c.bindings};
      options.scores = true;
      const ExecutableLayout cpu =
          planned_case.device.layout_of(std::make_shared<const Program>(planned_case.program), store, options);
      const ExecutableLayout& layout = planned.layout;
      QCOMPARE(layout.record_bytes, cpu.record_bytes);
      QCOMPARE(layout.records.size(), cpu.records.size());
      for (const RouterId r : layout.records.ids()) {
        QCOMPARE(layout.records[r].score_columns, cpu.records[r].score_columns);
        QCOMPARE(layout.records[r].first, cpu.records[r].first);
        QCOMPARE(planned.records[r].chain.size(), size_t{0});
      }
      QCOMPARE(planned.records.most_choices(), int64_t{12});
      QCOMPARE(layout.most_events, cpu.most_events);
      QCOMPARE(layout.always.size(), cpu.always.size());
      QCOMPARE(layout.sites.size(), cpu.sites.size());
      QCOMPARE(layout.sites.empty(), !limited);
      QCOMPARE(layout.segments.leaves.size(), cpu.segments.leaves.size());
      QCOMPARE(layout.memory.arena_bytes, cpu.memory.arena_bytes);
      QCOMPARE(layout.scratch_bytes, int64_t{64});
    }
  }

  void a_chain_is_followed_over_whatever_has_a_decision() {
    struct Input {
      const DecisionView* decision;
      const RaggedView* ragged;
    };
    std::vector<int32_t> offsets{0, 1, 3}, cells{4, 0, 5};
    std::vector<float> weights{0.5f, 0.25f, 0.75f};
    DecisionView d;
    d.offsets = offsets.data(), d.cell = cells.data(), d.weight = weights.data(), d.branches = 2;
    const CellChain chain({{kNone, false, 1, kNone}}, 1);
    float weight = 0;
    QCOMPARE(chain.follow(std::vector<Input>{{}, {&d, nullptr}}, 1, &weight), int64_t{5});
    QCOMPARE(weight, 0.75f);
  }
};

STORMCELL_TEST(GpuPlanTest)

}  // namespace stormcell::testing
#include "plan_test.moc"
