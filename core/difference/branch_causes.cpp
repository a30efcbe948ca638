#include "core/difference/branch_causes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/difference/place_causes.h"

namespace stormcell {
namespace {

constexpr double kEveryCell = .98, kFewCells = .5;
constexpr int64_t kFewestCells = 8;

int32_t branches_of(const SampledChoices& sample, const RouterPair& pair) {
  return std::max(sample.index_a->header().routers[pair.a].branches, sample.index_b->header().routers[pair.b].branches);
}

/// How often two branches are chosen for one cell, by a here and by b there.
struct Together {
  explicit Together(int32_t branches)
      : width(branches), both(int64_t{branches} * branches, 0), a(branches, 0), b(branches, 0) {}
  void add(std::span<const int32_t> of_a, std::span<const int32_t> of_b) {
    for (const int32_t x : of_a) {
      ++a[x];
      for (const int32_t y : of_b) ++both[int64_t{x} * width + y];
    }
    for (const int32_t y : of_b) ++b[y];
  }
  double likeness(int32_t x, int32_t y) const {
    const double n = both[int64_t{x} * width + y];
    return n == 0 ? 0 : n / std::sqrt(static_cast<double>(a[x]) * b[y]);
  }
  int32_t width;
  std::vector<int32_t> both, a, b;
};

/// The branch of b for each of a: those that go together most, each once; the same number unless another is clearly
/// better.
std::vector<int32_t> likeliest_permutation(const Together& t) {
  struct Candidate {
    double likeness;
    int32_t a, b;
  };
  constexpr double kClearly = .1, kLeast = .2;
  std::vector<Candidate> candidates;
  for (int32_t x = 0; x < t.width; ++x)
    for (int32_t y = 0; y < t.width; ++y) {
      const double likeness = t.likeness(x, y) + (x == y ? kClearly : 0);
      if (likeness >= kLeast) candidates.push_back({likeness, x, y});
    }
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const Candidate& x, const Candidate& y) { return x.likeness > y.likeness; });
  std::vector<int32_t> image(t.width, -1), taken(t.width, 0);
  for (const Candidate& c : candidates)
    if (image[c.a] < 0 && !taken[c.b]) image[c.a] = c.b, taken[c.b] = 1;
  for (int32_t x = 0; x < t.width; ++x)
    if (image[x] < 0 && !taken[x]) image[x] = x, taken[x] = 1;
  return image;
}

/// Agreement as recorded and under the permutation, of the cells of one parity.
PairedSums permuted_sums(const SampledStack& stack, const RouterPair& pair, const std::vector<int32_t>& image,
                         int64_t parity) {
  PairedSums sums;
  std::vector<int32_t> moved;
  for (int64_t c = parity; c < std::ssize(stack.cells); c += 2) {
    const auto a = stack.a[pair.a].of(c), b = stack.b[pair.b].of(c);
    if (a.empty() || b.empty()) continue;
    moved.clear();
    for (const int32_t x : a) moved.push_back(image[x]);
    sums.add(agreement(a, b), agreement(moved, b));
  }
  return sums;
}

Together counted_together(const SampledStack& stack, const RouterPair& pair, int32_t branches) {
  Together together(branches);
  for (int64_t c = 0; c < std::ssize(stack.cells); c += 2) together.add(stack.a[pair.a].of(c), stack.b[pair.b].of(c));
  return together;
}

std::string permutation_text(const std::vector<int32_t>& image) {
  const auto n = static_cast<int32_t>(image.size());
  std::set<int32_t> shifts;
  std::vector<std::string> moved;
  for (int32_t x = 0; x < n; ++x) {
    if (image[x] < 0) continue;
    shifts.insert((image[x] - x + n) % n);
    if (image[x] != x) moved.push_back(std::to_string(x) + " -> " + std::to_string(image[x]));
  }
  if (shifts.size() == 1 && n > 2)
    return "id of b = (id of a + " + std::to_string(*shifts.begin()) + ") mod " + std::to_string(n);
  return listed(moved, 4);
}

