// Caches of experts under several budgets: what the policies hit and read on a recording's choices, beside the best
// that any policy can do. The verb cache.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/base/run_kind.h"
#include "core/profile/cache_replay.h"

namespace stormcell {

struct CacheOptions {
  std::string session;          ///< "S.storm", "S.storm#3" or "S.storm#name"; the newest run that has loads
  int64_t memory_bytes = 0;     ///< the one budget; 0: several, from an eighth of the experts to all of them
  double disk_bytes_per_s = 0;  ///< 0: no speed is predicted
  int64_t expert_bytes = 0;     ///< of layers whose bytes the recording lacks; 0: none may lack them
};

/// One policy under one budget. Hits are of the judged steps: those that decode, or all if none decodes.
struct CacheOfBudget {
  int64_t bytes = 0;
  CachePolicy policy = CachePolicy::lru;
  CacheReplay replay;
  std::optional<double> hit_rate, oracle_hit_rate;  ///< the second one of Belady's policy under this budget
  double bytes_per_token = 0, oracle_bytes_per_token = 0;
  std::optional<double> tokens_per_s;  ///< if reading were all that takes time; null: no disk is given, or no reads
};

struct CacheBudgets {
  std::string session;
  int64_t run = 0;
  RunStatus status = RunStatus::interrupted;
  int64_t batches = 0;
  std::string model;
  CacheOptions options;
  CacheDemand demand;
  bool token_by_token = false;  ///< each judged step has one token
  double demand_bytes_per_token = 0;
  /// Below it, a cache of recently used experts forgets each layer's experts before the next step wants them: the bytes
  /// that one step takes, or one token if steps have one.
  int64_t cliff_bytes = 0;
  std::vector<CacheOfBudget> budgets;  ///< by rising bytes, then by policy as in kCachePolicies
  std::string verdict;
  std::vector<std::string> warnings;

  /// The part of the reads of the best of LRU, LFU and expected wait that Belady's policy saves, at the budget where it is largest.
  double most_saved = 0;
};

/// Throws Error(bad_input) if the recording has no single choices, or lacks the bytes of its experts and none are given.
CacheBudgets replay_budgets(const CacheOptions& options, const Progress& progress = {});
/// stormcell.cache/1
std::string to_json(const CacheBudgets& figures);

}  // namespace stormcell
