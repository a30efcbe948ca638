#include "simulator/simulate.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>

#include "core/base/bounded_number.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/cost/cluster.h"
#include "core/placement/step_work.h"
#include "core/planning/option_word.h"
#include "core/planning/place_task.h"
#include "core/readings/lacks.h"
#include "core/readings/session_lookup.h"
#include "core/summary/capacity_text.h"
#include "core/summary/step_contents.h"
#include "simulator/network/exchange.h"
#include "simulator/network/filling.h"
#include "simulator/network/network.h"
#include "simulator/run_simulation.h"
#include "simulator/step_rate.h"

namespace stormcell {
namespace {

constexpr int32_t kMostRanksOfCollective = 64;

std::string most_factor_text() { return std::to_string(static_cast<int>(kMostFactor)); }

[[noreturn]] void refuse_oversubscription(std::string_view text) {
  does_not_fit("--oversubscription", text, "a factor from 1 to " + most_factor_text() + ", for example 2");
}
bool is_oversubscription(double factor) { return factor >= 1 && factor <= kMostFactor; }

[[noreturn]] void refuse_capacity_factor(std::string_view text) {
  does_not_fit("--capacity-factor", text, "a factor above 0, at most " + most_factor_text() + ", for example 1.25");
}
bool is_capacity_factor(double factor) { return factor > 0 && factor <= kMostFactor; }

[[noreturn]] void refuse_rest_ms(std::string_view text) {
  does_not_fit("--rest-ms", text, "milliseconds above 0 and at most 3,600,000, for example 4.5");
}
bool is_rest_ms(double ms) { return ms > 0 && ms <= kMostRestMs; }

/// Empty if the text is no number.
std::optional<double> factor_in(std::string_view text) {
  double factor = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), factor);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(factor) : std::nullopt;
}

PlaceOptions task_options(const SimulateOptions& options) {
  PlaceOptions out;
  out.session = options.session, out.cluster = options.cluster, out.phase = options.phase;
  out.step = options.step, out.sizes = options.sizes, out.calibration = options.calibration;
  out.fit_fraction = 1;  // all of the run: nothing is fitted
  out.redundant = kSlotsOfFrom;
  out.from = options.placement;
  if (out.from.starts_with('#')) out.from = parse_session_path(options.session).file + out.from;
  return out;
}

Overlap overlap_of(const SimulateOptions& options) {
  return parse_word("--overlap", options.overlap, kOverlaps, Overlap::none);
}

void check_options(const SimulateOptions& options) {
  overlap_of(options);  // refused before anything is read
  if (!options.made_from.empty() && options.placement.empty())
    bad_input("--made-from", "is where a placement comes from, and none is named", "--placement placement.json");
  if (!is_oversubscription(options.oversubscription)) refuse_oversubscription(std::to_string(options.oversubscription));
  if (const double factor = options.step.capacity_factor; factor != 0 && !is_capacity_factor(factor))
    refuse_capacity_factor(std::to_string(factor));
  if (options.rest_ms && !is_rest_ms(*options.rest_ms)) refuse_rest_ms(std::to_string(*options.rest_ms));
}

std::vector<std::string> assumptions_of(const SimulateFigures& f, const PlaceTask& task) {
  const std::string sheets =
      "rates are those of data sheets, and start-up times are 0: a lower bound of each phase, not a prediction of an "
      "engine's step";
  std::vector<std::string> out = {
      f.trust && f.trust->share > 0
          ? "calibrated phases take the times of measured calls of an even all-to-all or of products "
            "by themselves, without waiting: not an "
            "engine's step; of the others " +
                sheets
          : sheets,
      f.rest_ms ? "a step is the sum of its layers' dispatch, slowest GPU's experts, combine, and of the stated rest: "
                  "attention, norms, "
                  "sampling, which nothing overlaps"
                : "a step is the sum of its layers' dispatch, slowest GPU's experts, combine; attention and dense "
                  "layers are not in it",
      task.cluster.rank_cost.empty()
          ? "all messages of a layer begin together; ports send and receive at the same time, on fabric and network"
          : "a GPU sends one message after the other, each at the cost between the two; it receives at the same time",
      task.model.expert_curve ? "an expert takes the measured time of its products with as many rows; experts of a GPU "
                                "run one after the other"
                              : "experts read all of their weights once a layer, rows are padded to 64"};
  if (task.objective->residence() == Residence::follow)
    out.emplace_back(
        "an experiment: a token goes on from where its heaviest expert lies, and all that attention needs of it is "
        "there at no cost, "
        "nor does it cost to come home from the last layer");
  if (f.overlap == Overlap::two_batch)
    out.emplace_back(
        "two micro-batches of every other token take turns: one computes while the other's messages travel, at no loss "
        "to either");
  if (f.collective && !task.cluster.rank_cost.empty())
    out.emplace_back(
        "in the exchange by filling the messages of a GPU take turns in small pieces instead, and each keeps its "
        "sender and its receiver "
        "as long: costs of pairs do not say which links messages share");
  if (f.dropped_choices > 0)
    out.push_back(counted(f.dropped_choices, "choice") + " dropped by capacity " +
                  (f.dropped_choices == 1 ? "costs" : "cost") + " nothing");
  if (f.capacity)
    out.push_back(
        "of each step and layer an expert takes its even share of the choices times the capacity factor, rounded up, "
        "first come, first "
        "served; " +
        std::string(f.capacity->dropped > 0 ? "the others are dropped at no cost, " : "none is dropped, ") +
        capacity_text(f.capacity->factor, f.capacity->dropped_share()));
  if (f.oversubscription > 1) out.emplace_back("the uplinks of nodes are shared evenly");
  if (!task.routes || !homes_known(task.routes->routes, task.routes->parts.fit, f.ranks))
    out.emplace_back(
        "each token lives on any GPU alike, and what is sent is an expectation; at most as many GPUs send as a step "
        "has tokens");
  return out;
}

