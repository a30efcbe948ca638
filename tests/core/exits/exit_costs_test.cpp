// Whose operations exits are told by: each exit's are those of what feeds its test where the rest waits, the model's
// own order where nothing does, of pictures of every size.
#include "core/exits/exit_costs.h"

#include <array>
#include <cmath>
#include <set>

#include "core/cost/graph_cost.h"
#include "core/cpu/cpu_device.h"
#include "core/experiment/experiment.h"
#include "core/experiment/item_costs.h"
#include "core/models/model.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::exit_costs_test {
namespace {

constexpr int64_t kOfEach = 8;
constexpr std::array<PictureSize, 2> kSizes{PictureSize{20, 20}, {28, 24}};

std::string digits() { return source_folder() + "/resources/demos/msdnet-digits"; }

/// As many of each size, in two classes.
struct Pictures {
  Scratch scratch;
  Pictures() {
    Random random(5);
    for (int64_t i = 0; i < kOfEach; ++i)
      for (const PictureSize size : kSizes) {
        std::vector<float> pixels;
        for (int64_t p = 0; p < size.pixels(); ++p) pixels.push_back(static_cast<float>(random.uniform()));
        const std::string name = std::to_string(i % 2) + "/" + to_text(size) + "-" + std::to_string(i) + ".npy";
        scratch.write(
            "p/" + name,
            npy_of("(" + std::to_string(size.height) + ", " + std::to_string(size.width) + ", 1)", "<f4", pixels));
      }
  }
  std::string folder() const { return scratch.path("p"); }
};

ExperimentOptions options_for(const Pictures& pictures) {
  ExperimentOptions options;
  options.model = digits(), options.data = pictures.folder();
  options.batch = 2, options.threads = 2;
  options.probe_seconds = 0, options.verify_seconds = 0;
  return options;
}

/// An open state as Experiment::open() makes it, without what measures the machine.
void open_state(ExperimentState& s, const Pictures& pictures) {
  s.options = options_for(pictures);
  s.model = open_model(s.options.model);
  DataOptions options;
  options.inputs = s.model->inputs, options.batch = s.options.batch;
  s.data = Dataset::open(s.options.data, nullptr, options);
  s.device = std::make_unique<cpu::CpuDevice>(2);
  s.picture = s.data->sizes().back().size;
  s.graph = s.model->forward_for(s.picture);
  s.dtype = s.model->dtype;
  s.store = std::make_unique<WeightStore>(*s.device, s.model->weights);
  s.memory = std::make_shared<SharedMemory>(*s.device);
}

/// By exit, of one item: everything that the exit's test is made of, walked back through the graph; at the end
/// everything there is.
std::vector<double> operations_that_feed(const Graph& graph) {
  CostCase through_all;
  through_all.bindings = Bindings(graph.symbols.size(), 1);
  for (const ValueId test : routed_values(graph)) through_all.shares.set(test, {1.0, 1.0});
  const GraphCost cost = cost_of(graph, through_all);
  std::vector<double> by_exit;
  for (const ValueId test : routed_values(graph)) {
    std::set<NodeId> needed;
    std::vector<ValueId> open{test};
    while (!open.empty()) {
      const NodeId maker = graph.value(open.back()).producer;
      open.pop_back();
      if (maker == kNone || !needed.insert(maker).second) continue;
      open.insert(open.end(), graph.node(maker).inputs.begin(), graph.node(maker).inputs.end());
    }
    double& sum = by_exit.emplace_back(0);
    for (const NodeCost& node : cost.nodes)
      if (needed.contains(node.node)) sum += node.cost.flops;
  }
  by_exit.push_back(cost.total.flops);
  return by_exit;
}

/// The cost of the pictures of both sizes where all answer at the first exit, as a share of the whole network.
template <class ByExit>
double first_of_all(const Model& model, const ByExit& by_exit) {
  double first = 0, whole = 0;
  for (const PictureSize size : kSizes) {
    const std::vector<double> operations = by_exit(*model.forward_for(size));
    first += operations.front(), whole += operations.back();
  }
  return first / whole;
}

bool is_near(double a, double b, double by) { return std::fabs(a - b) < by; }

}  // namespace

