// The EPLB rule: replicas for the most loaded branches, then packing by descending load. By its published description,
// in its arithmetic (single precision, stable order, the lower id first), so that a server that runs the rule itself
// gets the same slots from the same loads. It knows loads alone: neither traffic, nor how far ranks are apart beyond
// their nodes, nor what moving weights costs; and it may put two replicas of a branch on one rank.
#pragma once
#include <cstdint>
#include <string>

#include "core/placement/placement.h"

namespace stormcell {

struct EplbShape {
  int32_t slot_count = 0;  ///< slots of a layer, on all ranks together: branches + spare ones
  int32_t groups = 1;      ///< groups of consecutive branches, which a hierarchical packing keeps on one node; 1: none
  int32_t nodes = 1;
  int32_t ranks = 1;
  /// Groups go to nodes first where they divide among them; else one global packing.
  bool hierarchical() const { return groups % nodes == 0; }
};

/// The fault of a shape that the rule cannot place, in words; empty: none.
std::string eplb_fault(const EplbShape& shape, int32_t branches);

/// `loads` are rounded to single precision first. The shape has no fault.
Placement eplb_placement(const LayerLoads& loads, const EplbShape& shape);

}  // namespace stormcell
