// The best placement of small cases, by dynamic programming over layers: every arrangement of a layer after every
// arrangement of the layer before. What searches are checked against, and a bound where it can be had.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/progress.h"
#include "core/placement/placement.h"

namespace stormcell {

/// What is to be small: what each layer costs by itself, pairs of branches at consecutive layers on two ranks, and what
/// each layer costs after the one before it.
struct ExactAim {
  /// Of a layer; infinite where it must not be.
  std::function<double(size_t layer, const LayerSlots& slots)> of_layer;
  /// [layers][branches before, branches] what a pair on two ranks costs, layer 0 not asked for; empty: nothing.
  std::vector<std::vector<double>> follows;
  /// Of a layer but the first, where its cost hangs on how the layer before is arranged; null: it does not. Asked of
  /// each two arrangements.
  std::function<double(size_t layer, const LayerSlots& before, const LayerSlots& slots)> of_pair = nullptr;
};

/// How many arrangements a layer has whose slots hold each branch once: branches! / (slots of a rank)! ^ ranks; at most
/// the limit below + 1.
int64_t arrangements_of(int32_t branches, int32_t ranks);
inline constexpr int64_t kMostArrangements = 3000;
/// The same where of_pair() is asked.
inline constexpr int64_t kMostPairedArrangements = 100;

struct ExactPlacement {
  Placement placement;
  double cost = 0;
};
/// Branches divide among ranks, and arrangements_of() is within the limit; without replicas. Some arrangement of each
/// layer is finite.
ExactPlacement exact_placement(const ExactAim& aim, size_t layers, int32_t branches, int32_t ranks,
                               const Progress& progress = {});

}  // namespace stormcell
