// Steps whose weights belong to branches: under a budget these come and go while a batch runs.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/program.h"
#include "core/runtime/weight_table.h"

namespace stormcell {

/// The branch of a router that a weight serves. Plans of one model name their routers alike.
struct BranchGroup {
  std::string router;
  int32_t branch = 0;
  auto operator<=>(const BranchGroup&) const = default;
};

/// A weight of a group that a step reads: the unit in which weights are read.
struct PartUse {
  int32_t branch = 0;
  WeightHandle handle;
};

/// A step that reads parts. It runs in waves: each time, the branches whose parts are there and that no wave before has
/// computed.
struct PartSite {
  int32_t step = -1;
  OperandId decision;          ///< the one that tells which branches are present
  std::vector<PartUse> parts;  ///< in the order in which branches are computed
};

/// The branch of one router that is served by the weight that a step reads as input `input`. Empty: the weight serves
/// all branches, or none.
struct PartPlace {
  OperandId decision;
  BranchGroup group;
};
std::optional<PartPlace> part_place(const Program& program, const Step& step, size_t input);

}  // namespace stormcell