/// Branches that nearly every cell of `often` has, and few of `rarely` have.
std::vector<int32_t> always_chosen(const ChoiceColumn& often, const ChoiceColumn& rarely, int64_t cells,
                                   int32_t branches) {
  std::vector<int64_t> here(branches, 0), there(branches, 0);
  int64_t n = 0, m = 0;
  for (int64_t c = 0; c < cells; ++c) {
    if (often.of(c).empty() || rarely.of(c).empty()) continue;
    ++n, ++m;
    for (const int32_t x : often.of(c)) ++here[x];
    for (const int32_t y : rarely.of(c)) ++there[y];
  }
  std::vector<int32_t> always;
  for (int32_t b = 0; b < branches && n >= kFewestCells; ++b)
    if (static_cast<double>(here[b]) >= kEveryCell * static_cast<double>(n) &&
        static_cast<double>(there[b]) <= kFewCells * static_cast<double>(m))
      always.push_back(b);
  return always;
}

/// The choices without some branches, counted on from 0 if those come first.
void without(std::span<const int32_t> ids, const std::vector<int32_t>& left_out, int32_t shift,
             std::vector<int32_t>& out) {
  out.clear();
  for (const int32_t id : ids)
    if (!std::binary_search(left_out.begin(), left_out.end(), id)) out.push_back(id - shift);
}

/// How many groups of `size` consecutive branches the choices touch.
int32_t groups_touched(std::span<const int32_t> ids, int32_t size) {
  uint64_t seen = 0;
  for (const int32_t id : ids) seen |= uint64_t{1} << std::min(id / size, 63);
  return std::popcount(seen);
}

struct GroupLimit {
  int32_t groups = 0, limit = 0;
  int64_t beyond = 0;        ///< cells of the other one that touch more groups
  int64_t of_differing = 0;  ///< of these, cells whose choices differ and at no earlier router did
};

/// A limit that `confined` keeps and `free` does not. `first`: [cells] the choices differ here first.
std::optional<GroupLimit> group_limit(const ChoiceColumn& confined, const ChoiceColumn& free, int64_t cells,
                                      int32_t branches, const std::vector<uint8_t>& first) {
  std::optional<GroupLimit> best;
  for (int32_t groups = 2; groups <= std::min(branches / 2, 64); ++groups) {
    if (branches % groups) continue;
    const int32_t size = branches / groups;
    int32_t limit = 0;
    int64_t n = 0, k = 0;
    for (int64_t c = 0; c < cells; ++c) {
      if (confined.of(c).empty() || free.of(c).empty()) continue;
      ++n, k = std::max<int64_t>(k, std::ssize(confined.of(c)));
      limit = std::max(limit, groups_touched(confined.of(c), size));
    }
    if (n < kFewestCells || limit >= std::min<int64_t>(groups, k)) continue;
    GroupLimit found{groups, limit, 0, 0};
    for (int64_t c = 0; c < cells; ++c) {
      if (confined.of(c).empty() || groups_touched(free.of(c), size) <= limit) continue;
      ++found.beyond;
      found.of_differing += first[c];
    }
    if (!best || found.of_differing > best->of_differing) best = found;
  }
  return best;
}

/// [cells] 1: the choices of the pair differ, and at no pair before.
std::vector<std::vector<uint8_t>> first_differences(const SampledStack& stack) {
  std::vector<std::vector<uint8_t>> first(stack.pairs.size(), std::vector<uint8_t>(stack.cells.size(), 0));
  for (int64_t c = 0; c < std::ssize(stack.cells); ++c)
    for (size_t p = 0; p < stack.pairs.size(); ++p) {
      const auto a = stack.a[stack.pairs[p].a].of(c), b = stack.b[stack.pairs[p].b].of(c);
      if (a.empty() || b.empty() || agreement(a, b) == 1) continue;
      first[p][c] = 1;
      break;
    }
  return first;
}

}  // namespace