/// Means over equal spans of time, for links that carry something.
std::vector<LinkInterval> timeline_of(const Filling& filling, const std::vector<size_t>& links) {
  constexpr int64_t kSpans = 64;
  std::vector<LinkInterval> out;
  if (filling.seconds <= 0) return out;
  const double length = filling.seconds / kSpans;
  for (int64_t s = 0; s < kSpans; ++s)
    out.push_back({1e3 * length * static_cast<double>(s), 1e3 * length * static_cast<double>(s + 1),
                   std::vector<double>(links.size())});
  for (const FillingInterval& i : filling.intervals) {
    const auto first = std::clamp<int64_t>(static_cast<int64_t>(i.begin_s / length), 0, kSpans - 1);
    for (int64_t s = first; s < kSpans && length * static_cast<double>(s) < i.end_s; ++s) {
      const double begin = std::max(i.begin_s, length * static_cast<double>(s)),
                   end = std::min(i.end_s, length * static_cast<double>(s + 1));
      if (end <= begin) continue;
      for (size_t l = 0; l < links.size(); ++l) out[s].link_share[l] += i.link_share[links[l]] * (end - begin) / length;
    }
  }
  return out;
}

/// Filled as the links would share it, beside the closed form of the same rows.
SimulatedExchange exchange_of(const Filling& filling, const std::vector<NetworkFlow>& flows,
                              const std::vector<size_t>& links, double closed_form_s, double start_s,
                              bool each_message) {
  SimulatedExchange out;
  out.messages = std::ssize(flows);
  for (const NetworkFlow& flow : flows) out.bytes += flow.bytes;
  out.closed_form_ms = 1e3 * closed_form_s, out.filled_ms = 1e3 * (filling.seconds + (flows.empty() ? 0 : start_s));
  out.timeline = timeline_of(filling, links);
  for (size_t f = 0; f < flows.size() && each_message; ++f)
    out.sent.push_back({flows[f].from, flows[f].to, flows[f].bytes, 1e3 * filling.end_s[f]});
  return out;
}

/// The cluster with the rates of one way of an exchange.
Cluster slowed(Cluster cluster, const WayCost& way, const CostModel& model) {
  cluster.fabric_bytes_per_s /= way.fabric_factor, cluster.network_bytes_per_s /= way.network_factor;
  for (double& cost : cluster.rank_cost) cost *= model.rank_cost_factor;
  return cluster;
}

/// Rows of the dispatch, and of the dispatch whose ways back the combine takes: another one if tokens follow.
struct ExchangedRows {
  RankRows dispatched, combined;
  bool dispatched_means = true, combined_means = true;  ///< over the places where tokens may live, or over replicas
};

bool has_replicas(std::span<const BranchShares> shares) {
  return std::any_of(shares.begin(), shares.end(), [](const BranchShares& s) { return s.size() > 1; });
}

