// Branches on ranks, as slots: every rank has equally many, a branch may be in several (replicas).
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace stormcell {

/// Slots of one layer: [slots] the branch in each. Slot s is on rank s / (slots / ranks).
using LayerSlots = std::vector<int32_t>;
/// [layers][branches] cells that each branch gets, of one step or of many together; they need not be whole.
using LayerLoads = std::vector<std::vector<double>>;

struct Placement {
  int32_t ranks = 1;
  int32_t branches = 1;
  std::vector<LayerSlots> layers;  ///< by router; all of one length, a multiple of `ranks`
  /// Slots of each layer. (Not `slots`, a keyword of Qt, whose tests see this header.)
  int32_t slot_count() const { return layers.empty() ? 0 : static_cast<int32_t>(layers[0].size()); }
  int32_t slots_of_rank() const { return slot_count() / ranks; }
  bool operator==(const Placement&) const = default;
};

/// One slot that gets something else; -1: nothing.
struct SlotChange {
  size_t layer = 0, slot = 0;
  int32_t before = -1, after = -1;
  bool operator==(const SlotChange&) const = default;
};
/// Layers ascending, each slot once.
using PlacementChange = std::vector<SlotChange>;
/// The change that takes `change` back.
PlacementChange inverse(PlacementChange change);
/// Swaps what two slots hold; one may be empty.
PlacementChange swap_change(const Placement& placement, size_t layer, size_t slot, size_t other);
/// Gives a slot a branch in place of what it held.
PlacementChange replicate_change(const Placement& placement, size_t layer, int32_t branch, size_t slot);
/// Empties a slot.
PlacementChange drop_change(const Placement& placement, size_t layer, size_t slot);
/// The change from `before` to `after`, slot by slot. Both have one shape.
PlacementChange difference(const Placement& before, const Placement& after);

/// The fault of a placement, in words with the layer; empty: every branch stands somewhere and everything fits.
std::string placement_fault(const Placement& placement);

/// Branch b in slot b, spare slots hold the first branches again: what servers begin with. `slot_count` is a multiple
/// of `ranks`, at least `branches`.
Placement contiguous_placement(size_t layers, int32_t branches, int32_t slot_count, int32_t ranks);

/// [branches] the number of slots that hold each.
std::vector<int32_t> replicas_of(const LayerSlots& layer, int32_t branches);

/// [ranks] load that each rank computes of a layer if replicas share a branch's load evenly. `load`: [branches].
std::vector<double> loads_of_ranks(const LayerSlots& layer, int32_t ranks, std::span<const double> load);

/// most / mean - 1. 0 without load, and if only the rounding of sums tells the two apart.
double imbalance_of(double most, double mean);
/// The same for given loads of all ranks.
double imbalance_of_ranks(std::span<const double> loads);

/// Layers in which two slots of one rank hold the same branch: the second brings nothing.
int32_t layers_with_idle_replicas(const Placement& placement);

/// Slots whose branch is not on their rank in `before`: weights that a server must move. Both of one shape.
int64_t moved_slots(const Placement& before, const Placement& after);

}  // namespace stormcell
