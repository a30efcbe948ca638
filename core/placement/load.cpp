#include "core/placement/load.h"

#include <algorithm>
#include <random>

namespace stormcell {
namespace {

/// One layer; loads of ranks are kept.
class LayerLoad {
 public:
  LayerLoad(const std::vector<double>& load, int32_t ranks, LayerSlots& slots)
      : load_(load),
        slots_(slots),
        slots_per_rank_(slots.size() / static_cast<size_t>(ranks)),
        replicas_(replicas_of(slots, static_cast<int32_t>(load.size()))) {
    of_rank_ = loads_of_ranks(slots, ranks, load);
  }

  /// Swaps slots of two ranks, unless a branch would be twice on one of them.
  void swap(size_t s, size_t other) {
    if (s / slots_per_rank_ == other / slots_per_rank_ || holds(other / slots_per_rank_, slots_[s]) ||
        holds(s / slots_per_rank_, slots_[other]))
      return;
    std::swap(slots_[s], slots_[other]);
    of_rank_ = loads_of_ranks(slots_, static_cast<int32_t>(of_rank_.size()), load_);
  }

  /// Takes the best move away from the most loaded rank; false: none makes the largest load smaller.
  bool mend() {
    const size_t most = std::max_element(of_rank_.begin(), of_rank_.end()) - of_rank_.begin();
    Move best{0, 0, false, of_rank_[most] * (1 - 1e-12)};
    for (size_t s = most * slots_per_rank_; s < (most + 1) * slots_per_rank_; ++s)
      for (size_t other = 0; other < slots_.size(); ++other) {
        if (other / slots_per_rank_ == most) continue;
        try_swap(s, other, best);
        try_replica(s, other, best);
      }
    if (best.slot == best.other) return false;
    const int32_t here = slots_[best.slot], there = slots_[best.other];
    if (best.replica)
      --replicas_[index(there)], ++replicas_[index(here)];
    else
      slots_[best.slot] = there;
    slots_[best.other] = here;
    of_rank_ = loads_of_ranks(slots_, static_cast<int32_t>(of_rank_.size()), load_);
    return true;
  }

 private:
  struct Move {
    size_t slot, other;
    bool replica;
    double largest;  // largest load of the ranks that change
  };
  static size_t index(int32_t branch) { return static_cast<size_t>(branch); }
  double part(int32_t branch) const { return load_[index(branch)] / replicas_[index(branch)]; }
  bool holds(size_t rank, int32_t branch) const {
    const auto begin = slots_.begin() + rank * slots_per_rank_;
    return std::find(begin, begin + static_cast<std::ptrdiff_t>(slots_per_rank_), branch) !=
           begin + static_cast<std::ptrdiff_t>(slots_per_rank_);
  }

  void try_swap(size_t s, size_t other, Move& best) const {
    const int32_t a = slots_[s], b = slots_[other];
    const size_t x = s / slots_per_rank_, y = other / slots_per_rank_;
    const double less = part(a) - part(b);
    if (less <= 0) return;
    const double largest = std::max(of_rank_[x] - less, of_rank_[y] + less);
    if (largest >= best.largest || holds(y, a) || holds(x, b)) return;
    best = {s, other, false, largest};
  }

  /// One replica more of what s holds, in place of one of several of another branch.
  void try_replica(size_t s, size_t other, Move& best) const {
    const int32_t a = slots_[s], b = slots_[other];
    if (a == b || replicas_[index(b)] == 1 || holds(other / slots_per_rank_, a)) return;
    const double na = replicas_[index(a)], nb = replicas_[index(b)];
    const double a_less = load_[index(a)] / na - load_[index(a)] / (na + 1),
                 b_more = load_[index(b)] / (nb - 1) - load_[index(b)] / nb;
    double largest = 0;
    for (size_t r = 0; r < of_rank_.size(); ++r) {
      double load = of_rank_[r];
      if (holds(r, a)) load -= a_less;
      if (r == other / slots_per_rank_)
        load += load_[index(a)] / (na + 1) - load_[index(b)] / nb;
      else if (holds(r, b))
        load += b_more;
      largest = std::max(largest, load);
      if (largest >= best.largest) return;
    }
    best = {s, other, true, largest};
  }

  const std::vector<double>& load_;
  LayerSlots& slots_;
  const size_t slots_per_rank_;
  std::vector<int32_t> replicas_;
  std::vector<double> of_rank_;
};

}  // namespace

Placement load_placement(const LayerLoads& loads, const Placement& start, const Progress& progress) {
  // A few random swaps and mending again may help where no single move does.
  constexpr int kKicks = 12, kSwaps = 3;
  Placement out = start;
  std::mt19937 random(1);
  for (size_t l = 0; l < out.layers.size(); ++l) {
    progress.report("placing by load", static_cast<int64_t>(l), std::ssize(out.layers));
    const auto mended = [&](LayerSlots slots, int swaps) {
      LayerLoad layer(loads[l], out.ranks, slots);
      for (int i = 0; i < swaps; ++i) layer.swap(random() % slots.size(), random() % slots.size());
      // Each move makes the largest load smaller, or the number of ranks that have it.
      for (size_t moves = 0; moves < 8 * slots.size() && layer.mend(); ++moves) progress.cancel.check();
      return slots;
    };
    const auto largest = [&](const LayerSlots& slots) {
      return std::ranges::max(loads_of_ranks(slots, out.ranks, loads[l]));
    };
    out.layers[l] = mended(out.layers[l], 0);
    for (int kick = 0; kick < kKicks; ++kick)
      if (LayerSlots other = mended(out.layers[l], kSwaps); largest(other) < largest(out.layers[l]))
        out.layers[l] = std::move(other);
  }
  return out;
}

void spread_idle_replicas(const LayerLoads& loads, Placement& placement) {
  const size_t slots_per_rank = placement.slots_of_rank();
  for (size_t l = 0; l < placement.layers.size(); ++l) {
    LayerSlots& slots = placement.layers[l];
    std::vector<int32_t> replicas = replicas_of(slots, placement.branches);
    for (size_t s = 0; s < slots.size(); ++s) {
      const auto rank_begin = slots.begin() + (s - s % slots_per_rank),
                 rank_end = rank_begin + static_cast<std::ptrdiff_t>(slots_per_rank);
      if (std::count(rank_begin, rank_end, slots[s]) < 2) continue;
      int32_t best = -1;
      const auto per_replica = [&](int32_t b) { return loads[l][b] / replicas[b]; };
      for (int32_t b = 0; b < placement.branches; ++b)
        if (std::find(rank_begin, rank_end, b) == rank_end && (best < 0 || per_replica(b) > per_replica(best)))
          best = b;
      if (best < 0) continue;
      --replicas[slots[s]], ++replicas[best];
      slots[s] = best;
    }
  }
}

}  // namespace stormcell
