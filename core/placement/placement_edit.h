// A placement that a hand changes, with what each change does to balance, traffic and the cost of steps: a change
// touches its own layer and the tokens of what it moves, so that a drag is followed at 61 layers of 256 branches on 64
// ranks within a frame of the screen.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/placement/edit_figures.h"
#include "core/placement/placed_steps.h"
#include "core/placement/placed_traffic.h"
#include "core/placement/placement.h"

namespace stormcell {

/// A part of the data that placements are judged by.
struct EditPart {
  LayerLoads loads;
  /// [layers][branches x ranks] of these those of tokens that live on each rank; empty: nobody knows where, or it
  /// decides nothing.
  std::vector<std::vector<double>> loads_of_home;
  std::optional<PlacedTraffic> traffic;  ///< traffic of single choices; none: there are counts alone
  std::optional<PlacedSteps> steps;      ///< none: sizes are not known, or the data is one sum of many steps
};

class PlacementEdit {
 public:
  /// The parts' traffic and steps were made for `start`.
  PlacementEdit(Placement start, std::vector<EditPart> parts, const ReplicaWay& way = {});

  const Placement& placement() const { return placement_; }
  size_t parts() const { return parts_.size(); }
  EditFigures figures(size_t part) const;
  double layer_imbalance(size_t part, size_t layer) const { return state_[part].imbalance[layer]; }
  /// [ranks] what they compute of a layer, in choices.
  const std::vector<double>& rank_loads(size_t part, size_t layer) const { return state_[part].ranks[layer]; }
  /// [slots] choices that come to each; of two with the same branch on one rank each gets half.
  const std::vector<double>& slot_loads(size_t part, size_t layer) const { return state_[part].slot_loads[layer]; }
  /// Mean over steps, in ms; none: steps are not costed.
  std::optional<double> layer_ms(size_t part, size_t layer) const;

  // The reason against a change, in words; empty: it is allowed. Slots are of one layer.
  std::string swap_fault(size_t layer, size_t slot, size_t other) const;
  std::string replicate_fault(size_t layer, int32_t branch, size_t slot) const;
  std::string drop_fault(size_t layer, size_t slot) const;

  /// Applies a change. `before` must be what each slot holds; every branch must stand somewhere afterwards.
  void apply(const PlacementChange& change);

  /// Slots that hold nothing, over all layers: no server takes such a placement.
  size_t empty_slots() const;

 private:
  struct State {
    std::vector<double> imbalance;                // [layers]
    std::vector<std::vector<double>> ranks;       // [layers][ranks]
    std::vector<std::vector<double>> slot_loads;  // [layers][slots]
  };
  size_t rank_of(size_t slot) const { return slot / static_cast<size_t>(placement_.slots_of_rank()); }
  bool holds(size_t layer, size_t rank, int32_t branch) const;
  bool stands_elsewhere(size_t layer, size_t slot) const;
  void weigh(size_t part, size_t layer);
  /// Writes to `of_slot` what comes to slots of branches that have several.
  void weigh_nearest(size_t part, size_t layer, const std::vector<int32_t>& replicas,
                     std::vector<double>& of_slot) const;

  Placement placement_;
  const ReplicaWay way_;
  std::vector<EditPart> parts_;
  std::vector<State> state_;  // [parts]
};

}  // namespace stormcell
