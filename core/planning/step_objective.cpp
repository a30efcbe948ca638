#include "core/planning/step_objective.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

constexpr size_t kMostSteps = 1000;        // evenly chosen where there are more
constexpr int64_t kDrawnTokens = 1 << 17;  // of all drawn steps together
constexpr int64_t kFewestDrawn = 4, kMostDrawn = 64;
constexpr double kRowBits = 16;

Backend backend_of(const StepOptions& options, Backend usual) {
  if (options.backend.empty()) return usual;
  const auto backend = find_backend(options.backend);
  if (!backend) bad_input("--backend", in_quotes(options.backend) + " is none", "one of " + joined(kBackends));
  return *backend;
}

/// Every n-th, so that at most so many remain.
template <class T>
void thin_out(std::vector<T>& steps, size_t most) {
  if (steps.size() <= most) return;
  std::vector<T> kept;
  for (size_t i = 0; i < most; ++i) kept.push_back(std::move(steps[i * steps.size() / most]));
  steps = std::move(kept);
}

std::vector<std::vector<size_t>> recorded_steps(const TokenRoutes& routes, const std::vector<size_t>& tokens) {
  std::vector<std::vector<size_t>> steps;
  int64_t last = -1;
  for (const size_t t : tokens) {
    if (steps.empty() || routes.tokens[t].step != last) steps.emplace_back();
    last = routes.tokens[t].step;
    steps.back().push_back(t);
  }
  thin_out(steps, kMostSteps);
  return steps;
}

/// Tokens with replacement, all layers of a token together.
std::vector<std::vector<size_t>> drawn_steps(const std::vector<size_t>& tokens, int64_t tokens_per_step, uint32_t seed) {
  std::vector<std::vector<size_t>> steps;
  if (tokens.empty()) return steps;
  std::mt19937_64 random(seed);
  steps.resize(static_cast<size_t>(std::clamp(kDrawnTokens / tokens_per_step, kFewestDrawn, kMostDrawn)));
  for (std::vector<size_t>& step : steps)
    for (int64_t i = 0; i < tokens_per_step; ++i) step.push_back(tokens[random() % tokens.size()]);
  return steps;
}

/// As many tokens as were asked for, with the shares of the counts.
void scale(std::vector<LayerLoads>& steps, double choices) {
  for (LayerLoads& step : steps)
    for (std::vector<double>& layer : step) {
      double all = 0;
      for (const double load : layer) all += load;
      for (double& load : layer) load *= all > 0 ? choices / all : 0;
    }
}

}  // namespace

double percentile_95(std::vector<double> values) {
  const auto at = static_cast<size_t>(std::ceil(0.95 * static_cast<double>(values.size()))) - 1;
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(at), values.end());
  return values[at];
}

CostModel cost_model_of(const Cluster& cluster, const ModelSizes& sizes) {
  CostModel model;
  model.memory_bytes_per_s = cluster.memory_bytes_per_s, model.flops_per_s = cluster.flops_per_s;
  model.fabric_bytes_per_s = cluster.fabric_bytes_per_s, model.network_bytes_per_s = cluster.network_bytes_per_s;
  model.branch_bytes = sizes.branch_bytes, model.flops_per_row = sizes.flops_per_row;
  model.dispatch_row_bytes = model.combine_row_bytes = static_cast<double>(sizes.hidden) * kRowBits / 8;
  return model;
}

StepObjective::StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model, const TokenRoutes& routes,
                             const std::vector<size_t>& fit, const std::vector<size_t>& held_out)
    : options_(options), cluster_(cluster), model_(model), routes_(&routes), backend_(backend_of(options, Backend::per_rank)) {
  for (const bool behind : {false, true}) {
    const std::vector<size_t>& tokens = behind ? held_out : fit;
    tokens_[behind] =
        options.tokens_per_step > 0 ? drawn_steps(tokens, options.tokens_per_step, behind ? 2 : 1) : recorded_steps(routes, tokens);
  }
}