ExchangedRows rows_of(const StepObjective& objective, const Placement& placement, size_t step, size_t layer,
                      const Network& network) {
  const std::vector<BranchShares> shares = shares_of(placement.layers[layer], placement.branches, placement.ranks);
  ExchangedRows out;
  if (!objective.routes()) {
    out.dispatched = dispatched_rows(objective.loads_of_step(DataPart::fitted, step)[layer], objective.choices(),
                                     shares, objective.backend(), network, objective.replicas());
  } else {
    const TokenRoutes& routes = *objective.routes();
    const std::vector<size_t>& tokens = objective.tokens(DataPart::fitted)[step];
    const int32_t l = layer;
    const bool replicas = has_replicas(shares);
    if (objective.residence() == Residence::follow) {
      const std::vector<BranchShares> lives = lives_of_following(routes, tokens, placement, l);
      const bool homes = std::all_of(lives.begin(), lives.end(), [](const BranchShares& s) { return s.size() == 1; });
      return {dispatched_rows(routes, tokens, l, shares, lives, objective.backend(), network),
              followed_rows(routes, tokens, l, shares, objective.backend(), network), replicas || !homes, replicas};
    }
    out.dispatched_means = out.combined_means = replicas || !homes_known(routes, tokens, network.ranks());
    out.dispatched = dispatched_rows(routes, tokens, l, shares, objective.backend(), network, objective.replicas());
  }
  out.combined = out.dispatched;
  return out;
}

SimulatedCollective collective_of(const SimulateOptions& options, const PlaceTask& task, const Progress& progress) {
  const StepObjective& objective = *task.objective;
  check_bounds("--collective", options.collective, {0, static_cast<double>(task.layout.routers.size()) - 1});
  check_bounds("--step", options.collective_step, {0, static_cast<double>(objective.count(DataPart::fitted)) - 1});
  if (task.shape.ranks > kMostRanksOfCollective)
    bad_input("--collective",
              "fills the links of at most " + std::to_string(kMostRanksOfCollective) + " GPUs, the cluster has " +
                  std::to_string(task.shape.ranks),
              "leave it out, or name a smaller cluster");
  const auto layer = static_cast<size_t>(options.collective), step = static_cast<size_t>(options.collective_step);
  const CostModel& model = objective.model();
  const Network network(slowed(task.cluster, model.dispatch, model), options.oversubscription),
      back_network(slowed(task.cluster, model.combine, model), options.oversubscription);
  const ExchangedRows rows = rows_of(objective, task.before, step, layer, network);
  LayerCost closed;
  StepWork work = objective.work_of(task.before);
  objective.cost_of_step(work, DataPart::fitted, step, {}, [&](size_t l, const LayerWork& done, const LayerCost&) {
    if (l == layer)
      closed = cost_of_layer(done.ranks, done.combined, model);  // of the messages that are filled: no home is crowded
  });
  const std::vector<NetworkFlow> there = flows_of(rows.dispatched, model.dispatch_row_bytes, network),
                                 back = flows_of(combined_rows(rows.combined, network.ranks()), model.combine_row_bytes,
                                                 back_network);
  const Filling dispatch = fill(network.links(), there, progress), combine = fill(back_network.links(), back, progress);
  SimulatedCollective out;
  out.layer = task.layout.routers[layer].name, out.step = options.collective_step;
  std::vector<size_t> used;
  for (size_t l = 0; l < network.links().size(); ++l) {
    if (dispatch.link_load[l] <= 0 && combine.link_load[l] <= 0) continue;
    const Link& link = network.links()[l];
    used.push_back(l), out.links.push_back({link.name(), link.lane(), link.sends});
  }
  const bool each_message = network.ranks() <= kMostRanksOfMessages;
  out.dispatch = exchange_of(dispatch, there, used, closed.dispatch_s, model.dispatch.t0_s, each_message);
  out.combine = exchange_of(combine, back, used, closed.combine_s, model.combine.t0_s, each_message);
  out.dispatch.means = rows.dispatched_means, out.combine.means = rows.combined_means;
  return out;
}

