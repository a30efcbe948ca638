// The best placement of small cases, by dynamic programming over layers: every arrangement of a layer after every
// arrangement of the layer before. Searches are checked against it, and it gives a bound where it can be had.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "core/base/progress.h"
#include "core/placement/placement.h"

namespace stormcell {

/// The objective of an exact search: the cost of each layer by itself, of pairs of branches at consecutive layers on
/// two ranks, and of each layer after the one before it.
struct ExactAim {
  /// Cost of a layer; infinite if it is not allowed.
  std::function<double(size_t layer, const LayerSlots& slots)> of_layer;
  /// [layers][branches before, branches] cost of a pair on two ranks, not read for layer 0; empty: none.
  std::vector<std::vector<double>> follows;
  /// Cost of a layer but the first, if it depends on how the layer before is arranged; null: it does not. Called for
  /// each two arrangements.
  std::function<double(size_t layer, const LayerSlots& before, const LayerSlots& slots)> of_pair = nullptr;
};

/// How many arrangements a layer has whose slots hold each branch once: branches! / (slots of a rank)! ^ ranks; at most
/// the limit below + 1.
int64_t arrangements_of(int32_t branches, int32_t ranks);
inline constexpr int64_t kMostArrangements = 3000;
/// The limit if of_pair() is called.
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
