#include "core/placement/exact.h"

#include <algorithm>
#include <limits>

namespace stormcell {
namespace {

/// [arrangements][branches] the rank of each.
using Ranks = std::vector<uint8_t>;

void arrange(std::vector<int32_t>& room, Ranks& so_far, size_t branches, std::vector<Ranks>& out) {
  if (so_far.size() == branches) {
    out.push_back(so_far);
    return;
  }
  for (size_t r = 0; r < room.size(); ++r) {
    if (room[r] == 0) continue;
    --room[r], so_far.push_back(static_cast<uint8_t>(r));
    arrange(room, so_far, branches, out);
    ++room[r], so_far.pop_back();
  }
}

LayerSlots slots_of(const Ranks& of, size_t ranks) {
  LayerSlots slots;
  for (size_t r = 0; r < ranks; ++r)
    for (size_t b = 0; b < of.size(); ++b)
      if (of[b] == r) slots.push_back(static_cast<int32_t>(b));
  return slots;
}

class LayerByLayer {
 public:
  LayerByLayer(const ExactAim& aim, int32_t branches, int32_t ranks)
      : aim_(aim), branches_(static_cast<size_t>(branches)), ranks_(static_cast<size_t>(ranks)) {
    std::vector<int32_t> room(ranks_, branches / ranks);
    Ranks none;
    arrange(room, none, branches_, all_);
  }

  ExactPlacement run(size_t layers, const Progress& progress) {
    std::vector<double> cost;
    std::vector<std::vector<uint32_t>> from(layers);  // [layers][arrangements] the best one of the layer before
    for (size_t l = 0; l < layers; ++l) {
      progress.report("placing exactly", static_cast<int64_t>(l), static_cast<int64_t>(layers));
      std::vector<double> here(all_.size());
      for (size_t i = 0; i < all_.size(); ++i) {
        if (i % 64 == 0) progress.cancel.check();
        here[i] = aim_.of_layer(l, slots_of(all_[i], ranks_));
      }
      cost = l == 0 ? here : after(l, cost, here, from[l], progress);
    }
    size_t at = std::min_element(cost.begin(), cost.end()) - cost.begin();
    ExactPlacement out{{static_cast<int32_t>(ranks_), static_cast<int32_t>(branches_), std::vector<LayerSlots>(layers)},
                       cost[at]};
    for (size_t l = layers; l-- > 0;) {
      out.placement.layers[l] = slots_of(all_[at], ranks_);
      if (l > 0) at = from[l][at];
    }
    return out;
  }

 private:
  /// The least cost of each arrangement of layer l with all before it.
  std::vector<double> after(size_t l, const std::vector<double>& before, const std::vector<double>& here,
                            std::vector<uint32_t>& from, const Progress& progress) const {
    from.assign(all_.size(), 0);
    if (aim_.follows.empty() && !aim_.of_pair) {
      const auto best = std::min_element(before.begin(), before.end());
      std::fill(from.begin(), from.end(), static_cast<uint32_t>(best - before.begin()));
      std::vector<double> cost = here;
      for (double& c : cost) c += *best;
      return cost;
    }
    std::vector<double> cost(all_.size(), std::numeric_limits<double>::infinity());
    std::vector<double> apart(branches_ * ranks_);  // [branches, ranks] what a branch of this layer costs on a rank
    for (size_t i = 0; i < all_.size(); ++i) {
      if (i % 64 == 0 || aim_.of_pair) progress.cancel.check();
      if (before[i] == std::numeric_limits<double>::infinity()) continue;
      std::fill(apart.begin(), apart.end(), 0.);
      for (size_t a = 0; a < branches_ && !aim_.follows.empty(); ++a)
        for (size_t b = 0; b < branches_; ++b)
          for (size_t r = 0; r < ranks_; ++r)
            if (r != all_[i][a]) apart[b * ranks_ + r] += aim_.follows[l][a * branches_ + b];
      const LayerSlots layer_before = slots_of(all_[i], ranks_);
      for (size_t j = 0; j < all_.size(); ++j) {
        double sum = before[i];
        for (size_t b = 0; b < branches_; ++b) sum += apart[b * ranks_ + all_[j][b]];
        if (aim_.of_pair) sum += aim_.of_pair(l, layer_before, slots_of(all_[j], ranks_));
        if (sum < cost[j]) cost[j] = sum, from[j] = static_cast<uint32_t>(i);
      }
    }
    for (size_t j = 0; j < all_.size(); ++j) cost[j] += here[j];
    return cost;
  }

  const ExactAim& aim_;
  const size_t branches_, ranks_;
  std::vector<Ranks> all_;
};

}  // namespace

int64_t arrangements_of(int32_t branches, int32_t ranks) {
  const int32_t branches_per_rank = branches / ranks;
  int64_t all = 1;
  // Rank after rank chooses its branches of those that are left.
  for (int32_t left = branches; left > 0; left -= branches_per_rank) {
    double ways = 1;
    for (int32_t i = 0; i < branches_per_rank; ++i) ways = ways * (left - i) / (i + 1);
    if (static_cast<double>(all) * ways > static_cast<double>(kMostArrangements)) return kMostArrangements + 1;
    all *= static_cast<int64_t>(ways + 0.5);
  }
  return all;
}

ExactPlacement exact_placement(const ExactAim& aim, size_t layers, int32_t branches, int32_t ranks,
                               const Progress& progress) {
  return LayerByLayer(aim, branches, ranks).run(layers, progress);
}

}  // namespace stormcell
