#include "core/profile/cache_replay.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "core/base/enum_words.h"

namespace stormcell {
namespace {

/// One layer of one step: [first, end) of the uses.
struct Call {
  int32_t layer = 0;
  bool decode = false;
  int64_t tokens = 0;
  size_t first = 0, end = 0;
};

/// All uses in their order; an expert that two tokens of a call use is there twice.
struct Uses {
  std::vector<Call> calls;
  std::vector<int32_t> expert;
  std::vector<int64_t> next;  // the call that uses the same expert next; empty unless Belady's policy asks for it
};

Uses uses_of(const TokenRoutes& routes) {
  Uses uses;
  for (size_t first = 0, end = 0; first < routes.size(); first = end) {
    while (end < routes.size() && routes.tokens[end].step == routes.tokens[first].step) ++end;
    for (int32_t l = 0; l < routes.layers; ++l) {
      Call call{l, routes.tokens[first].phase == Phase::decode, static_cast<int64_t>(end - first), uses.expert.size(),
                0};
      for (size_t t = first; t < end; ++t)
        for (const int32_t e : routes.at(t, l))
          if (e >= 0) uses.expert.push_back(e);
      call.end = uses.expert.size();
      uses.calls.push_back(call);
    }
  }
  return uses;
}

int64_t experts_of(const TokenRoutes& routes) { return int64_t{routes.layers} * routes.branches; }
int64_t key_of(const TokenRoutes& routes, const Call& call, int32_t expert) {
  return int64_t{call.layer} * routes.branches + expert;
}

void find_next_uses(const TokenRoutes& routes, Uses& uses) {
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  uses.next.resize(uses.expert.size());
  std::vector<int64_t> next(experts_of(routes), kNever);
  for (size_t c = uses.calls.size(); c-- > 0;) {
    const Call& call = uses.calls[c];
    for (size_t u = call.first; u < call.end; ++u) uses.next[u] = next[key_of(routes, call, uses.expert[u])];
    for (size_t u = call.first; u < call.end; ++u) next[key_of(routes, call, uses.expert[u])] = static_cast<int64_t>(c);
  }
}

class Cache {
 public:
  Cache(const TokenRoutes& routes, const Uses& uses, const CacheCase& kind)
      : routes_(routes), uses_(uses), policy_(kind.policy), budget_(kind.budget_bytes), entries_(experts_of(routes)) {
    if (policy_ == CachePolicy::wait)
      chance_.resize(entries_.size()), longest_.resize(routes.layers, kUnknown);
  }

  /// Hits and lookups of one call.
  CacheCount run(size_t number) {
    const Call& call = uses_.calls[number];
    const int64_t bytes = routes_.branch_bytes[call.layer];
    CacheCount count;
    for (size_t u = call.first; u < call.end; ++u) {
      const int64_t key = key_of(routes_, call, uses_.expert[u]);
      Entry& e = entries_[key];
      if (e.call != static_cast<int64_t>(number)) {
        ++count.lookups;
        if (e.resident)
          ++count.hits;
        else
          count.missed_bytes += bytes;
        e.call = static_cast<int64_t>(number);
      }
      if (!e.resident) bytes_ += bytes;
      touch(e, key, u);
    }
    if (policy_ == CachePolicy::wait)
      evict_by_wait(static_cast<int64_t>(number));
    else
      evict(static_cast<int64_t>(number));
    return count;
  }

 private:
  using Priority = std::pair<int64_t, int64_t>;  // the smallest goes first; no two are equal
  struct Entry {
    bool resident = false;
    int64_t call = -1;  // the last one that used it
    int64_t uses = 0;
    Priority priority;
  };
  /// An entry of the heap. It is stale if its expert was used again or has gone: to find and take out the older one
  /// at each use took most of the time.
  struct Place {
    Priority priority;
    int64_t key = 0;
    bool operator>(const Place& other) const { return priority > other.priority; }
  };

  bool is_stale(const Place& place) const {
    const Entry& e = entries_[place.key];
    return !e.resident || e.priority != place.priority;
  }

  void touch(Entry& e, int64_t key, size_t use) {
    e.resident = true;
    ++e.uses;
    const auto now = static_cast<int64_t>(use);
    if (policy_ == CachePolicy::wait) {
      e.priority = {now, 0};
      return;
    }
    e.priority = policy_ == CachePolicy::lru   ? Priority(now, 0)
                 : policy_ == CachePolicy::lfu ? Priority(e.uses, now)
                                               : Priority(-uses_.next[use], now);
    add({e.priority, key});
    if (places_.size() <= 4 * entries_.size()) return;
    std::erase_if(places_, [this](const Place& p) { return is_stale(p); });
    std::make_heap(places_.begin(), places_.end(), std::greater<>());
  }

  void add(const Place& place) {
    places_.push_back(place);
    std::push_heap(places_.begin(), places_.end(), std::greater<>());
  }

  void evict(int64_t call) {
    std::vector<Place> kept;  // those of this call
    while (bytes_ > budget_ && !places_.empty()) {
      std::pop_heap(places_.begin(), places_.end(), std::greater<>());
      const Place place = places_.back();
      places_.pop_back();
      if (is_stale(place)) continue;
      Entry& e = entries_[place.key];
      if (e.call == call) {
        kept.push_back(place);
        continue;
      }
      e.resident = false;
      bytes_ -= routes_.branch_bytes[place.key / routes_.branches];
    }
    for (const Place& place : kept) add(place);
  }

  double wait_of(int64_t key, int32_t running) const {
    const auto layer = static_cast<int32_t>(key / routes_.branches);
    const int32_t layers_until = (layer - running - 1 + routes_.layers) % routes_.layers;
    constexpr double kLeastChance = .001;
    return static_cast<double>(layers_until) / routes_.layers + 1 / std::max(chance_[key], kLeastChance) - 1;
  }

