#include "core/planning/step_objective.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <utility>

#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/planning/capped_steps.h"
#include "core/planning/option_word.h"

namespace stormcell {
namespace {

constexpr size_t kMostSteps = 1000;        // evenly chosen where there are more
constexpr int64_t kDrawnTokens = 1 << 17;  // tokens of all drawn steps together
constexpr int64_t kFewestDrawn = 4, kMostDrawn = 64;
constexpr double kRowBits = 16;

ReplicaRule rule_of(const StepOptions& options) {
  return parse_word("--replicas", options.replicas, kReplicaRules, ReplicaRule::even);
}

Residence residence_of(const StepOptions& options, const TokenRoutes* routes) {
  const Residence residence = parse_word("--residence", options.residence, kResidences, Residence::home);
  if (residence == Residence::home) return residence;
  if (!routes || !routes->heaviest_first)
    bad_input("--residence", "follow needs the weights of single choices, and the data lacks them",
              "record the weights, or leave it out");
  if (rule_of(options) != ReplicaRule::even)
    bad_input("--residence",
              "follow beside --replicas nearest: which replica is nearest depends on where the token is, that on its "
              "replica of the layer "
              "before, and so on to the first layer, so no move could be costed by its own layer and the next",
              "leave --replicas out (replicas share evenly), or leave --residence out (the replica nearest to the "
              "token's home)");
  return residence;
}

/// Every n-th, so that at most so many remain.
template <class T>
void thin_out(std::vector<T>& steps, size_t most) {
  if (steps.size() <= most) return;
  std::vector<T> kept;
  for (size_t i = 0; i < most; ++i) kept.push_back(std::move(steps[i * steps.size() / most]));
  steps = std::move(kept);
}

/// Steps of which tokens are missing get as many others of these tokens, of the phases that they have; how many steps
/// that were.
int64_t fill_up(const SplitRoutes& split, const std::vector<size_t>& tokens, uint32_t seed, TokenSteps& steps) {
  const TokenRoutes& routes = split.routes;
  std::map<Phase, std::vector<size_t>> of_phase;
  for (const size_t t : tokens) of_phase[routes.tokens[t].phase].push_back(t);
  std::mt19937_64 random(seed);
  int64_t filled = 0;
  for (std::vector<size_t>& step : steps) {
    const size_t own = step.size(), whole = static_cast<size_t>(split.step_tokens[routes.tokens[step[0]].step]);
    filled += own < whole;
    for (size_t i = own; i < whole; ++i) {
      const std::vector<size_t>& alike = of_phase[routes.tokens[step[i % own]].phase];
      step.push_back(alike[random() % alike.size()]);
    }
  }
  return filled;
}

TokenSteps recorded_steps(const TokenRoutes& routes, const std::vector<size_t>& tokens) {
  TokenSteps steps;
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
TokenSteps drawn_steps(const std::vector<size_t>& tokens, int64_t tokens_per_step, uint32_t seed) {
  TokenSteps steps;
  if (tokens.empty()) return steps;
  std::mt19937_64 random(seed);
  steps.resize(std::clamp(kDrawnTokens / tokens_per_step, kFewestDrawn, kMostDrawn));
  for (std::vector<size_t>& step : steps)
    for (int64_t i = 0; i < tokens_per_step; ++i) step.push_back(tokens[random() % tokens.size()]);
  return steps;
}

/// Scales steps to as many tokens as were asked for, with the shares of the counts.
void scale(std::vector<LayerLoads>& steps, double choices) {
  for (LayerLoads& step : steps)
    for (std::vector<double>& layer : step) {
      double all = 0;
      for (const double load : layer) all += load;
      for (double& load : layer) load *= all > 0 ? choices / all : 0;
    }
}

/// Mean choices of a step, in the layer that most tokens met. Another layer may see fewer: the last one may see only
/// the last token of a prompt.
double choices_of_layer(const std::vector<LayerLoads>& steps) {
  double all = 0;
  for (const LayerLoads& step : steps) {
    double most = 0;
    for (const std::vector<double>& layer : step)
      most = std::max(most, std::accumulate(layer.begin(), layer.end(), 0.));
    all += most;
  }
  return all / static_cast<double>(std::max<size_t>(steps.size(), 1));
}

size_t tokens_of(const TokenSteps& steps) {
  size_t tokens = 0;
  for (const std::vector<size_t>& step : steps) tokens += step.size();
  return tokens;
}

}  // namespace

CostModel cost_model_of(const Cluster& cluster, const ModelSizes& sizes, double oversubscription) {
  CostModel model;
  model.memory_bytes_per_s = cluster.memory_bytes_per_s, model.flops_per_s = cluster.flops_per_s;
  model.fabric_bytes_per_s = cluster.fabric_bytes_per_s, model.network_bytes_per_s = cluster.network_bytes_per_s;
  if (!cluster.rank_cost.empty()) model.rank_cost = std::make_shared<const std::vector<double>>(cluster.rank_cost);
  model.branch_bytes = sizes.branch_bytes, model.flops_per_row = sizes.flops_per_row;
  model.dispatch_row_bytes = model.combine_row_bytes = static_cast<double>(sizes.hidden) * kRowBits / 8;
  if (cluster.nodes > 1 && oversubscription > 1) {
    model.gpus_per_node = static_cast<size_t>(cluster.gpus_per_node);
    model.uplink_bytes_per_s = cluster.network_bytes_per_s * cluster.gpus_per_node / oversubscription;
  }
  return model;
}

StepObjective::StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model,
                             const SplitRoutes& routes, const TokenParts& parts)
    : options_(options),
      cluster_(cluster),
      model_(model),
      routes_(&routes.routes),
      backend_(parse_word("--backend", options.backend, kBackends, Backend::per_rank)),
      replicas_(rule_of(options)),
      residence_(residence_of(options, routes_)) {
  for (const DataPart part : kDataParts) {
    const std::vector<size_t>& tokens = part == DataPart::held_out ? parts.held_out : parts.fit;
    const uint32_t seed = part == DataPart::held_out ? 2 : 1;
    if (options.tokens_per_step > 0) {
      tokens_[part] = drawn_steps(tokens, options.tokens_per_step, seed);
    } else {
      tokens_[part] = recorded_steps(routes.routes, tokens);
      filled_ += fill_up(routes, tokens, seed, tokens_[part]);
    }
  }
  if (options.capacity_factor <= 0) return;
  CappedSteps capped = cap_steps(*routes_, tokens_, options.capacity_factor);
  capped_routes_ = std::make_shared<const TokenRoutes>(std::move(capped.routes));
  routes_ = capped_routes_.get(), tokens_ = std::move(capped.steps), capacity_ = capped.dropped;
}

StepObjective::StepObjective(const StepOptions& options, const Cluster& cluster, const CostModel& model,
                             const SplitLoads& loads, int64_t k)
    : options_(options),
      cluster_(cluster),
      model_(model),
      backend_(parse_word("--backend", options.backend, kBackends, Backend::per_expert)),
      replicas_(rule_of(options)),
      residence_(residence_of(options, nullptr)),
      k_(static_cast<double>(std::max<int64_t>(k, 1))),
      k_known_(k > 0) {
  if (backend_ == Backend::per_rank || backend_ == Backend::per_node)
    bad_input("--backend", std::string(to_text(backend_)) + " needs single choices, and the data has counts",
              "--backend per-expert");
  if (!k_known_ && (backend_ == Backend::gather || options.tokens_per_step > 0))
    bad_input(backend_ == Backend::gather ? "--backend" : "--tokens-per-step",
              "needs the number of choices of a token, and the data lacks k",
              "import it with --model-config config.json");
  loads_ = {loads.fit_steps, loads.held_out_steps};
  if (options.tokens_per_step > 0)
    for (const DataPart part : kDataParts) scale(loads_[part], static_cast<double>(options.tokens_per_step) * k_);
  counted_tokens_ = choices_of_layer(loads_.fitted) / k_;
  if (options.capacity_factor <= 0) return;
  if (backend_ == Backend::gather)
    bad_input("--capacity-factor", "needs single choices beside --backend gather, and the data has counts",
              "--backend per-expert");
  for (const DataPart part : kDataParts) capacity_[part] = cap_steps(loads_[part], k_, options.capacity_factor);
}

int64_t StepObjective::count(DataPart part) const {
  return static_cast<int64_t>(routes_ ? tokens_[part].size() : loads_[part].size());
}

std::optional<double> StepObjective::mean_tokens() const {
  if (!k_known_ || count(DataPart::fitted) == 0) return {};
  return routes_ ? static_cast<double>(tokens_of(tokens_.fitted)) / tokens_.fitted.size() : counted_tokens_;
}

std::optional<RowRange> StepObjective::row_range() const {
  RowRange range;
  const auto add = [&](double rows) {
    if (rows <= 0) return;
    range.least = range.most > 0 ? std::min(range.least, rows) : rows;
    range.most = std::max(range.most, rows);
  };
  std::vector<double> rows;
  for (const DataPart part : kDataParts) {
    for (const LayerLoads& step : loads_[part])
      for (const std::vector<double>& layer : step) std::for_each(layer.begin(), layer.end(), add);
    for (const std::vector<size_t>& step : tokens_[part])
      for (int32_t l = 0; l < routes_->layers; ++l) {
        rows.assign(routes_->branches, 0);
        for (const size_t t : step)
          for (const int32_t choice : routes_->at(t, l))
            if (choice >= 0) ++rows[choice];
        std::for_each(rows.begin(), rows.end(), add);
      }
  }
  return range.most > 0 ? std::optional(range) : std::nullopt;
}

std::optional<StepFigures> StepObjective::mean_step(const Placement& placement, DataPart part,
                                                    const Progress& progress) const {
  const size_t steps = count(part);
  if (steps == 0) return {};
  StepWork work = work_of(placement);
  std::vector<double> seconds;
  StepCost sum;
  for (size_t s = 0; s < steps; ++s) {
    progress.report("judging steps", static_cast<int64_t>(s), static_cast<int64_t>(steps));
    const StepCost step = cost_of_step(work, part, s);
    seconds.push_back(step.seconds());
    sum.cost += step.cost;
    sum.delivered_rows += step.delivered_rows, sum.fabric_rows += step.fabric_rows,
        sum.network_rows += step.network_rows;
    sum.visits += step.visits;
  }
  const double ms = 1e3 / static_cast<double>(steps);
  StepFigures f{sum.seconds() * ms,
                quantile(seconds, 0.95) * 1e3,
                sum.cost.dispatch_s * ms,
                sum.cost.compute_s * ms,
                sum.cost.combine_s * ms,
                {},
                {}};
  if (options_.p95) f.objective_ms = f.p95_ms;
  // A token whose choices a capacity drops is one of the layer all the same.
  if (const double met = sum.visits + capacity_[part].lost_visits; k_known_ && met > 0) {
    f.remote_bytes = sum.delivered_rows / met * model_.dispatch_row_bytes;
    f.wire_bytes = (sum.fabric_rows + sum.network_rows) / met * model_.dispatch_row_bytes;
  }
  return f;
}

std::vector<double> StepObjective::step_s(const Placement& placement, DataPart part, const Progress& progress) const {
  StepWork work = work_of(placement);
  std::vector<double> seconds;
  for (int64_t s = 0; s < count(part); ++s) {
    progress.report("judging steps", s, count(part));
    seconds.push_back(cost_of_step(work, part, static_cast<size_t>(s)).seconds());
  }
  return seconds;
}

StepCost StepObjective::cost_of_step(StepWork& work, DataPart part, size_t step, MicroBatch micro,
                                     const LayerVisitor& visitor) const {
  if (!routes_) {
    const LayerLoads& loads = loads_[part][step];
    if (micro.count == 1) return work.of_loads(loads, k_, visitor);
    LayerLoads shares = loads;
    for (std::vector<double>& layer : shares)
      for (double& load : layer) load /= static_cast<double>(micro.count);
    return work.of_loads(shares, k_, visitor);
  }
  const std::vector<size_t>& tokens = tokens_[part][step];
  if (micro.count == 1) return work.of_tokens(*routes_, tokens, visitor);
  std::vector<size_t> own;
  for (size_t t = micro.index; t < tokens.size(); t += micro.count) own.push_back(tokens[t]);
  return work.of_tokens(*routes_, own, visitor);
}

TokenSteps StepObjective::searched_tokens(DataPart part, size_t most_tokens) const {
  TokenSteps steps = tokens_[part];
  // Keeps fewer steps if they have many tokens, and the first tokens of a step that is too large alone.
  const size_t each = std::max<size_t>(tokens_of(steps) / std::max<size_t>(steps.size(), 1), 1);
  thin_out(steps, std::clamp<size_t>(most_tokens / each, 1, kMostSearchSteps));
  for (std::vector<size_t>& step : steps) step.resize(std::min(step.size(), most_tokens));
  return steps;
}

size_t StepObjective::homes_of_token() const {
  if (replicas_ != ReplicaRule::nearest || !routes_ || tokens_.fitted.empty()) return 1;
  const int32_t ranks = cluster_.ranks();
  const auto known = [&](const std::vector<size_t>& step) { return homes_known(*routes_, step, ranks); };
  return std::all_of(tokens_.fitted.begin(), tokens_.fitted.end(), known) ? 1 : static_cast<size_t>(ranks);
}

bool StepObjective::search_sees_all() const {
  return routes_ ? tokens_of(searched_tokens(DataPart::fitted, kMostSearchTokens)) == tokens_of(tokens_.fitted)
                 : loads_.fitted.size() <= kMostSearchSteps;
}

PlacedSteps StepObjective::placed_by(ReplicaRule replicas, const Placement& start, DataPart part,
                                     size_t most_tokens) const {
  if (routes_)
    return PlacedSteps(*routes_, searched_tokens(part, most_tokens), start, cluster_.nodes, backend_, model_, replicas,
                       residence_);
  std::vector<LayerLoads> steps = loads_[part];
  thin_out(steps, kMostSearchSteps);
  return PlacedSteps(steps, k_, start, cluster_.nodes, backend_, model_, replicas);
}

}  // namespace stormcell