std::optional<FoundCause> find_permuted_ids(const SampledChoices& sample) {
  const double all = disagreement_of(sample);
  if (all <= 0) return std::nullopt;
  double gained = 0;
  int64_t routers = 0;
  std::string example;
  for (const SampledStack& stack : sample.stacks) {
    // Ranks permute all routers alike; few cells show that only together.
    std::optional<Together> pooled;
    for (const RouterPair& pair : stack.pairs) {
      const int32_t branches = branches_of(sample, pair);
      if (!pooled) pooled.emplace(branches);
      if (pooled->width != branches || branches > 2048) continue;
      const Together one = counted_together(stack, pair, branches);
      for (size_t i = 0; i < one.both.size(); ++i) pooled->both[i] += one.both[i];
      for (int32_t b = 0; b < branches; ++b) pooled->a[b] += one.a[b], pooled->b[b] += one.b[b];
    }
    const std::vector<int32_t> for_all = pooled ? likeliest_permutation(*pooled) : std::vector<int32_t>();
    for (const RouterPair& pair : stack.pairs) {
      const int32_t branches = branches_of(sample, pair);
      if (branches < 2 || branches > 2048) continue;
      std::vector<int32_t> image = likeliest_permutation(counted_together(stack, pair, branches));
      PairedSums sums = permuted_sums(stack, pair, image, 1);
      if (std::ssize(for_all) == branches)
        if (const PairedSums other = permuted_sums(stack, pair, for_all, 1); other.gain >= sums.gain)
          sums = other, image = for_all;
      constexpr double kOnOtherCells = 3.5;  // these were not fitted to
      if (sums.n < kFewestCells / 2 || sums.explained() < kExplainedPart || sums.z() < kOnOtherCells) continue;
      gained += sums.gain * 2;  // one half of the cells was fitted to
      if (routers++ == 0) example = sample.index_b->header().routers[pair.b].name + ": " + permutation_text(image);
    }
  }
  if (routers == 0 || gained / all < kExplainedPart) return std::nullopt;
  return FoundCause{DiffCause::ids_permuted, std::min(1.0, gained / all),
                    "branches of " + counted(routers, "router") + " have other numbers in b (" + example + ")"};
}

std::optional<FoundCause> find_shared_experts(const SampledChoices& sample) {
  PairedSums sums;
  int64_t routers = 0;
  std::set<std::string> which;
  bool in_b = true;
  for (const SampledStack& stack : sample.stacks) {
    const int64_t cells = std::ssize(stack.cells);
    std::vector<int32_t> rest;
    for (const RouterPair& pair : stack.pairs) {
      const int32_t branches = branches_of(sample, pair);
      const ChoiceColumn &a = stack.a[pair.a], &b = stack.b[pair.b];
      std::vector<int32_t> always = always_chosen(b, a, cells, branches);
      const bool of_b = !always.empty();
      if (!of_b) always = always_chosen(a, b, cells, branches);
      if (always.empty()) continue;
      PairedSums here;
      // Shared experts that come first move the numbers of the others.
      for (const int32_t shift : {0, static_cast<int32_t>(always.size())}) {
        if (shift > 0 && always.back() + 1 != shift) continue;
        PairedSums moved;
        for (int64_t c = 0; c < cells; ++c) {
          if (a.of(c).empty() || b.of(c).empty()) continue;
          without(of_b ? b.of(c) : a.of(c), always, shift, rest);
          moved.add(agreement(a.of(c), b.of(c)), agreement(rest, of_b ? a.of(c) : b.of(c)));
        }
        if (moved.supposed > here.supposed) here = moved;
      }
      if (here.supposed < kExplainedPart * static_cast<double>(here.n)) continue;
      ++routers, in_b = of_b;
      for (const int32_t branch : always) which.insert(std::to_string(branch));
      sums.n += here.n, sums.as_is += here.as_is, sums.supposed += here.supposed;
    }
  }
  if (routers == 0) return std::nullopt;
  return FoundCause{DiffCause::shared_experts, sums.supposed / static_cast<double>(sums.n),
                    "in " + std::string(in_b ? "b" : "a") + " every cell of " + counted(routers, "router") +
                        " has branch " + listed(which, 4) + ", and few have it in " + (in_b ? "a" : "b") +
                        "; the other choices agree"};
}

