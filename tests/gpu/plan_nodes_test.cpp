// How many nodes a card launches for a batch of the networks that are measured, counted from their plans. Nothing runs.
#include <algorithm>
#include <cstdio>

#include "core/models/model.h"
#include "tests/gpu/host_run.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// A network as it is measured, and its nodes.
struct CountedNodes {
  const char* preset;
  int64_t items, length;         ///< length: of sequences; 0: pictures
  int64_t nodes;                 ///< of the optimised graph
  int64_t estimate;              ///< of the study
  bool to_first_router = false;  ///< nodes up to its decision alone: an item that leaves there needs no others
};
constexpr CountedNodes kCounted[] = {
    {"preset:livesr-k10-f8", 1, 0, 44, 35},         {"preset:msdnet-e7", 1, 0, 115, 75, true},
    {"preset:dynamic-routing-a", 1, 0, 1968, 1000}, {"preset:swinv2-moe-small-c1.25", 8, 0, 323, 290},
    {"preset:task-moe", 32, 64, 121, 72},           {"preset:switch-base-8", 8, 128, 379, 330}};
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

/// The step that decides first.
int32_t first_router(const Program& program) {
  for (int32_t i = 0; i < std::ssize(program.steps); ++i)
    for (const RouterId r : program.routers.ids())
      if (program.steps[i].node == program.routers[r].node) return i;
  return -1;
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
    HostDevice device;
    const auto count = [&](const Graph& graph) {
      WeightStore store(device, model->weights);
      const Program program = lower(std::make_shared<Graph>(graph));
      const gpu::Plan plan = gpu::make_plan(program, store, {bounds_of(graph, of)}, {});
      const int32_t last = of.to_first_router ? first_router(program) : static_cast<int32_t>(program.steps.size());
      return std::count_if(plan.nodes.begin(), plan.nodes.end(),
                           [&](const gpu::PlanNode& n) { return n.step <= last; });
    };
    const int64_t as_it_is = count(*model->forward), nodes = count(optimised_for(device, *model->forward));
    std::printf("%s: %lld nodes, optimised %lld, estimate %lld\n", of.preset, static_cast<long long>(as_it_is),
                static_cast<long long>(nodes), static_cast<long long>(of.estimate));
    QCOMPARE(nodes, of.nodes);
    QVERIFY(nodes < as_it_is && nodes <= kMostTimes * of.estimate);
  }
};

STORMCELL_TEST(PlanNodesTest)

}  // namespace stormcell::testing
#include "plan_nodes_test.moc"
