#include "simulator/run_simulation.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "core/base/quantile.h"
#include "simulator/network/network.h"

namespace stormcell {
namespace {

constexpr double kTenth = 0.1;

/// Sums over all steps, by layer and GPU.
class StepSums {
 public:
  /// `rest_s`: seconds added to the phases of each step.
  StepSums(const CostModel& model, std::vector<Variation> variations, const Placement& placement, double rest_s)
      : model_(model),
        rest_s_(rest_s),
        variations_(std::move(variations)),
        alone_(without_uplinks(model)),
        varied_s_(variations_.size()),
        layers_(placement.layers.size()),
        shares_(layers_.size(), std::vector<LayerCost>(placement.ranks)),
        mean_compute_s_(layers_.size()),
        compute_s_(static_cast<size_t>(placement.ranks)),
        work_(compute_s_.size()),
        combined_(compute_s_.size()) {}

  /// A step's micro-batches: costs_[variation][micro-batch][layer], the first of the model itself.
  void begin_step(size_t micro_batches) {
    costs_.assign(variations_.size() + 1,
                  std::vector<std::vector<LayerCost>>(micro_batches, std::vector<LayerCost>(layers_.size())));
  }
  void add_layer(size_t micro_batch, size_t layer, const LayerWork& work, const LayerCost& cost) {
    const std::span<const RankWork> ranks = work.ranks;
    costs_[0][micro_batch][layer] = cost;
    for (size_t v = 0; v < variations_.size(); ++v) costs_[v + 1][micro_batch][layer] = work.cost(variations_[v].model);
    layers_[layer] += cost;
    slowest_s_ += cost.compute_s;
    for (size_t r = 0; r < ranks.size(); ++r) {
      const double own = compute_s(ranks[r], model_);
      shares_[layer][r] += cost_of_layer(ranks.subspan(r, 1), work.combined.subspan(r, 1), alone_);
      compute_s_[r] += own, mean_compute_s_[layer] += own / static_cast<double>(ranks.size());
      add(ranks[r], work_[r]), add(work.combined[r], combined_[r]);
    }
  }
  void end_step() {
    seconds_.push_back(scheduled_s(costs_[0]) + rest_s_);
    for (size_t v = 0; v < variations_.size(); ++v) varied_s_[v] += scheduled_s(costs_[v + 1]) + rest_s_;
  }

  void tell_times(SimulateFigures& f) const {
    const double all = std::accumulate(seconds_.begin(), seconds_.end(), 0.), steps = count();
    f.mean_ms = 1e3 * all / steps;
    f.p50_ms = 1e3 * quantile(seconds_, 0.5), f.p95_ms = 1e3 * quantile(seconds_, 0.95);
    for (size_t l = 0; l < layers_.size(); ++l) {
      SimulatedLayer& layer = f.layers[l];
      layer.dispatch_ms = 1e3 * layers_[l].dispatch_s / steps, layer.compute_ms = 1e3 * layers_[l].compute_s / steps;
      layer.combine_ms = 1e3 * layers_[l].combine_s / steps;
      for (const LayerCost& share : shares_[l])
        layer.gpus.push_back(
            {1e3 * share.dispatch_s / steps, 1e3 * share.compute_s / steps, 1e3 * share.combine_s / steps});
      layer.imbalance = imbalance_of(layers_[l].compute_s, mean_compute_s_[l]);
    }
    for (size_t v = 0; v < variations_.size(); ++v)
      f.sensitivity.push_back({variations_[v].figure, all > 0 ? (varied_s_[v] / all - 1) / kTenth : 0});
    if (rest_s_ > 0) f.sensitivity.push_back({"stated rest", rest_s_ * steps / all});
  }

  void tell_gpus(const Placement& placement, SimulateFigures& f) const {
    const double steps = count();
    const double weights = static_cast<double>(placement.slots_of_rank()) * layers_.size() * model_.branch_bytes;
    const int32_t gpus_per_node = f.ranks / f.nodes;
    for (int32_t r = 0; r < f.ranks; ++r) {
      const size_t at = r;
      SimulatedGpu gpu;
      gpu.node = r / gpus_per_node, gpu.compute_ms = 1e3 * compute_s_[at] / steps, gpu.weight_bytes = weights;
      gpu.waiting_share = slowest_s_ > 0 ? 1 - compute_s_[at] / slowest_s_ : 0;
      const auto out = [&](const RankWork& w) { return w.fabric_out + w.network_out; };
      const auto in = [&](const RankWork& w) { return w.fabric_in + w.network_in; };
      gpu.sent_bytes = bytes_of(out(work_[at]), in(combined_[at])),
      gpu.received_bytes = bytes_of(in(work_[at]), out(combined_[at]));
      f.gpus.push_back(gpu);
      f.wire_bytes += bytes_of(out(work_[at]), out(combined_[at]));
    }
  }

