#include "core/comparison/cache_budgets.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/comparison/recording_drift.h"
#include "core/readings/read_token_routes.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

constexpr size_t kPolicies = std::size(kCachePolicies);

std::string whole_bytes(double bytes) { return to_text(Bytes(std::llround(bytes))); }

/// Eighths of all that is used: below an eighth most recordings are below the cliff.
std::vector<int64_t> budgets_of(const CacheBudgets& figures) {
  if (figures.options.memory_bytes > 0) return {figures.options.memory_bytes};
  constexpr int64_t kParts = 8;
  std::vector<int64_t> budgets = {figures.cliff_bytes};
  for (const int64_t part : {1, 2, 4, 6, 8}) budgets.push_back(figures.demand.used_bytes * part / kParts);
  std::sort(budgets.begin(), budgets.end());
  budgets.erase(std::unique(budgets.begin(), budgets.end()), budgets.end());
  return budgets;
}

/// Fills in the bytes of experts that the recording lacks.
void size_experts(const CacheOptions& options, const Recording& recording, TokenRoutes& routes) {
  for (int64_t& bytes : routes.branch_bytes) {
    if (bytes <= 0) bytes = options.expert_bytes;
    if (bytes <= 0)
      bad_input(recording.name(), "lacks branch_bytes: it does not say how large an expert is",
                "say it: --expert-bytes 4MiB");
  }
}

void check_memory(const CacheOptions& options, const TokenRoutes& routes) {
  const int64_t largest = *std::max_element(routes.branch_bytes.begin(), routes.branch_bytes.end());
  if (options.memory_bytes > 0 && options.memory_bytes < largest)
    bad_input("--memory", to_text(Bytes(options.memory_bytes)) + " is less than one expert",
              "at least " + to_text(Bytes(largest)));
}

/// The rows of one budget, in the order of kCachePolicies: `replays` from `first` on.
void add_budget(const std::vector<CacheReplay>& replays, int64_t budget, CacheBudgets& figures) {
  const size_t first = figures.budgets.size();
  const auto tokens = static_cast<double>(figures.demand.tokens);
  for (size_t p = 0; p < kPolicies; ++p) {
    CacheOfBudget row{budget, static_cast<CachePolicy>(p), replays[first + p]};
    const CacheCount& judged = figures.demand.decode ? row.replay.decode : row.replay.all;
    row.hit_rate = judged.rate();
    row.bytes_per_token = static_cast<double>(judged.missed_bytes) / tokens;
    if (figures.options.disk_bytes_per_s > 0 && judged.missed_bytes > 0)
      row.tokens_per_s = figures.options.disk_bytes_per_s / row.bytes_per_token;
    figures.budgets.push_back(row);
  }
  const size_t best = first + static_cast<size_t>(CachePolicy::belady);
  const CacheOfBudget oracle = figures.budgets[best];
  for (size_t p = first; p < first + kPolicies; ++p)
    figures.budgets[p].oracle_hit_rate = oracle.hit_rate,
    figures.budgets[p].oracle_bytes_per_token = oracle.bytes_per_token;
}

/// The policy without foresight that reads least under a budget.
const CacheOfBudget& best_without_foresight(const CacheBudgets& figures, int64_t budget) {
  const CacheOfBudget* best = nullptr;
  for (const CacheOfBudget& row : figures.budgets)
    if (row.bytes == budget && row.policy != CachePolicy::belady &&
        (!best || row.bytes_per_token < best->bytes_per_token))
      best = &row;
  return *best;
}

/// Rounded up: a bound stays one.
std::string percent_of(double share) { return std::to_string(std::llround(std::ceil(100 * share))) + " %"; }

/// By how much foresight would cut the reads, of the budget where that is most.
void judge_policies(CacheBudgets& figures) {
  const CacheOfBudget* at = nullptr;
  for (const CacheOfBudget& row : figures.budgets) {
    const CacheOfBudget& best = best_without_foresight(figures, row.bytes);
    // Belady's policy has the fewest misses, which are the fewest bytes only if all experts are equally large.
    const double saved =
        best.bytes_per_token > 0 ? std::max(0., 1 - best.oracle_bytes_per_token / best.bytes_per_token) : 0;
    if (!at || saved > figures.most_saved) at = &best, figures.most_saved = saved;
  }
  const std::string budget = to_text(Bytes(at->bytes)), name(to_text(at->policy));
  if (figures.most_saved <= 0)
    figures.verdict = (figures.options.memory_bytes > 0 ? "At " + budget : std::string("At all of these budgets")) +
                      " no policy can read less than " + name + " does";
  else
    figures.verdict = "No policy can save more than " + percent_of(figures.most_saved) + " of what " + name +
                      " reads at " + budget + ", which is " + whole_bytes(at->bytes_per_token) + " a token";
}

