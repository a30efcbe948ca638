#include "core/experiment/measure_again.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>

#include "core/base/child_process.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/scratch_folder.h"
#include "core/experiment/measure_afresh.h"
#include "core/formats/file_text.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

constexpr double kOwnShare = 5.0 / 8;
constexpr int64_t kProcesses = 8;
constexpr const char* kStandardInput = "-";

/// The reason why nothing is measured again, however little time it would take; empty: there is none.
std::string why_not(const ExperimentState& state, double seconds) {
  if (seconds < kWorthRepeating) return fmt::format("measured for less than {:g} s", kWorthRepeating);
  if (state.options.data == kStandardInput)
    return "the data came from standard input, which another process cannot read again";
  return {};
}

/// The last line of its standard error that is not a warning, without the program's name.
std::string last_line(const std::string& errors) {
  constexpr std::string_view kProgram = "stormcell: ", kWarning = "stormcell: warning:";
  std::string found;
  for (size_t at = 0; at < errors.size();) {
    const size_t end = std::min(errors.find('\n', at), errors.size());
    const std::string line = errors.substr(at, end - at);
    if (line.starts_with(kProgram) && !line.starts_with(kWarning)) found = line.substr(kProgram.size());
    at = end + 1;
  }
  return found;
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) failed(path, "cannot be written");
}

FreshFigures in_a_process(const std::string& program, const FreshRequest& request, const Progress& progress) {
  const ScratchFolder folder;
  const std::string asked = folder.path() + "/request.json", answer = folder.path() + "/figures.json";
  write_text(asked, to_json(request));
  ChildOptions child;
  child.arguments = {"measure-again", asked, answer};
  child.silent = true, child.program = program, child.called_for = "measuring again";
  const ChildResult ended = run_child(child, progress.cancel);
  progress.cancel.check();
  if (ended.exit != 0) {
    const std::string said = last_line(ended.errors);
    failed("measuring again", said.empty() ? "the process ended with " + std::to_string(ended.exit) : said);
  }
  return parse_fresh_figures(read_file_text(answer, size_t{1} << 20), answer);
}

Latency together(const std::vector<Latency>& all) {
  if (all.size() < kLeastMeasurementRuns) return all.empty() ? Latency() : all.front();
  Latency l;
  std::vector<double> medians, p95s;
  std::vector<Measurement> means;
  l.min = all.front().min;
  for (const Latency& of : all) {
    medians.push_back(of.median), p95s.push_back(of.p95);
    means.push_back({of.mean, {of.mean, of.mean}});
    l.min = std::min(l.min, of.min), l.runs += of.runs;
  }
  l.median = median(medians), l.p95 = median(p95s);
  if (const std::optional<Pooled> p = pooled(means)) l.mean = p->value, l.mean_ci95 = p->ci95;
  return l;
}

}  // namespace

double own_seconds(const ExperimentState& state, double seconds) {
  return why_not(state, seconds).empty() ? kOwnShare * seconds : seconds;
}

std::vector<int64_t> even_sample(const std::vector<int64_t>& ordered, int64_t count, int64_t process) {
  const auto all = std::ssize(ordered);
  if (count >= all) return ordered;
  // multiples of it, less their whole part, are spread evenly however many there are
  constexpr double kGolden = 0.6180339887498949;
  const double distance = static_cast<double>(all) / count;
  const double first = distance * std::fmod(static_cast<double>(process) * kGolden, 1.0);
  std::vector<int64_t> sample;
  for (int64_t i = 0; i < count; ++i)
    sample.push_back(ordered[static_cast<size_t>(
        std::min(all - 1, static_cast<int64_t>(first + distance * static_cast<double>(i))))]);
  return sample;
}

