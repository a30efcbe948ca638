#include "core/profile/reuse.h"

#include <algorithm>

namespace stormcell {
namespace {

/// Marks at places, counted in ranges (a Fenwick tree): each mark is the last use of one expert so far.
class Marks {
 public:
  explicit Marks(size_t places) : tree_(places + 1) {}
  void add(size_t place, int32_t change) {
    for (size_t i = place + 1; i < tree_.size(); i += i & (~i + 1)) tree_[i] += change;
  }
  /// Marks before `place`.
  int64_t before(size_t place) const {
    int64_t sum = 0;
    for (size_t i = place; i > 0; i &= i - 1) sum += tree_[i];
    return sum;
  }

 private:
  std::vector<int32_t> tree_;
};

/// (layer, expert) in the order in which they are looked up.
std::vector<size_t> lookups_of(const TokenRoutes& routes) {
  const bool decodes =
      std::any_of(routes.tokens.begin(), routes.tokens.end(), [](const auto& t) { return t.phase == Phase::decode; });
  const size_t branches = routes.branches;
  std::vector<size_t> keys;
  std::vector<int64_t> seen(routes.layers * branches, -1);  // the step that looked it up
  for (size_t first = 0, end = 0; first < routes.size(); first = end) {
    const int64_t step = routes.tokens[first].step;
    while (end < routes.size() && routes.tokens[end].step == step) ++end;
    if (decodes && routes.tokens[first].phase != Phase::decode) continue;
    for (int32_t l = 0; l < routes.layers; ++l)
      for (size_t t = first; t < end; ++t)
        for (const int32_t e : routes.at(t, l)) {
          if (e < 0) continue;
          const size_t key = static_cast<size_t>(l) * branches + static_cast<size_t>(e);
          if (seen[key] == step) continue;
          seen[key] = step;
          keys.push_back(key);
        }
  }
  return keys;
}

}  // namespace

ReuseDistance reuse_distance(const TokenRoutes& routes, const Progress& progress) {
  constexpr size_t kPollEvery = 1 << 14;
  const std::vector<size_t> keys = lookups_of(routes);
  constexpr size_t kNever = SIZE_MAX;
  std::vector<size_t> last(int64_t{routes.layers} * routes.branches, kNever);
  std::vector<int64_t> distances;
  Marks marks(keys.size());
  ReuseDistance out;
  out.lookups = std::ssize(keys);
  for (size_t i = 0; i < keys.size(); ++i) {
    if (i % kPollEvery == 0) progress.report("looking at uses", static_cast<int64_t>(i), out.lookups);
    size_t& before = last[keys[i]];
    if (before == kNever) {
      ++out.first_uses;
    } else {
      distances.push_back(marks.before(i) - marks.before(before + 1));
      marks.add(before, -1);
    }
    marks.add(i, 1);
    before = i;
  }
  if (distances.empty()) return out;
  std::sort(distances.begin(), distances.end());
  const auto at = [&](double share) {
    return distances[static_cast<size_t>(share * static_cast<double>(distances.size() - 1))];
  };
  out.p50 = at(.5), out.p90 = at(.9), out.p99 = at(.99);
  return out;
}

}  // namespace stormcell