SimulateFigures about(const SimulateOptions& options, const SessionReader& session, const PlaceTask& task) {
  SimulateFigures f;
  f.session = session.path(), f.model = session.summary().model.name, f.cluster = task.cluster.name;
  f.placement = options.placement.empty() ? "contiguous" : options.placement;
  f.run = task.run.id, f.nodes = task.cluster.nodes, f.ranks = task.shape.ranks;
  f.branches = task.branches, f.slot_count = task.shape.slot_count;
  f.phase = task.phase, f.backend = task.objective->backend(), f.replicas = task.objective->replicas(),
  f.residence = task.objective->residence(), f.step_kind = task.objective->steps();
  f.overlap = overlap_of(options), f.oversubscription = options.oversubscription;
  f.sizes = *task.sizes, f.calibration = task.calibration;
  f.rest_ms = options.rest_ms, f.contents = step_contents(f.rest_ms);
  for (size_t l = 0; l < task.layout.routers.size(); ++l)
    f.layers.push_back({task.layout.routers[l].name, task.layer_numbers[l], 0, 0, 0, 0});
  f.lacks = lacks_of_import(task.run);
  if (task.routes) f.dropped_choices = task.routes->dropped_choices;
  if (options.step.capacity_factor > 0) f.capacity = task.objective->capacity(DataPart::fitted);
  if (f.capacity && f.dropped_choices > 0)
    f.warnings.push_back(
        counted(f.dropped_choices, "choice") + (f.dropped_choices == 1 ? " was" : " were") +
        " dropped by a capacity while this was recorded and did not come back: no capacity factor is lossless here");
  for (const std::string& doubt : doubts_about(task.cluster)) f.warnings.push_back(doubt);
  if (task.dropped_homes > 0)
    f.warnings.push_back("tokens of " + counted(task.dropped_homes, "rank") + " were recorded, which are not the " +
                         std::to_string(f.ranks) + " of the cluster: tokens are taken to live on any of these alike");
  if (!task.from_doubt.empty()) f.warnings.push_back(task.from_doubt);
  if (const std::string drawn = warning_of_drawn_steps(task); !drawn.empty()) f.warnings.push_back(drawn);
  if (task.routes && task.routes->parts.requests == 1)
    f.warnings.emplace_back("the trace is one request, and other requests may be routed differently");
  if (const int32_t layers = layers_with_idle_replicas(task.before); layers > 0)
    f.warnings.push_back("in " + counted(layers, "layer") +
                         " two replicas of an expert are on one GPU, and the second brings nothing");
  return f;
}

/// Trust in the step of all phases in succession, without overlap.
StepTrust trust_of(const SimulateFigures& f) {
  double dispatch = 0, compute = 0, combine = 0;
  for (const SimulatedLayer& l : f.layers) dispatch += l.dispatch_ms, compute += l.compute_ms, combine += l.combine_ms;
  return trust_in(*f.calibration, dispatch, compute, combine);
}

}  // namespace

std::vector<std::string_view> overlaps() { return {std::begin(kOverlaps), std::end(kOverlaps)}; }

double parse_oversubscription(std::string_view text) {
  const std::optional<double> factor = factor_in(text);
  if (!factor || !is_oversubscription(*factor)) refuse_oversubscription(text);
  return *factor;
}

double parse_capacity_factor(std::string_view text) {
  const std::optional<double> factor = factor_in(text);
  if (!factor || !is_capacity_factor(*factor)) refuse_capacity_factor(text);
  return *factor;
}

double parse_rest_ms(std::string_view text) {
  const std::optional<double> ms = factor_in(text);
  if (!ms || !is_rest_ms(*ms)) refuse_rest_ms(text);
  return *ms;
}

SimulateFigures simulate(const SimulateOptions& options, const Progress& progress) {
  check_options(options);
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  PlaceTask task;
  task.oversubscription = options.oversubscription;
  read_task(task_options(options), session, path.run, task, progress);
  if (options.oversubscription > 1 && !task.cluster.rank_cost.empty())
    bad_input("--oversubscription",
              "is of uplinks, and " + task.cluster.name + " says costs between GPUs, which know no links",
              "leave it out; the costs have it in them");
  if (!task.sizes)
    bad_input(session.path(), "does not say the sizes of the model, so the cost of a step is not known",
              "--model-config config.json, or --hidden N --ffn N");
  if (!task.objective)
    bad_input(session.path(), "is one sum of many steps, so the cost of one step is not known",
              "--tokens-per-step N draws steps of N tokens");
  check_memory(task);
  SimulateFigures f = about(options, session, task);
  simulate_steps(*task.objective, task.before, progress, f);
  if (f.calibration) f.trust = trust_of(f);
  state_rate(f);
  f.deployment = compare_deployment(options.made_from, task_options(options).from, session, task);
  if (f.deployment && !f.deployment->model_doubt.empty()) f.warnings.push_back(f.deployment->model_doubt);
  if (f.deployment && f.deployment->why_not.empty() && !f.deployment->ranks_known)
    f.warnings.push_back("the recording does not say on how many GPUs it was made; the loads of slots are stated for " +
                         std::to_string(f.ranks));
  if (options.collective >= 0) f.collective = collective_of(options, task, progress);
  f.assumptions = assumptions_of(f, task);
  return f;
}

}  // namespace stormcell
