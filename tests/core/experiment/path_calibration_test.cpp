// The presets of DynamicRouting spend what their gates were fitted to spend. A picture takes a thread seconds, so that one of the twelve
// that the fit saw is run; of each of these the fit says what it spends.
#include <cmath>
#include <map>

#include "core/cpu/cpu_device.h"
#include "core/data/dataset.h"
#include "core/graph/roles.h"
#include "core/models/dynamic_routing_gates.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

/// What tests/reference/fit_dynamic_routing.py tells of a row of brainstorm.md 4.5, in G multiplications.
struct Row {
  const char* arch;
  double stated, mean;
  double of_picture;  ///< number 1 of random:12
};
constexpr Row kRows[] = {
    {"a", 52.5, 52.48, 62.427}, {"b", 58.9, 58.89, 67.395}, {"c", 59.8, 59.76, 64.025}, {"raw", 114.9, 112.45, 116.03}};

/// Cells that come to each branch of each decision.
using Loads = std::map<ValueId, std::vector<double>>;

Loads loads_of(const Program& program, const std::vector<ExecutedDecision>& decisions) {
  Loads loads;
  for (const ExecutedDecision& d : decisions) {
    const ValueId decision = program.graph->node(program.routers[d.router].node).outputs[0];
    std::vector<double>& branches = loads[decision];
    branches.assign(static_cast<size_t>(d.shape.branches), 0);
    for (const int32_t choice : d.choice)
      if (choice >= 0) ++branches[static_cast<size_t>(choice)];
  }
  return loads;
}

/// Of convolutions and products, of one picture.
double multiplications(const Graph& graph, const Loads& loads) {
  const auto rows = [&](SpaceId s) {
    const CellSpace& space = graph.space(s);
    return space.kind == SpaceKind::routed ? loads.at(space.decision)[static_cast<size_t>(space.branch)] : 1.0;
  };
  const CostContext context{graph, rows, Bindings(graph.symbols.size(), 1)};
  double flops = 0;
  for (const Node& n : graph.nodes)
    if (n.op->name == "conv2d" || n.op->name == "linear") flops += n.op->cost(context, n).flops;
  return flops / 2;
}

}  // namespace

class PathCalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  void presets_were_fitted_within_five_percent() {
    for (const Row& row : kRows) QVERIFY2(std::fabs(row.mean / row.stated - 1) < 0.05, row.arch);
    for (const auto arch : {dynamic_routing::Arch::a, dynamic_routing::Arch::b, dynamic_routing::Arch::c, dynamic_routing::Arch::raw})
      QCOMPARE(fitted_gates(arch).size(), size_t{149});
  }

  void a_picture_spends_what_it_spent_in_the_fit_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(kRows); ++i) QTest::newRow(kRows[i].arch) << static_cast<int>(i);
  }
  void a_picture_spends_what_it_spent_in_the_fit() {
    QFETCH(int, index);
    const Row& row = kRows[index];
    const auto model = open_model(std::string("preset:dynamic-routing-") + row.arch);
    DataOptions data_options;
    data_options.inputs = model->inputs;
    data_options.batch = 1;
    const Batch batch = Dataset::open("random:2", nullptr, data_options)->batch(1);
    cpu::CpuDevice device(1);  // a second thread would spin beside other tests
    WeightStore store(device, model->weights);
    const auto program = std::make_shared<Program>(lower(model->forward));
    const Bindings one(model->forward->symbols.size(), 1);
    Executor executor(device, store, program, one);
    InputValues values;
    values.reals["pixels"] = batch.find_input("pixels")->reals;
    ExecuteOptions options;
    options.record = true;
    ExecutionResult result;
    executor.run(values, one, options, result);
    const double spent = multiplications(*model->forward, loads_of(*program, result.decisions)) / 1e9;
    // A gate that rounding decides would move the picture by some nodes.
    QVERIFY2(std::fabs(spent / row.of_picture - 1) < 0.05,
             qPrintable(QString("%1: %2, not %3").arg(row.arch).arg(spent).arg(row.of_picture)));
  }
};
STORMCELL_TEST(PathCalibrationTest)
#include "path_calibration_test.moc"
