#include "core/profile/cache_replay.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "core/base/enum_words.h"

namespace stormcell {
namespace {

/// One layer of one step: [first, end) of the uses.
struct Call {
  int32_t layer = 0;
  bool decode = false;
  size_t first = 0, end = 0;
};

/// All uses in their order; an expert that two tokens of a call use is there twice.
struct Uses {
  std::vector<Call> calls;
  std::vector<int32_t> expert;
};

Uses uses_of(const TokenRoutes& routes) {
  Uses uses;
  for (size_t first = 0, end = 0; first < routes.size(); first = end) {
    while (end < routes.size() && routes.tokens[end].step == routes.tokens[first].step) ++end;
    for (int32_t l = 0; l < routes.layers; ++l) {
      Call call{l, routes.tokens[first].phase == Phase::decode, uses.expert.size(), 0};
      for (size_t t = first; t < end; ++t)
        for (const int32_t e : routes.at(t, l))
          if (e >= 0) uses.expert.push_back(e);
      call.end = uses.expert.size();
      uses.calls.push_back(call);
    }
  }
  return uses;
}

class Cache {
 public:
  Cache(const TokenRoutes& routes, const Uses& uses, CachePolicy policy, int64_t budget)
      : routes_(routes), uses_(uses), policy_(policy), budget_(budget) {
    entries_.resize(int64_t{routes.layers} * routes.branches);
    if (policy == CachePolicy::belady) find_next_uses();
  }

  /// Hits and lookups of one call.
  CacheCount run(size_t number) {
    const Call& call = uses_.calls[number];
    CacheCount count;
    for (size_t u = call.first; u < call.end; ++u) {
      const size_t key = key_of(call, u);
      Entry& e = entries_[key];
      if (e.call != static_cast<int64_t>(number)) {
        ++count.lookups;
        count.hits += e.resident;
        e.call = static_cast<int64_t>(number);
      }
      touch(key, u, call);
    }
    evict(static_cast<int64_t>(number));
    return count;
  }

 private:
  struct Entry {
    bool resident = false;
    int64_t call = -1;  // the last one that used it
    int64_t uses = 0;
    std::pair<int64_t, int64_t> priority;  // the smallest goes first
  };

  size_t key_of(const Call& call, size_t use) const {
    return static_cast<size_t>(call.layer) * static_cast<size_t>(routes_.branches) +
           static_cast<size_t>(uses_.expert[use]);
  }

  // [uses] the call that uses the same expert next.
  void find_next_uses() {
    next_.resize(uses_.expert.size());
    std::vector<int64_t> next(entries_.size(), std::numeric_limits<int64_t>::max());
    for (size_t c = uses_.calls.size(); c-- > 0;) {
      const Call& call = uses_.calls[c];
      for (size_t u = call.first; u < call.end; ++u) next_[u] = next[key_of(call, u)];
      for (size_t u = call.first; u < call.end; ++u) next[key_of(call, u)] = static_cast<int64_t>(c);
    }
  }

  void touch(size_t key, size_t use, const Call& call) {
    Entry& e = entries_[key];
    if (e.resident) order_.erase({e.priority, key});
    if (!e.resident) bytes_ += routes_.branch_bytes[call.layer];
    e.resident = true;
    ++e.uses;
    const int64_t now = use;
    e.priority = policy_ == CachePolicy::lru   ? std::pair(now, int64_t{0})
                 : policy_ == CachePolicy::lfu ? std::pair(e.uses, now)
                                               : std::pair(-next_[use], now);
    order_.insert({e.priority, key});
  }

  void evict(int64_t call) {
    for (auto at = order_.begin(); bytes_ > budget_ && at != order_.end();) {
      Entry& e = entries_[at->second];
      if (e.call == call) {
        ++at;
        continue;
      }
      e.resident = false;
      bytes_ -= routes_.branch_bytes[at->second / routes_.branches];
      at = order_.erase(at);
    }
  }

  const TokenRoutes& routes_;
  const Uses& uses_;
  const CachePolicy policy_;
  const int64_t budget_;
  std::vector<Entry> entries_;  // by layer and expert
  std::vector<int64_t> next_;
  std::set<std::pair<std::pair<int64_t, int64_t>, size_t>> order_;  // what is resident, by priority
  int64_t bytes_ = 0;
};

}  // namespace

std::optional<CachePolicy> cache_policy(std::string_view word) {
  return value_of_word<CachePolicy>(kCachePolicies, word);
}

CacheReplay replay_cache(const TokenRoutes& routes, CachePolicy policy, int64_t budget_bytes,
                         const Progress& progress) {
  const Uses uses = uses_of(routes);
  Cache cache(routes, uses, policy, budget_bytes);
  CacheReplay out;
  for (size_t c = 0; c < uses.calls.size(); ++c) {
    if (c % 256 == 0) progress.report("replaying the cache", static_cast<int64_t>(c), std::ssize(uses.calls));
    const CacheCount count = cache.run(c);
    out.all.hits += count.hits, out.all.lookups += count.lookups;
    if (uses.calls[c].decode) out.decode.hits += count.hits, out.decode.lookups += count.lookups;
  }
  return out;
}

}  // namespace stormcell
