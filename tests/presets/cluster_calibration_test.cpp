// The presets of LiveSR send the stated portions of random pictures' patches to their networks, within 5 points.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/cpu/cpu_device.h"
#include "core/data/dataset.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

/// Loads of Brainstorm's artifact.
const std::vector<std::vector<int>> kLoads = {
    {19, 25, 18, 36}, {9, 32, 18, 16, 18, 7}, {21, 8, 16, 11, 20, 8, 7, 15}, {6, 7, 12, 27, 8, 8, 8, 12, 12, 4}};

/// The graph up to the router's scores, which are its output.
Graph until_scores(const Graph& whole) {
  Graph graph = whole;
  std::vector<NodeId>& nodes = block_at(graph, {}).nodes;
  const auto route = std::find_if(nodes.begin(), nodes.end(), [&](NodeId id) { return is_route(graph.node(id)); });
  const ValueId scores = graph.node(*route).inputs[0];
  nodes.erase(route, nodes.end());
  graph.outputs = {{"scores", scores}};
  return compact(graph);
}

/// Patches that have their largest score with each network.
std::vector<int64_t> nearest(const Model& model, const Dataset& data, size_t networks) {
  const auto graph = std::make_shared<const Graph>(until_scores(*model.forward));
  cpu::CpuDevice device(1);  // a second thread would spin beside other tests
  WeightStore store(device, model.weights);
  Executor executor(device, store, std::make_shared<Program>(lower(graph)),
                    Bindings(graph->symbols.size(), data.max_items()));
  ExecuteOptions options;
  options.outputs = true;
  ExecutionResult result;
  std::vector<int64_t> loads(networks, 0);
  for (int64_t b = 0; b < data.batch_count(); ++b) {
    const Batch batch = data.batch(b);
    InputValues values;
    values.reals["pixels"] = batch.find_input("pixels")->reals;
    executor.run(values, Bindings(graph->symbols.size(), batch.size()), options, result);
    const std::vector<float>& scores = result.outputs.at(0).reals;
    for (size_t cell = 0; cell < scores.size(); cell += networks) {
      const auto first = scores.begin() + static_cast<std::ptrdiff_t>(cell);
      ++loads[static_cast<size_t>(std::max_element(first, first + static_cast<std::ptrdiff_t>(networks)) - first)];
    }
  }
  return loads;
}

}  // namespace

class ClusterCalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  void presets_send_the_stated_portions_to_their_networks() {
    for (const std::vector<int>& stated : kLoads) {
      const auto model = open_model("preset:livesr-k" + std::to_string(stated.size()) + "-f8");
      DataOptions options;
      options.inputs = model->inputs;
      const auto data = Dataset::open("random:12", nullptr, options);
      const std::vector<int64_t> loads = nearest(*model, *data, stated.size());
      QCOMPARE(std::accumulate(loads.begin(), loads.end(), int64_t{0}), int64_t{12 * 88});
      const int total = std::accumulate(stated.begin(), stated.end(), 0);
      for (size_t k = 0; k < stated.size(); ++k) {
        const double share = static_cast<double>(loads[k]) / (12 * 88), wanted = static_cast<double>(stated[k]) / total;
        QVERIFY2(std::fabs(share - wanted) < 0.05,
                 qPrintable(
                     QString("%1 networks, network %2: %3, not %4").arg(stated.size()).arg(k).arg(share).arg(wanted)));
      }
    }
  }

  /// The way of a patch is for the classifier and the centres to say, which presets of all widths share.
  void the_channels_of_the_networks_change_nothing_of_that() {
    const auto loads = [](const std::string& channels) {
      const auto model = open_model("preset:livesr-k10-f" + channels);
      DataOptions options;
      options.inputs = model->inputs;
      return nearest(*model, *Dataset::open("random:1", nullptr, options), 10);
    };
    const std::vector<int64_t> narrow = loads("8");
    for (const char* channels : {"12", "16", "20"}) QCOMPARE(loads(channels), narrow);
  }
};
STORMCELL_TEST(ClusterCalibrationTest)
#include "cluster_calibration_test.moc"
