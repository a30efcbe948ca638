#include "core/placement/cost_search.h"

#include <algorithm>
#include <cmath>
#include <random>

namespace stormcell {
namespace {

class CostSearch {
 public:
  CostSearch(const CostAim& aim, const CostSearchOptions& options, PlacedSteps& placed)
      : aim_(aim),
        options_(options),
        placed_(placed),
        random_(options.seed),
        layers_(placed.placement().layers.size()),
        slot_count_(static_cast<size_t>(placed.placement().slot_count())),
        branches_(static_cast<size_t>(placed.placement().branches)) {
    find_before();
  }

  void run(const Progress& progress) {
    // A fifth of the proposals at the end takes gains alone.
    constexpr double kCold = 0.01, kAnnealed = 0.8;  // shares of the heat at the start
    const Placement start = placed_.placement();
    const double start_cost = cost();
    const double scale = usual_change();
    for (int64_t i = 0; i < options_.proposals && !options_.time.over(); ++i) {
      if (i % 256 == 0) progress.report("costing placements", i, options_.proposals), done_ = share_done(i);
      const double heat = done_ < kAnnealed ? scale * options_.heat * std::pow(kCold, done_ / kAnnealed) : 0;
      propose(heat);
    }
    if (cost() > start_cost)
      for (size_t l = 0; l < layers_; ++l) placed_.set_layer(l, start.layers[l]);
  }

 private:
  double share_done(int64_t i) const { return options_.time.cooled(static_cast<double>(i) / options_.proposals); }

  double cost() const {
    return (aim_.p95 ? placed_.p95_s() : placed_.mean_s()) + aim_.move_s * static_cast<double>(moved_);
  }

  void find_before() {
    if (aim_.move_s <= 0) return;
    was_.assign(layers_ * slot_count_ / slots_per_rank() * branches_, 0);
    for (size_t l = 0; l < layers_; ++l)
      for (size_t s = 0; s < slot_count_; ++s) was_[at(l, s, aim_.before.layers[l][s])] = 1;
    for (size_t l = 0; l < layers_; ++l)
      for (size_t s = 0; s < slot_count_; ++s) moved_ += moves(l, s, placed_.placement().layers[l][s]);
  }
  size_t slots_per_rank() const { return static_cast<size_t>(placed_.placement().slots_of_rank()); }
  size_t at(size_t l, size_t slot, size_t branch) const {
    return (l * (slot_count_ / slots_per_rank()) + placed_.rank_of(slot)) * branches_ + branch;
  }
  /// 1 where the slot's rank did not hold the branch before.
  int64_t moves(size_t l, size_t slot, int32_t branch) const {
    return was_.empty() ? 0 : 1 - was_[at(l, slot, branch)];
  }

  /// Draws moves, takes each back: the scale of heat.
  double usual_change() {
    constexpr int kDrawn = 200;
    double all = 0;
    int counted = 0;
    for (int i = 0; i < kDrawn; ++i) {
      const size_t l = random_() % layers_, s = random_() % slot_count_, other = random_() % slot_count_;
      if (!placed_.may_swap(l, s, other)) continue;
      const double before = cost();
      placed_.swap(l, s, other);
      all += std::abs(cost() - before), ++counted;
      placed_.swap(l, s, other);
    }
    return counted > 0 ? all / counted : 0;
  }

  bool accepted(double more, double heat) {
    return more < 0 || (heat > 0 && std::exp(-more / heat) * 4294967296. >= static_cast<double>(random_()));
  }

  void propose(double heat) {
    const size_t l = random_() % layers_;
    // Half of the moves begin at who is slowest, and a replica's at what it holds: the cost of a layer is a largest
    // value.
    const bool aimed = random_() % 2 != 0;
    const size_t slot =
        aimed ? placed_.slowest_rank(random_() % placed_.steps(), l) * slots_per_rank() + random_() % slots_per_rank()
              : random_() % slot_count_;
    if (aimed && slot_count_ > branches_ && random_() % 2) {
      propose_replica(l, placed_.placement().layers[l][slot], random_() % slot_count_, heat);
      return;
    }
    if (slot_count_ > branches_ && random_() % 2)
      propose_replica(l, static_cast<int32_t>(random_() % branches_), slot, heat);
    else
      propose_swap(l, slot, random_() % slot_count_, heat);
  }

  void propose_swap(size_t l, size_t slot, size_t other, double heat) {
    if (!placed_.may_swap(l, slot, other)) return;
    const LayerSlots& slots = placed_.placement().layers[l];
    const double before = cost();
    const int64_t moved = moves(l, slot, slots[other]) + moves(l, other, slots[slot]) - moves(l, slot, slots[slot]) -
                          moves(l, other, slots[other]);
    placed_.swap(l, slot, other);
    moved_ += moved;
    if (accepted(cost() - before, heat)) return;
    placed_.swap(l, slot, other);
    moved_ -= moved;
  }

  void propose_replica(size_t l, int32_t branch, size_t slot, double heat) {
    const int32_t old = placed_.placement().layers[l][slot];
    if (!placed_.may_replicate(l, branch, slot)) return;
    const double before = cost();
    const int64_t moved = moves(l, slot, branch) - moves(l, slot, old);
    placed_.replicate(l, branch, slot);
    moved_ += moved;
    if (accepted(cost() - before, heat)) return;
    placed_.replicate(l, old, slot);
    moved_ -= moved;
  }

  const CostAim& aim_;
  const CostSearchOptions& options_;
  PlacedSteps& placed_;
  std::mt19937 random_;
  const size_t layers_, slot_count_, branches_;
  std::vector<uint8_t> was_;  // [layers, ranks, branches] held before
  int64_t moved_ = 0;
  double done_ = 0;
};

}  // namespace

double cost_of(const CostAim& aim, const PlacedSteps& placed) {
  const double step_s = aim.p95 ? placed.p95_s() : placed.mean_s();
  return aim.move_s > 0 ? step_s + aim.move_s * static_cast<double>(moved_slots(aim.before, placed.placement()))
                        : step_s;
}

void make_cheaper(const CostAim& aim, const CostSearchOptions& options, PlacedSteps& placed, const Progress& progress) {
  if (placed.placement().ranks > 1 && options.proposals > 0) CostSearch(aim, options, placed).run(progress);
}

}  // namespace stormcell
