// How many nodes a card launches for a batch of the networks that are measured, counted from their plans. Nothing runs.
#include <cstdio>

#include "core/models/model.h"
#include "tests/gpu/host_run.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// A network as it is measured, and its nodes.
struct CountedNodes {
  const char* preset;
  int64_t items, length;  ///< length: of sequences; 0: pictures
  int64_t nodes;          ///< optimised, all of the graph
  int64_t outside;        ///< of these, outside of all branches: of an exit network those that run to the first exit
  int64_t estimate;       ///< that the study had
  bool to_exit;           ///< the estimate is about the first exit
};
constexpr CountedNodes kCounted[] = {
    {"preset:livesr-k10-f8", 1, 0, 0, 0, 35, false},       {"preset:msdnet-e7", 1, 0, 0, 0, 75, true},
    {"preset:dynamic-routing-a", 1, 0, 0, 0, 1000, false}, {"preset:swinv2-moe-small-c1.25", 8, 0, 0, 0, 290, false},
    {"preset:task-moe", 32, 64, 0, 0, 72, false},          {"preset:switch-base-8", 8, 128, 0, 0, 330, false},
};
/// A plan may have so many times the nodes that were estimated.
constexpr int64_t kMostTimes = 2;

Bindings bounds_of(const Graph& graph, const CountedNodes& of) {
  Bindings bounds(graph.symbols.size(), 0);
  const auto bind = [&](std::string_view name, int64_t value) {
    if (const SymbolId id = graph.find_symbol(name); id != kNone) bounds[static_cast<size_t>(id)] = value;
  };
  bind(kSequences, of.items), bind(kLength, of.length), bind(kDecoderLength, of.length);
  return bounds;
}

/// Nodes of steps that no branch holds.
int64_t nodes_outside(const Program& program, const gpu::Plan& plan) {
  std::vector<bool> within(program.steps.size(), false);
  for (const int32_t at : program.steps.ids())
    if (program.steps[at].kind == StepKind::skip_empty)
      std::fill(within.begin() + at, within.begin() + program.steps[at].target, true);
  int64_t outside = 0;
  for (const gpu::PlanNode& node : plan.nodes) outside += node.step < 0 || !within[node.step];
  return outside;
}

}  // namespace

class PlanNodesTest : public QObject {
  Q_OBJECT
 private slots:
  void a_batch_takes_as_many_nodes_as_the_table_says_data() {
    QTest::addColumn<int>("row");
    for (size_t i = 0; i < std::size(kCounted); ++i) QTest::newRow(kCounted[i].preset) << static_cast<int>(i);
  }
  void a_batch_takes_as_many_nodes_as_the_table_says() {
    QFETCH(int, row);
    const CountedNodes& of = kCounted[row];
    const auto model = open_model(of.preset);
    const HostDevice device;
    HostDevice host;
    const auto count = [&](const Graph& graph) {
      WeightStore store(host, model->weights);
      const Program program = lower(std::make_shared<Graph>(graph));
      const gpu::Plan plan = gpu::make_plan(program, store, {bounds_of(graph, of)}, {});
      return std::pair(std::ssize(plan.nodes), nodes_outside(program, plan));
    };
    const auto [as_it_is, outside_as_it_is] = count(*model->forward);
    const auto [nodes, outside] = count(optimised_for(device, *model->forward));
    std::printf("%s: %lld nodes (%lld outside of branches), optimised %lld (%lld), estimate %lld\n", of.preset,
                static_cast<long long>(as_it_is), static_cast<long long>(outside_as_it_is),
                static_cast<long long>(nodes), static_cast<long long>(outside), static_cast<long long>(of.estimate));
    QCOMPARE(static_cast<int64_t>(nodes), of.nodes);
    QCOMPARE(outside, of.outside);
    QVERIFY((of.to_exit ? of.outside : of.nodes) <= kMostTimes * of.estimate);
  }
};

STORMCELL_TEST(PlanNodesTest)

}  // namespace stormcell::testing
#include "plan_nodes_test.moc"