  /// Whether `a` goes before `b`.
  bool waits_longer(int64_t a, int64_t b, int32_t running) const {
    const double of_a = wait_of(a, running), of_b = wait_of(b, running);
    return of_a != of_b ? of_a > of_b : entries_[a].priority < entries_[b].priority;
  }

  /// Of a layer's resident experts that this call does not use, the one that waits longest; kNone if there is none.
  int64_t longest_of_layer(int32_t layer, int64_t call, int32_t running) const {
    int64_t longest = kNone;
    for (int64_t key = int64_t{layer} * routes_.branches; key < (int64_t{layer} + 1) * routes_.branches; ++key)
      if (entries_[key].resident && entries_[key].call != call &&
          (longest == kNone || waits_longer(key, longest, running)))
        longest = key;
    return longest;
  }

  void evict_by_wait(int64_t call) {
    const int32_t running = uses_.calls[call].layer;
    constexpr double kKept = .93;
    for (int64_t key = int64_t{running} * routes_.branches; key < (int64_t{running} + 1) * routes_.branches; ++key)
      chance_[key] = kKept * chance_[key] + (entries_[key].call == call ? 1 - kKept : 0);
    // Within a layer the order of waits changes only at its visits, and what the call before used may go now.
    longest_[running] = kUnknown;
    if (call > 0) longest_[uses_.calls[call - 1].layer] = kUnknown;
    while (bytes_ > budget_) {
      int64_t victim = kNone;
      for (int32_t layer = 0; layer < routes_.layers; ++layer) {
        int64_t& longest = longest_[layer];
        if (longest == kUnknown) longest = longest_of_layer(layer, call, running);
        if (longest != kNone && (victim == kNone || waits_longer(longest, victim, running))) victim = longest;
      }
      if (victim == kNone) return;
      entries_[victim].resident = false;
      longest_[victim / routes_.branches] = kUnknown;
      bytes_ -= routes_.branch_bytes[victim / routes_.branches];
    }
  }

  static constexpr int64_t kNone = -1, kUnknown = -2;
  const TokenRoutes& routes_;
  const Uses& uses_;
  const CachePolicy policy_;
  const int64_t budget_;
  std::vector<Entry> entries_;  // by layer and expert
  std::vector<Place> places_;   // a heap of all that is resident
  std::vector<double> chance_;    // of `wait`, by layer and expert: that a visit of the layer uses it
  std::vector<int64_t> longest_;  // of `wait`, by layer: who goes next, kNone or kUnknown
  int64_t bytes_ = 0;
};

void add_to(CacheCount& sum, const CacheCount& count) {
  sum.hits += count.hits, sum.lookups += count.lookups, sum.missed_bytes += count.missed_bytes;
}

}  // namespace

std::optional<CachePolicy> cache_policy(std::string_view word) {
  return value_of_word<CachePolicy>(kCachePolicies, word);
}

std::vector<CacheReplay> replay_caches(const TokenRoutes& routes, const std::vector<CacheCase>& cases,
                                       const Progress& progress) {
  constexpr int64_t kPollEvery = 256;
  Uses uses = uses_of(routes);
  if (std::any_of(cases.begin(), cases.end(), [](const CacheCase& c) { return c.policy == CachePolicy::belady; }))
    find_next_uses(routes, uses);
  const int64_t all = std::ssize(uses.calls) * std::ssize(cases);
  int64_t done = 0;
  std::vector<CacheReplay> replays;
  for (const CacheCase& kind : cases) {
    Cache cache(routes, uses, kind);
    CacheReplay& replay = replays.emplace_back();
    for (size_t c = 0; c < uses.calls.size(); ++c) {
      if (done++ % kPollEvery == 0) progress.report("replaying the cache", done, all);
      const CacheCount count = cache.run(c);
      add_to(replay.all, count);
      if (uses.calls[c].decode) add_to(replay.decode, count);
    }
  }
  return replays;
}

CacheReplay replay_cache(const TokenRoutes& routes, CachePolicy policy, int64_t budget_bytes,
                         const Progress& progress) {
  return replay_caches(routes, {{policy, budget_bytes}}, progress)[0];
}

CacheDemand cache_demand(const TokenRoutes& routes) {
  CacheDemand demand;
  const Uses uses = uses_of(routes);
  demand.decode = std::any_of(uses.calls.begin(), uses.calls.end(), [](const Call& c) { return c.decode; });
  std::vector<int64_t> last(experts_of(routes), -1);  // the call that used it last
  std::vector<int64_t> of_steps;
  for (size_t c = 0; c < uses.calls.size(); ++c) {
    const Call& call = uses.calls[c];
    const int64_t bytes = routes.branch_bytes[call.layer];
    const bool judged = !demand.decode || call.decode;
    if (judged && call.layer == 0) of_steps.push_back(0), demand.tokens += call.tokens;
    for (size_t u = call.first; u < call.end; ++u) {
      int64_t& before = last[key_of(routes, call, uses.expert[u])];
      if (before == static_cast<int64_t>(c)) continue;
      if (before < 0) demand.used_bytes += bytes;
      before = static_cast<int64_t>(c);
      if (judged) of_steps.back() += bytes;
    }
  }
  demand.steps = std::ssize(of_steps);
  for (const int64_t bytes : of_steps) demand.bytes += bytes;
  if (of_steps.empty()) return demand;
  const auto middle = of_steps.begin() + std::ssize(of_steps) / 2;
  std::nth_element(of_steps.begin(), middle, of_steps.end());
  demand.step_bytes = *middle;
  return demand;
}

}  // namespace stormcell