StepObjective::StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model, const SplitLoads& loads, int64_t k)
    : options_(options),
      cluster_(cluster),
      model_(model),
      backend_(backend_of(options, Backend::per_expert)),
      k_(static_cast<double>(std::max<int64_t>(k, 1))),
      k_known_(k > 0) {
  if (backend_ == Backend::per_rank || backend_ == Backend::per_node)
    bad_input("--backend", std::string(to_text(backend_)) + " needs single choices, and the data has counts", "--backend per-expert");
  if (!k_known_ && (backend_ == Backend::gather || options.tokens_per_step > 0))
    bad_input(backend_ == Backend::gather ? "--backend" : "--tokens-per-step",
              "needs the number of choices of a token, and the data lacks k", "import it with --model-config config.json");
  loads_[0] = loads.fit_steps, loads_[1] = loads.held_out_steps;
  if (options.tokens_per_step > 0)
    for (auto& steps : loads_) scale(steps, static_cast<double>(options.tokens_per_step) * k_);
}

int64_t StepObjective::count(bool held_out) const {
  return static_cast<int64_t>(routes_ ? tokens_[held_out].size() : loads_[held_out].size());
}

std::optional<StepFigures> StepObjective::judge(const Placement& placement, bool held_out, const Progress& progress) const {
  const auto steps = static_cast<size_t>(count(held_out));
  if (steps == 0) return {};
  StepWork work(placement, cluster_.nodes, backend_, model_);
  std::vector<double> seconds;
  StepCost sum;
  for (size_t s = 0; s < steps; ++s) {
    progress.report("judging steps", static_cast<int64_t>(s), static_cast<int64_t>(steps));
    const StepCost step = routes_ ? work.of_tokens(*routes_, tokens_[held_out][s]) : work.of_loads(loads_[held_out][s], k_);
    seconds.push_back(step.seconds());
    sum.cost.dispatch_s += step.cost.dispatch_s, sum.cost.compute_s += step.cost.compute_s, sum.cost.combine_s += step.cost.combine_s;
    sum.delivered_rows += step.delivered_rows, sum.fabric_rows += step.fabric_rows, sum.network_rows += step.network_rows;
    sum.visits += step.visits;
  }
  const double ms = 1e3 / static_cast<double>(steps);
  StepFigures f{
      sum.seconds() * ms, percentile_95(seconds) * 1e3, sum.cost.dispatch_s * ms, sum.cost.compute_s * ms, sum.cost.combine_s * ms, {}, {}};
  if (options_.p95) f.objective_ms = f.p95_ms;
  if (k_known_ && sum.visits > 0) {
    f.remote_bytes = sum.delivered_rows / sum.visits * model_.dispatch_row_bytes;
    f.wire_bytes = (sum.fabric_rows + sum.network_rows) / sum.visits * model_.dispatch_row_bytes;
  }
  return f;
}

std::vector<double> StepObjective::step_s(const Placement& placement, bool held_out, const Progress& progress) const {
  StepWork work(placement, cluster_.nodes, backend_, model_);
  std::vector<double> seconds;
  for (int64_t s = 0; s < count(held_out); ++s) {
    progress.report("judging steps", s, count(held_out));
    const auto step = static_cast<size_t>(s);
    seconds.push_back((routes_ ? work.of_tokens(*routes_, tokens_[held_out][step]) : work.of_loads(loads_[held_out][step], k_)).seconds());
  }
  return seconds;
}

PlacedSteps StepObjective::placed(const Placement& start, bool held_out, size_t most_tokens) const {
  if (!routes_) {
    std::vector<LayerLoads> steps = loads_[held_out];
    thin_out(steps, kMostSearchSteps);
    return PlacedSteps(steps, k_, start, cluster_.nodes, backend_, model_);
  }
  std::vector<std::vector<size_t>> steps = tokens_[held_out];
  size_t tokens = 0;
  for (const std::vector<size_t>& step : steps) tokens += step.size();
  // Of steps of many tokens fewer; of one that is larger than all that, the first of its tokens.
  const size_t each = std::max<size_t>(tokens / std::max<size_t>(steps.size(), 1), 1);
  thin_out(steps, std::clamp<size_t>(most_tokens / each, 1, kMostSearchSteps));
  for (std::vector<size_t>& step : steps) step.resize(std::min(step.size(), most_tokens));
  return PlacedSteps(*routes_, steps, start, cluster_.nodes, backend_, model_);
}

}  // namespace stormcell