void MeasurementRuns::ask(const ExperimentState& state, const MeasuringTime& time, FreshRequest request,
                          const Progress& progress) {
  why_once_ = why_not(state, time.seconds);
  if (!why_once_.empty()) return;
  request.seconds = (1 - kOwnShare) * time.seconds / kProcesses;
  const int64_t executions = kLeastFreshChains * (request.beside_baseline ? 4 : 2) + 2;
  const double execution = time.execution_ms * 1e-3;
  const double filling = state.store->budget() > 0 ? static_cast<double>(state.data->batch_count()) * execution : 0;
  const double each = state.open_seconds + state.store->load_seconds() + filling +
                      std::max(request.seconds, static_cast<double>(executions) * execution);
  const double most = std::min(std::max(kMostShare * time.seconds, time.took / 2), time.most_seconds);
  constexpr double kSpare = 1.5;  // opening may take longer the next time
  constexpr auto kLeastFresh = static_cast<int64_t>(kLeastMeasurementRuns) - 1;
  if (each * kLeastFresh > time.most_seconds) {
    why_once_ = fmt::format(
        "opening the model and measuring takes {:.1f} s each time, and the time limit has no room for it", each);
    return;
  }
  if (each * kLeastFresh > most) {
    why_once_ = fmt::format(
        "opening the model and measuring takes {:.1f} s each time; --measure-seconds {:.0f} has room for it", each,
        std::ceil(kLeastFresh / kMostShare * kSpare * each));
    return;
  }
  const auto fitting = static_cast<int64_t>(request.seconds / (execution * (request.beside_baseline ? 4 : 2)));
  const int64_t count = state.store->budget() > 0 ? std::ssize(time.batches) : std::max(kLeastFreshChains, fitting);
  in_processes_ = !time.program.empty();
  const double begin = seconds_now();
  try {
    for (int64_t process = 1; process <= kProcesses; ++process) {
      const double spent = seconds_now() - begin;
      if (process > kLeastFresh && spent + spent / static_cast<double>(process - 1) > most) break;
      progress.report("measuring again", process - 1, kProcesses);
      request.batches = even_sample(time.batches, count, process);
      if (time.between) time.between();
      const std::string where = "measuring again";
      list_.push_back(in_processes_ ? in_a_process(time.program, request, progress)
                                    : parse_fresh_figures(measure_afresh(to_json(request), {progress.cancel}), where));
    }
  } catch (const std::exception& e) {  // catches lack of memory, too: the run's own figures stay
    progress.cancel.check();
    why_once_ = e.what();
  }
  seconds_ = seconds_now() - begin;
  if (list_.size() >= kLeastMeasurementRuns) why_once_.clear();
}

std::optional<Pooled> MeasurementRuns::speedup() const {
  std::vector<Measurement> values;
  for (const FreshFigures& f : list_)
    if (f.speedup) values.push_back(*f.speedup);
  return pooled(values);
}

std::optional<Pooled> MeasurementRuns::spread() const {
  if (list_.empty() || list_.front().speedup) return speedup();
  std::vector<Measurement> means;
  for (const FreshFigures& f : list_) means.push_back({f.plan.mean, {f.plan.mean, f.plan.mean}});
  return pooled(means);
}

Latency MeasurementRuns::baseline_latency() const {
  std::vector<Latency> all;
  for (const FreshFigures& f : list_)
    if (f.baseline) all.push_back(*f.baseline);
  return together(all);
}

Latency MeasurementRuns::plan_latency() const {
  std::vector<Latency> all;
  for (const FreshFigures& f : list_) all.push_back(f.plan);
  return together(all);
}

void MeasurementRuns::write_to(RunSummaryFigures& figures) const {
  figures.measurements.clear();
  for (const FreshFigures& f : list_) {
    MeasurementFigures& m = figures.measurements.emplace_back();
    m.fresh_process = in_processes_ && figures.measurements.size() > 1;
    if (f.speedup) m.speedup = f.speedup->value, m.speedup_ci95 = f.speedup->ci95;
    if (f.baseline) m.baseline_ms = f.baseline->mean;
    m.plan_ms = f.plan.mean;
  }
  const std::optional<Pooled> p = spread();
  figures.between_spread = p ? std::optional(p->spread) : std::nullopt;
  figures.measured_again_seconds = list_.size() > 1 ? std::optional(seconds_) : std::nullopt;
  figures.measured_once = why_once_;
}

void widen_others(const Pooled& spread, RunSummaryFigures& figures) {
  const auto widen = [&](const std::optional<double>& value, std::optional<std::array<double, 2>>& ci95) {
    if (value && ci95) ci95 = widened({*value, *ci95}, spread);
  };
  for (PassReport& p : figures.passes) {
    if (p.left_out) continue;  // its reason quotes the gain for which it was left out
    widen(p.speedup_alone, p.speedup_alone_ci95);
    widen(p.speedup_own, p.speedup_own_ci95);
    widen(p.speedup_cumulative, p.speedup_cumulative_ci95);
  }
  widen(figures.routing_speedup, figures.routing_speedup_ci95);
  if (figures.exit_target) {
    widen(figures.exit_target->speedup, figures.exit_target->speedup_ci95);
    widen(figures.exit_target->speedup_over_model, figures.exit_target->speedup_over_model_ci95);
  }
}

}  // namespace stormcell