class ExitCostsTest : public QObject {
  Q_OBJECT
 private slots:
  void where_work_waits_an_exit_takes_what_feeds_its_test() {
    const Pictures pictures;
    ExperimentState s;
    open_state(s, pictures);
    ForwardPass work(s);
    PassSelection waiting;
    waiting.only = {"reorder"};
    const auto graphs =
        expected_graphs(work, select_passes(waiting), exit_chain(*work.graph(), s.model->answer).value());
    QVERIFY(graphs.has_value());
    for (const PictureSize size : kSizes) {
      const std::vector<double> feeds = operations_that_feed(*s.model->forward_for(size));
      const ExitChain own = exit_chain(*s.model->forward_for(size), s.model->answer).value(),
                      chain = exit_chain(*(*graphs)(size), s.model->answer).value();
      QVERIFY(feeds.size() == 3 && own.costs[0] > feeds[0] / feeds[2] + 0.08);
      for (size_t e = 0; e < feeds.size(); ++e)
        QVERIFY2(is_near(chain.costs[e] * chain.whole / feeds[e], 1, 0.01),
                 qPrintable(QString("exit %1 of %2: %3, not %4")
                                .arg(e)
                                .arg(size.width)
                                .arg(chain.costs[e] * chain.whole)
                                .arg(feeds[e])));
    }
  }

  /// Left out by the option, or because it lost.
  void without_reorder_exits_cost_what_the_model_s_own_order_takes() {
    const Pictures pictures;
    ExperimentState s;
    open_state(s, pictures);
    ForwardPass work(s);
    PassSelection others;
    others.disable = {"reorder"};
    const auto graphs =
        expected_graphs(work, select_passes(others), exit_chain(*work.graph(), s.model->answer).value());
    QVERIFY(graphs.has_value());
    for (const PictureSize size : kSizes) {
      const ExitChain own = exit_chain(*s.model->forward_for(size), s.model->answer).value(),
                      chain = exit_chain(*(*graphs)(size), s.model->answer).value();
      for (size_t e = 0; e < own.costs.size(); ++e) QVERIFY(is_near(chain.costs[e], own.costs[e], 0.01));
    }
  }

  void pictures_of_several_sizes_are_told_searched_and_replayed() {
    const Pictures pictures;
    const auto model = open_model(digits());
    const auto in_own_order = [&](const Graph& graph) {
      const ExitChain chain = exit_chain(graph, model->answer).value();
      return std::vector<double>{chain.costs[0] * chain.whole, chain.whole};
    };
    const double own_first = first_of_all(*model, in_own_order), fed_first = first_of_all(*model, operations_that_feed);
    ExperimentOptions options = options_for(pictures);
    options.keep_all = true;
    RunOptions run;
    run.measure_seconds = 0;
    const auto own = Experiment::open(options)->run(run);
    QVERIFY(own->exits && own->exits->items == 2 * kOfEach && own->exits->judged == 2 * kOfEach);
    QVERIFY(own->exits->plan == CurvePlan::baseline && is_near(own->exits->exits[0].cost, own_first, 1e-9));

    options.target_latency = "60%";
    OptimizeOptions optimize;
    optimize.measure_seconds = 0.01;
    const auto found = Experiment::open(options)->optimize(optimize);
    QVERIFY2(found->verified->passed, found->verified->text.c_str());
    QVERIFY(found->exits && found->exit_target && found->exit_target->fitted.mean_cost <= 0.6);
    QVERIFY(found->exit_target->left_elsewhere == 0 &&
            found->exit_target->held_out.items == found->exit_target->predicted.items);
    const double first = found->exits->exits[0].cost;
    QVERIFY2(first > fed_first - 0.01 && first < own_first + 0.01,
             qPrintable(QString("%1 %2 %3").arg(fed_first).arg(first).arg(own_first)));
    options.target_latency.clear();
    run.config = found->config;
    const auto replayed = Experiment::open(options)->run(run);
    QVERIFY(replayed->exits && replayed->exits->plan == found->exits->plan &&
            replayed->exits->chosen.items == found->exits->chosen.items);
    QCOMPARE(replayed->exits->chosen.mean_cost, found->exits->chosen.mean_cost);
  }
};

STORMCELL_TEST(ExitCostsTest)

}  // namespace stormcell::testing::exit_costs_test

#include "exit_costs_test.moc"