nlohmann::ordered_json json_of_count(const CacheCount& count) {
  return {{"hits", count.hits},
          {"lookups", count.lookups},
          {"hit_rate", or_null(count.rate())},
          {"missed_bytes", count.missed_bytes}};
}

}  // namespace

CacheBudgets replay_budgets(const CacheOptions& options, const Progress& progress) {
  const Recording recording(options.session);
  TokenRoutes routes = read_token_routes(recording.reader, recording.run, progress);
  size_experts(options, recording, routes);
  CacheBudgets figures;
  figures.session = recording.path.file;
  figures.run = recording.run.id, figures.status = recording.run.status, figures.batches = recording.run.batches;
  figures.model = recording.reader.summary().model.name;
  figures.options = options;
  figures.demand = cache_demand(routes);
  if (figures.demand.used_bytes == 0)
    bad_input(recording.name(), "holds no choice of any token", "record some, or name another run");
  check_memory(options, routes);
  figures.token_by_token = figures.demand.steps == figures.demand.tokens;
  figures.demand_bytes_per_token =
      static_cast<double>(figures.demand.bytes) / static_cast<double>(figures.demand.tokens);
  figures.cliff_bytes = figures.demand.step_bytes;
  const std::vector<int64_t> budgets = budgets_of(figures);
  std::vector<CacheCase> cases;
  for (const int64_t budget : budgets)
    for (size_t p = 0; p < kPolicies; ++p) cases.push_back({static_cast<CachePolicy>(p), budget});
  const std::vector<CacheReplay> replays = replay_caches(routes, cases, progress);
  for (const int64_t budget : budgets) add_budget(replays, budget, figures);
  judge_policies(figures);
  if (options.memory_bytes > 0 && options.memory_bytes < figures.cliff_bytes)
    figures.warnings.push_back("--memory: " + to_text(Bytes(options.memory_bytes)) + " is less than the " +
                               to_text(Bytes(figures.cliff_bytes)) + " that one " +
                               (figures.token_by_token ? "token" : "step") +
                               " takes: a cache of recently used experts keeps hardly any for the next one");
  return figures;
}

std::string to_json(const CacheBudgets& f) {
  nlohmann::ordered_json json = json_of_verb("cache");
  json["session"] = f.session, json["run"] = f.run, json["status"] = to_text(f.status);
  json["model"] = text_or_null(f.model);
  json["judged"] = f.demand.decode ? "decode" : "all";
  json["tokens"] = f.demand.tokens, json["steps"] = f.demand.steps;
  json["memory_bytes"] = positive_or_null(f.options.memory_bytes);
  json["disk_bytes_per_s"] = positive_or_null(f.options.disk_bytes_per_s);
  json["experts_bytes"] = f.demand.used_bytes;
  json["demand_bytes_per_token"] = f.demand_bytes_per_token;
  json["cliff_bytes"] = f.cliff_bytes;
  auto budgets = nlohmann::ordered_json::array();
  for (const CacheOfBudget& row : f.budgets)
    budgets.push_back({{"bytes", row.bytes},
                       {"policy", to_text(row.policy)},
                       {"hit_rate", or_null(row.hit_rate)},
                       {"oracle_hit_rate", or_null(row.oracle_hit_rate)},
                       {"bytes_per_token", row.bytes_per_token},
                       {"oracle_bytes_per_token", row.oracle_bytes_per_token},
                       {"tokens_per_s", or_null(row.tokens_per_s)},
                       {"all", json_of_count(row.replay.all)},
                       {"decode", json_of_count(row.replay.decode)}});
  json["budgets"] = std::move(budgets);
  json["best_split"] = nullptr, json["flags"] = nullptr;
  json["most_saved"] = f.most_saved;
  json["verdict"] = f.verdict;
  return json_text(json);
}

}  // namespace stormcell