std::optional<FoundCause> find_other_k(const SampledChoices& sample) {
  std::map<std::pair<int64_t, int64_t>, int64_t> sizes;
  int64_t cells = 0, unlike = 0, within = 0;
  for (const SampledStack& stack : sample.stacks)
    for (const RouterPair& pair : stack.pairs)
      for (int64_t c = 0; c < std::ssize(stack.cells); ++c) {
        const auto a = stack.a[pair.a].of(c), b = stack.b[pair.b].of(c);
        if (a.empty() || b.empty()) continue;
        ++cells;
        if (a.size() == b.size()) continue;
        ++unlike;
        ++sizes[{std::ssize(a), std::ssize(b)}];
        within += agreement(a, b) == 1;
      }
  // A fixed k is that of all cells of a router; a rule by thresholds changes single cells.
  constexpr double kRouters = .01;
  if (unlike == 0 || static_cast<double>(unlike) < kRouters * static_cast<double>(cells)) return std::nullopt;
  const auto most =
      std::max_element(sizes.begin(), sizes.end(), [](const auto& x, const auto& y) { return x.second < y.second; });
  const double share = static_cast<double>(within) / static_cast<double>(unlike);
  return FoundCause{DiffCause::other_k, share,
                    "cells have " + std::to_string(most->first.first) + " choices in a and " +
                        std::to_string(most->first.second) + " in b; of " + with_commas(unlike) +
                        " such choices of cells " + with_commas(within) + " have the fewer among the more"};
}

std::optional<FoundCause> find_ignored_groups(const SampledChoices& sample) {
  int64_t differing = 0, explained = 0, beyond = 0, routers = 0;
  GroupLimit example;
  bool in_b = true;
  for (const SampledStack& stack : sample.stacks) {
    const std::vector<std::vector<uint8_t>> first = first_differences(stack);
    const int64_t cells = std::ssize(stack.cells);
    for (size_t p = 0; p < stack.pairs.size(); ++p) {
      const RouterPair& pair = stack.pairs[p];
      const int64_t here = std::accumulate(first[p].begin(), first[p].end(), int64_t{0});
      differing += here;
      if (here == 0) continue;
      const int32_t branches = branches_of(sample, pair);
      const auto of_b = group_limit(stack.a[pair.a], stack.b[pair.b], cells, branches, first[p]),
                 of_a = group_limit(stack.b[pair.b], stack.a[pair.a], cells, branches, first[p]);
      const bool b_is_free = !of_a || (of_b && of_b->of_differing >= of_a->of_differing);
      const std::optional<GroupLimit>& best = b_is_free ? of_b : of_a;
      if (!best || best->of_differing == 0) continue;
      explained += best->of_differing, beyond += best->beyond;
      if (routers++ == 0) example = *best, in_b = b_is_free;
    }
  }
  constexpr int64_t kFewest = 5;
  const double share = differing > 0 ? static_cast<double>(explained) / static_cast<double>(differing) : 0;
  if (explained < kFewest || share < kExplainedPart) return std::nullopt;
  const std::string free = in_b ? "b" : "a", confined = in_b ? "a" : "b";
  return FoundCause{DiffCause::groups_ignored, share,
                    "choices of " + confined + " stay within " + std::to_string(example.limit) + " of " +
                        std::to_string(example.groups) + " groups of branches, those of " + free + " do not in " +
                        counted(beyond, "cell") + " of " + counted(routers, "router")};
}

}  // namespace stormcell
