// Maps of all branches of a router on one line: threads share the line out, whatever branches the maps are of.
#pragma once
#include <algorithm>
#include <cstdint>

namespace stormcell::cpu {

/// Maps and weights of the branches. Slots of branch b are [offsets[b], offsets[b + 1]).
template <class Weights>
struct GroupedMaps {
  const float* x = nullptr;
  const int32_t* map_of_slot = nullptr;  ///< slot s reads map map_of_slot[s] of x; null: map s
  const int32_t* offsets = nullptr;      ///< [branches + 1], ascending, begins at 0
  int32_t branches = 0;
  const Weights* const* weights = nullptr;  ///< [branches]; null: an absent branch, its slots are left untouched
  const float* const* biases = nullptr;     ///< [branches] of [channels] or null; null: none

  int64_t maps(int32_t branch) const { return weights[branch] ? offsets[branch + 1] - offsets[branch] : 0; }
  int64_t maps() const {
    int64_t all = 0;
    for (int32_t b = 0; b < branches; ++b) all += maps(b);
    return all;
  }
  /// The map that a slot reads, of so many floats.
  const float* map(int64_t slot, int64_t floats) const { return x + (map_of_slot ? map_of_slot[slot] : slot) * floats; }
  const float* bias(int32_t branch) const { return biases ? biases[branch] : nullptr; }
};

/// visit(branch, slot, part) for the units [begin, end) of the line, on which each map of a present branch has `parts`
/// of them.
template <class Weights, class Visit>
void for_each_unit(const GroupedMaps<Weights>& maps, int64_t parts, int64_t begin, int64_t end, Visit&& visit) {
  int64_t first = 0;
  for (int32_t b = 0; b < maps.branches && first < end; ++b) {
    const int64_t units = maps.maps(b) * parts, last = std::min(units, end - first);
    for (int64_t u = std::max<int64_t>(begin - first, 0); u < last; ++u)
      visit(b, maps.offsets[b] + u / parts, u % parts);
    first += units;
  }
}

/// `count` maps that lie one after the other, as those of one branch.
template <class Weights>
struct OneBranch {
  int32_t offsets[2];
  const Weights* weights[1];
  const float* biases[1];
  GroupedMaps<Weights> maps;
  OneBranch(const float* x, int64_t count, const Weights* of_all, const float* bias)
      : offsets{0, static_cast<int32_t>(count)}, weights{of_all}, biases{bias}, maps{x, nullptr, offsets,
                                                                                     1, weights, biases} {}
  OneBranch(const OneBranch&) = delete;
  OneBranch& operator=(const OneBranch&) = delete;
};

}  // namespace stormcell::cpu
