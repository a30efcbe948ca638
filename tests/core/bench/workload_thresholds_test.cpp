// Thresholds of exits belong to a workload: all its graphs have them, of every size of picture, and no graph of another
// workload has.
#include "core/bench/workload.h"
#include "core/cpu/cpu_device.h"
#include "core/graph/roles.h"
#include "core/models/model.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Thresholds of the routers that have one, in the order of the graph.
RouterThresholds thresholds_in(const Graph& graph) {
  RouterThresholds found;
  for (const Node& node : graph.nodes)
    if (is_route(node) && node.attributes.has("threshold"))
      found.push_back({node.name, node.attributes.real("threshold")});
  return found;
}

/// A network with exits, open on black pictures of two sizes as an experiment opens it.
struct OpenedWithExits {
  Scratch scratch;
  ExperimentState state;
  OpenedWithExits() {
    write_picture(20, 20);
    write_picture(28, 24);
    ExperimentState& s = state;
    s.model = open_model(source_folder() + "/resources/demos/msdnet-digits");
    DataOptions options;
    options.inputs = s.model->inputs, options.batch = 1;
    s.data = Dataset::open(scratch.path("p"), nullptr, options);
    s.device = std::make_unique<cpu::CpuDevice>(1);
    s.picture = s.data->sizes().back().size;
    s.graph = s.model->forward_for(s.picture);
    s.dtype = s.model->dtype;
  }
  void write_picture(int32_t height, int32_t width) {
    const std::vector<float> black(static_cast<size_t>(height) * static_cast<size_t>(width));
    scratch.write("p/" + std::to_string(height) + ".npy",
                  npy_of("(" + std::to_string(height) + ", " + std::to_string(width) + ", 1)", "<f4", black));
  }
  PictureSize smaller() const { return state.data->sizes().front().size; }
};

/// Thresholds that the model does not have itself.
RouterThresholds other_thresholds(const Graph& graph) {
  RouterThresholds others = thresholds_in(graph);
  for (RouterThreshold& t : others) t.threshold = t.threshold == 0.25 ? 0.125 : 0.25;
  return others;
}

}  // namespace

class WorkloadThresholdsTest : public QObject {
  Q_OBJECT
 private slots:
  void all_graphs_of_the_workload_have_them() {
    OpenedWithExits opened;
    const RouterThresholds others = other_thresholds(*opened.state.graph);
    QCOMPARE(others.size(), size_t{2});
    ForwardPass work(opened.state, others);
    QVERIFY(work.thresholds() == others && thresholds_in(*work.graph()) == others);
    QVERIFY(opened.smaller() != opened.state.picture);
    for (const PictureSize size : {opened.state.picture, opened.smaller()}) {
      QVERIFY(thresholds_in(*work.graph_of_size()(size)) == others);
      QVERIFY(thresholds_in(*work.judged_graph(size)) == others);
      QVERIFY(thresholds_in(*work.stored_graph(size)) == others);
    }
  }

  void other_workloads_keep_the_model_s_own() {
    OpenedWithExits opened;
    ExperimentState& s = opened.state;
    const RouterThresholds own = thresholds_in(*s.graph);
    ForwardPass work(s, other_thresholds(*s.graph)), beside(s);
    for (const PictureSize size : {s.picture, opened.smaller()}) {
      work.judged_graph(size), work.graph_of_size()(size);
      QVERIFY(thresholds_in(*s.graph_for(size)) == own);
      QVERIFY(thresholds_in(*beside.graph_of_size()(size)) == own);
      QVERIFY(thresholds_in(*beside.judged_graph(size)) == own);
      QVERIFY(thresholds_in(*beside.stored_graph(size)) == own);
    }
  }

  /// The oracle asks for it with each batch.
  void the_judged_graph_of_a_size_is_made_once() {
    OpenedWithExits opened;
    ForwardPass work(opened.state, other_thresholds(*opened.state.graph));
    QVERIFY(work.judged_graph(opened.smaller()) == work.judged_graph(opened.smaller()));
  }
};

STORMCELL_TEST(WorkloadThresholdsTest)

}  // namespace stormcell::testing

#include "workload_thresholds_test.moc"