  void tell_links(SimulateFigures& f) const {
    const int32_t each = f.ranks / f.nodes;
    std::vector<RankWork> of_node(f.nodes), back_of_node(of_node);
    for (size_t r = 0; r < work_.size(); ++r) {
      const std::string gpu = "GPU " + std::to_string(r);
      if (model_.rank_cost) {
        tell_port(gpu, work_[r], combined_[r], f);
      } else {
        tell_link(gpu, LinkPort::fabric, work_[r], combined_[r], &RankWork::fabric_out, &RankWork::fabric_in,
                  model_.fabric_bytes_per_s, f);
        tell_link(gpu, LinkPort::network, work_[r], combined_[r], &RankWork::network_out, &RankWork::network_in,
                  model_.network_bytes_per_s, f);
      }
      add(work_[r], of_node[r / each]), add(combined_[r], back_of_node[r / each]);
    }
    for (size_t n = 0; n < of_node.size(); ++n)
      tell_link("node " + std::to_string(n), LinkPort::uplink, of_node[n], back_of_node[n], &RankWork::network_out,
                &RankWork::network_in, model_.uplink_bytes_per_s, f);
  }

 private:
  /// Bytes of a step for these rows of the dispatch, and these of the dispatch on whose ways back the combine goes.
  double bytes_of(double dispatched, double combined) const {
    return (dispatched * model_.dispatch_row_bytes + combined * model_.combine_row_bytes) / count();
  }
  /// Adds a port with costs between ranks: the time of its messages, one after the other.
  void tell_port(const std::string& gpu, const RankWork& w, const RankWork& back, SimulateFigures& f) const {
    const double out = w.fabric_out + w.network_out, in = w.fabric_in + w.network_in;
    const double back_out = back.fabric_out + back.network_out, back_in = back.fabric_in + back.network_in;
    if (std::max({out, in, back_out, back_in}) <= 0) return;
    for (const bool sends : {true, false}) {
      const double bytes = sends ? bytes_of(out, back_in) : bytes_of(in, back_out);
      const double seconds = model_.rank_cost_factor * (sends ? bytes_of(w.dispatch_out, back.combine_out)
                                                              : bytes_of(w.dispatch_in, back.combine_in));
      f.links.push_back(
          {Link{gpu, LinkPort::only, sends}.name(), bytes, f.mean_ms > 0 ? 1e3 * seconds / f.mean_ms : 0});
    }
  }
  static CostModel without_uplinks(CostModel model) {
    model.uplink_bytes_per_s = 0;
    return model;
  }
  double count() const { return static_cast<double>(seconds_.size()); }
  static void add(const RankWork& w, RankWork& sum) {
    sum.fabric_out += w.fabric_out, sum.fabric_in += w.fabric_in;
    sum.network_out += w.network_out, sum.network_in += w.network_in;
    sum.dispatch_out += w.dispatch_out, sum.dispatch_in += w.dispatch_in;
    sum.combine_out += w.combine_out, sum.combine_in += w.combine_in;
  }
  void tell_link(const std::string& owner, LinkPort port, const RankWork& w, const RankWork& back,
                 double RankWork::*out, double RankWork::*in, double rate, SimulateFigures& f) const {
    if (rate <= 0 || std::max({w.*out, w.*in, back.*out, back.*in}) <= 0) return;
    for (const bool sends : {true, false}) {
      const double bytes = sends ? bytes_of(w.*out, back.*in) : bytes_of(w.*in, back.*out);
      f.links.push_back({Link{owner, port, sends}.name(), bytes, f.mean_ms > 0 ? 1e3 * bytes / rate / f.mean_ms : 0});
    }
  }

