// The paths that pictures take through a preset of DynamicRouting, one picture at a time, and what they spend there.
#pragma once
#include <cmath>
#include <map>

#include "core/cpu/cpu_device.h"
#include "core/data/dataset.h"
#include "core/graph/roles.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"

namespace stormcell::testing {

/// A network of Brainstorm (OSDI'23) and what is stated of it, in G multiplications, and what
/// tests/reference/fit_dynamic_routing.py tells of it.
struct CalibratedPaths {
  const char* arch;
  double stated;
  double of_picture;  ///< number 1 of random:12
};
inline constexpr CalibratedPaths kCalibratedPaths[] = {
    {"a", 52.5, 47.518}, {"b", 58.9, 55.554}, {"c", 59.8, 60.659}, {"raw", 114.9, 115.761}};
inline constexpr int64_t kFittedPictures = 12;  ///< of random:12

/// Pictures at one router: how many came, and how many went each way.
struct RouterLoads {
  std::string router;
  ValueId decision = kNone;
  int64_t came = 0;
  std::vector<double> branches;
};

class PathTaker {
 public:
  explicit PathTaker(const char* arch)
      : model_(open_model(std::string("preset:dynamic-routing-") + arch)),
        data_(Dataset::open("random:" + std::to_string(kFittedPictures), nullptr, of_one(*model_))),
        store_(device_, model_->weights),
        program_(std::make_shared<Program>(lower(model_->forward))),
        one_(model_->forward->symbols.size(), 1),
        executor_(device_, store_, program_, one_) {}

  /// Every router's loads by picture `index` of the fit.
  std::vector<RouterLoads> take(int64_t index) {
    InputValues values;
    values.reals["pixels"] = data_->batch(index).find_input("pixels")->reals;
    ExecuteOptions options;
    options.record = true;
    ExecutionResult result;
    executor_.run(values, one_, options, result);
    std::vector<RouterLoads> loads;
    for (const ExecutedDecision& d : result.decisions) {
      const ProgramRouter& router = program_->routers[d.router];
      loads.push_back({router.name, program_->graph->node(router.node).outputs[0], d.shape.cells,
                       std::vector<double>(static_cast<size_t>(d.shape.branches), 0)});
      for (const int32_t choice : d.choice)
        if (is_kept(choice)) ++loads.back().branches[static_cast<size_t>(choice)];
    }
    return loads;
  }

  /// G multiplications of convolutions and products, of a picture with these loads.
  double spent(const std::vector<RouterLoads>& loads) const {
    std::map<ValueId, const RouterLoads*> by_decision;
    for (const RouterLoads& of : loads) by_decision[of.decision] = &of;
    const Graph& graph = *model_->forward;
    const auto rows = [&](SpaceId s) {
      const CellSpace& space = graph.space(s);
      return space.kind == SpaceKind::routed
                 ? by_decision.at(space.decision)->branches[static_cast<size_t>(space.branch)]
                 : 1.0;
    };
    const CostContext context{graph, rows, one_};
    double flops = 0;
    for (const Node& n : graph.nodes)
      if (n.op->name == "conv2d" || n.op->name == "linear") flops += n.op->cost(context, n).flops;
    return flops / 2e9;
  }

 private:
  static DataOptions of_one(const Model& model) {
    DataOptions options;
    options.inputs = model.inputs;
    options.batch = 1;
    return options;
  }

  std::shared_ptr<const Model> model_;
  std::shared_ptr<const Dataset> data_;
  cpu::CpuDevice device_{1};  // a second thread would spin beside other tests
  WeightStore store_;
  std::shared_ptr<const Program> program_;
  Bindings one_;
  Executor executor_;
};

}  // namespace stormcell::testing
