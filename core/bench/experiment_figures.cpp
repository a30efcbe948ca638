#include "core/bench/experiment_figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/base/number_format.h"
#include "core/base/thread_team.h"
#include "core/graph/roles.h"
#include "core/machine/memory.h"

namespace stormcell {

ModelFigures model_figures(const ExperimentState& s) {
  ModelFigures m;
  m.name = s.model->name;
  m.family = s.model->family;
  m.weights = std::string(to_text(s.model->origin));
  m.parameters = s.model->parameters;
  m.weight_bytes = s.model->weight_bytes;
  m.fingerprint = s.model->fingerprint;
  m.weights_stated = s.model->origin_stated;
  m.unread_tensors = s.model->unread_tensors;
  s.model->forward->for_each_node([&](NodeId id, int) {
    const Node& n = s.model->forward->node(id);
    if (!is_route(n)) return;
    ++m.routers;
    m.branches += s.model->forward->value(n.outputs[0]).branches;
  });
  return m;
}

DatasetFigures dataset_figures(const ExperimentState& s) {
  DatasetFigures d;
  d.name = s.data->name();
  d.batches = s.data->batch_count();
  d.sequences = s.data->items();
  d.truncated = s.data->truncated();
  d.cells = s.data->cells().cells;
  d.cells_without_padding = s.data->cells().real;
  d.by_length = s.options.bucket_by_length;
  d.cells_as_given = s.data->cells().as_given;
  d.cells_by_length = s.data->cells().by_length;
  for (const SizeCount& size : s.data->sizes())
    d.sizes.push_back({size.size.height, size.size.width, size.items, size.batches});
  constexpr size_t kMostListed = 1000;
  for (const SkippedItem& item : s.data->skipped())
    if (++d.skipped; d.skipped_items.size() < kMostListed) d.skipped_items.push_back({item.name, item.reason});
  d.masked = s.data->masked();
  // For sequences the tokens are counted.
  d.unit = s.data->item_noun() == "sequence" ? "token" : std::string(s.data->item_noun());
  d.note = s.data->note();
  return d;
}

DeviceFigures device_figures(const ExperimentState& s) {
  DeviceFigures d;
  const DeviceInfo info = s.device->info();
  d.name = info.name;
  d.backend = info.backend;
  d.threads = info.threads;
  d.core_placements = s.ceilings.readings().placements();
  if (!d.core_placements.empty()) d.core_placement = d.core_placements.front();
  const DeviceProbe& most = s.ceilings.largest();
  d.isa = most.kernels;
  d.peak_gflops = most.peak_gflops(s.dtype);
  d.peak_bf16_gflops = most.bf16_gflops;
  d.read_gbps = most.read_gbs;
  const std::array<DeviceProbe, 2> halves = s.ceilings.readings().halves();
  for (size_t i = 0; i < halves.size(); ++i) {
    d.peak_readings[i] = halves[i].peak_gflops(s.dtype);
    d.read_readings[i] = halves[i].read_gbs;
  }
  return d;
}

std::vector<std::string> warnings_of(const ExperimentState& s) {
  std::vector<std::string> list = s.model->warnings;
  for (std::string& warning : s.data->warnings()) list.push_back(std::move(warning));
  list.insert(list.end(), s.idle_annotations.begin(), s.idle_annotations.end());
  if (const int threads = s.device->info().host_threads, cores = available_cores(); threads > cores)
    list.push_back("--threads " + std::to_string(threads) + " is more than the " + std::to_string(cores) +
                   " cores this process may use: they take turns, and every step waits for the last");
  if (s.options.tolerance && s.dtype == s.model->dtype)
    list.emplace_back(
        "--tolerance has no effect: it limits what a conversion by --dtype may change, and the weights run as they are "
        "stored");
  return list;
}

void warn_of_noise(const ExperimentState& s, double spread, const OtherLoad& others,
                   std::vector<std::string>& warnings) {
  constexpr double kChanged = 1.15, kSpread = 2;
  const DeviceFigures d = device_figures(s);
  const auto compare = [&](const std::array<double, 2>& r, const char* unit) {
    if (r[0] <= 0 || r[1] <= 0 || std::max(r[0], r[1]) <= kChanged * std::min(r[0], r[1])) return;
    warnings.push_back(fmt::format(
        "the machine was busy: the ceilings changed from {:.3g} to {:.3g} {} while measuring", r[0], r[1], unit));
  };
  compare(d.peak_readings, "GFLOP/s");
  compare(d.read_readings, "GB/s");
  if (spread > kSpread)
    warnings.push_back(fmt::format(
        "the machine was busy: one of 20 executions of the same batch took {:.1f} times the median or more", spread));
  if (std::string busy = others.warning(s.device->info().host_threads); !busy.empty())
    warnings.push_back(std::move(busy));
}

void tell_of_budget(const ExperimentState& s, std::optional<BudgetFigures>& figures,
                    std::vector<std::string>& warnings) {
  figures = s.budget.figures(s.memory->bytes() + s.states->bytes());
  for (std::string& warning : s.budget.warnings()) warnings.push_back(std::move(warning));
}

std::string settings_json(const ExperimentState& s, WorkPhase phase) {
  // The settings as they ran, so that the run can be repeated: the threads there were, and the format if it can be
  // asked for.
  ExperimentOptions ran = s.options;
  ran.threads = s.device->info().host_threads;
  ran.phase = to_text(phase);
  if (format_of(s.dtype).offered) ran.dtype = std::string(to_text(s.dtype));
  return settings_json(ran);
}

}  // namespace stormcell