  const CostModel& model_;
  const double rest_s_;
  const std::vector<Variation> variations_;
  const CostModel alone_;  // of a GPU by itself
  std::vector<std::vector<std::vector<LayerCost>>> costs_;
  std::vector<double> seconds_;   // [steps]
  std::vector<double> varied_s_;  // [variations]
  std::vector<LayerCost> layers_;
  std::vector<std::vector<LayerCost>> shares_;  // [layers][ranks]
  std::vector<double> mean_compute_s_;          // [layers]
  std::vector<double> compute_s_;               // [ranks]
  std::vector<RankWork> work_, combined_;       // [ranks] as in LayerWork
  double slowest_s_ = 0;
};

}  // namespace

double scheduled_s(const std::vector<std::vector<LayerCost>>& micro_batches) {
  std::vector<double> ready(micro_batches.size());  // when each may go on
  double links_free = 0, gpus_free = 0;
  const auto queue = [&ready](size_t m, double& free, double seconds) {
    ready[m] = free = std::max(free, ready[m]) + seconds;
  };
  const size_t layers = micro_batches[0].size();
  for (size_t l = 0; l <= layers; ++l)
    for (size_t m = 0; m < micro_batches.size(); ++m) {
      if (l > 0) queue(m, links_free, micro_batches[m][l - 1].combine_s);
      if (l == layers) continue;
      queue(m, links_free, micro_batches[m][l].dispatch_s);
      queue(m, gpus_free, micro_batches[m][l].compute_s);
    }
  return *std::max_element(ready.begin(), ready.end());
}

std::vector<Variation> variations_of(const CostModel& model) {
  struct Figure {
    const char* name;
    double CostModel::*value;
  };
  constexpr std::array kFigures = {Figure{"memory bandwidth", &CostModel::memory_bytes_per_s},
                                   Figure{"operations a second", &CostModel::flops_per_s},
                                   Figure{"fabric bandwidth", &CostModel::fabric_bytes_per_s},
                                   Figure{"network bandwidth", &CostModel::network_bytes_per_s},
                                   Figure{"uplink bandwidth", &CostModel::uplink_bytes_per_s},
                                   Figure{"start of products", &CostModel::product_t0_s},
                                   Figure{"bytes of an expert", &CostModel::branch_bytes},
                                   Figure{"operations of a row", &CostModel::flops_per_row}};
  // Rates of data sheets that give the experts' time if it was not measured.
  constexpr std::array kOfRates = {&CostModel::memory_bytes_per_s, &CostModel::flops_per_s, &CostModel::branch_bytes,
                                   &CostModel::flops_per_row};
  std::vector<Variation> out;
  for (const Figure& figure : kFigures) {
    if (model.*figure.value <= 0) continue;
    if (model.rank_cost &&
        (figure.value == &CostModel::fabric_bytes_per_s || figure.value == &CostModel::network_bytes_per_s))
      continue;
    if (model.expert_curve && std::find(kOfRates.begin(), kOfRates.end(), figure.value) != kOfRates.end()) continue;
    out.push_back({figure.name, model});
    out.back().model.*figure.value *= 1 + kTenth;
  }
  if (model.expert_curve) {
    out.push_back({"time of an expert", model});
    out.back().model.expert_factor *= 1 + kTenth;
  }
  if (model.rank_cost) {
    out.push_back({"costs between ranks", model});
    out.back().model.rank_cost_factor *= 1 + kTenth;
  }
  if (model.dispatch.t0_s + model.combine.t0_s > 0) {
    out.push_back({"start of calls", model});
    CostModel& later = out.back().model;
    for (double* start : {&later.dispatch.t0_s, &later.combine.t0_s}) *start *= 1 + kTenth;
  }
  out.push_back({"bytes of a row", model});
  out.back().model.dispatch_row_bytes *= 1 + kTenth, out.back().model.combine_row_bytes *= 1 + kTenth;
  return out;
}

void simulate_steps(const StepObjective& objective, const Placement& placement, const Progress& progress,
                    SimulateFigures& f) {
  const CostModel& model = objective.model();
  const double rest_s = f.rest_ms.value_or(0) / 1e3;
  StepSums sums(model, variations_of(model), placement, rest_s);
  StepWork work = objective.work_of(placement);
  const size_t micro_batches = f.overlap == Overlap::two_batch ? 2 : 1;
  f.steps = objective.count(DataPart::fitted);
  double delivered_rows = 0, returned_rows = 0, serial_s = 0;
  for (int64_t s = 0; s < f.steps; ++s) {
    progress.report("simulating steps", s, f.steps);
    sums.begin_step(micro_batches);
    for (size_t m = 0; m < micro_batches; ++m) {
      const auto add = [&](size_t layer, const LayerWork& done, const LayerCost& cost) {
        sums.add_layer(m, layer, done, cost);
      };
      const StepCost part =
          objective.cost_of_step(work, DataPart::fitted, static_cast<size_t>(s), {m, micro_batches}, add);
      delivered_rows += part.delivered_rows, returned_rows += part.returned_rows;
      if (micro_batches == 1) serial_s += part.seconds();
    }
    if (micro_batches > 1) serial_s += objective.cost_of_step(work, DataPart::fitted, static_cast<size_t>(s)).seconds();
    sums.end_step();
  }
  const double steps = f.steps;
  f.serial_ms = 1e3 * (serial_s / steps + rest_s);
  f.remote_bytes = (delivered_rows * model.dispatch_row_bytes + returned_rows * model.combine_row_bytes) / steps;
  sums.tell_times(f);
  sums.tell_gpus(placement, f);
  sums.tell_links(f);
  f.tokens_per_step = objective.mean_tokens();
}

}  // namespace stormcell
