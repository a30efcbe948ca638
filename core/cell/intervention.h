// An intervention changes the routing of a model before it runs: branches off, another k, choices forced.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell {

/// A branch that its router, called by its name, may never choose.
struct BranchOff {
  std::string router;
  int32_t branch = 0;
  bool operator==(const BranchOff&) const = default;
};

/// Part of a plan: the device and the oracle that judges it have the same one. Who is chosen changes, and nothing else:
/// the weights of choices are still those of the scores of the run (route.h, replay()).
struct Intervention {
  std::vector<BranchOff> off;
  int32_t k = 0;      ///< of every router whose protocol takes one; 0: the model's own
  std::string force;  ///< file of choices, as run --outputs writes them; empty: routers decide themselves
  bool empty() const { return off.empty() && k == 0 && force.empty(); }
  bool operator==(const Intervention&) const = default;
};

}  // namespace stormcell
