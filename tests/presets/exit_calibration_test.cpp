// The presets of MSDNet send the stated portions of random pictures to their exits, within 5 points.
#include <array>
#include <cmath>

#include "core/cpu/cpu_device.h"
#include "core/data/dataset.h"
#include "core/graph/roles.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

constexpr size_t kExits = 4;
/// From Brainstorm's artifact.
constexpr std::array<std::array<double, kExits + 1>, 8> kPortions = {{{0, 0, 0, 0, 1},
                                                                      {0, 0, 0, 0.4, 0.6},
                                                                      {0, 0, 0.3, 0.3, 0.4},
                                                                      {0.1, 0.1, 0.2, 0.3, 0.3},
                                                                      {0.5, 0.2, 0.2, 0.1, 0},
                                                                      {0.5, 0.3, 0.2, 0, 0},
                                                                      {0.5, 0.5, 0, 0, 0},
                                                                      {1, 0, 0, 0, 0}}};

std::vector<double> thresholds_of(const Model& model) {
  std::vector<double> thresholds;
  model.forward->for_each_node([&](NodeId id, int) {
    if (const Node& n = model.forward->node(id); n.op->role == Role::route)
      thresholds.push_back(n.attributes.real("threshold"));
  });
  return thresholds;
}

/// The largest softmax of each picture at each exit, of a model whose exits nobody takes: margins are distances from
/// its thresholds.
std::array<std::vector<float>, kExits> confidences(const Model& model, const Dataset& data) {
  cpu::CpuDevice device(1);  // a second thread would spin beside other tests
  WeightStore store(device, model.weights);
  Executor executor(device, store, std::make_shared<Program>(lower(model.forward)),
                    Bindings(model.forward->symbols.size(), data.max_items()));
  const std::vector<double> thresholds = thresholds_of(model);
  std::array<std::vector<float>, kExits> seen;
  ExecuteOptions options;
  options.record = true;
  ExecutionResult result;
  for (int64_t b = 0; b < data.batch_count(); ++b) {
    const Batch batch = data.batch(b);
    InputValues values;
    values.reals["pixels"] = batch.find_input("pixels")->reals;
    executor.run(values, Bindings(model.forward->symbols.size(), batch.size()), options, result);
    for (const ExecutedDecision& d : result.decisions) {
      const auto exit = static_cast<size_t>(d.router);
      for (const float margin : d.margin) seen[exit].push_back(static_cast<float>(thresholds[exit]) - margin);
    }
  }
  return seen;
}

}  // namespace

class ExitCalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  void presets_send_the_stated_portions_to_their_exits() {
    const auto whole = open_model("preset:msdnet-e1");
    DataOptions options;
    options.inputs = whole->inputs;
    const auto data = Dataset::open("random:512", nullptr, options);
    const std::array<std::vector<float>, kExits> seen = confidences(*whole, *data);
    for (size_t e = 0; e < kPortions.size(); ++e) {
      const std::vector<double> thresholds = thresholds_of(*open_model("preset:msdnet-e" + std::to_string(e + 1)));
      std::array<double, kExits + 1> portions{};
      for (size_t picture = 0; picture < seen[0].size(); ++picture) {
        size_t exit = 0;
        while (exit < kExits && seen[exit][picture] < thresholds[exit]) ++exit;
        portions[exit] += 1 / static_cast<double>(seen[0].size());
      }
      for (size_t exit = 0; exit <= kExits; ++exit)
        QVERIFY2(std::fabs(portions[exit] - kPortions[e][exit]) < 0.05,
                 qPrintable(QString("e%1, exit %2: %3").arg(e + 1).arg(exit + 1).arg(portions[exit])));
    }
  }
};
STORMCELL_TEST(ExitCalibrationTest)
#include "exit_calibration_test.moc"
