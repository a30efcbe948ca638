// An intervention changes the routing of a model before it runs: branches off, another k, another capacity, choices
// forced.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// A branch that its router, called by its name, may never choose.
struct BranchOff {
  std::string router;
  int32_t branch = 0;
  bool operator==(const BranchOff&) const = default;
};

/// How many cells one branch serves.
struct Capacity {
  enum class Unit : uint8_t {
    all,     ///< every cell that wants it
    cells,   ///< `value` cells of each parent, the first ones
    factor,  ///< `value` times the even share of the batch, the most confident cells
  };
  Unit unit = Unit::all;
  double value = 0;
  bool operator==(const Capacity&) const = default;
};
/// "8" cells, "1.25x" as a factor, "all".
std::string to_text(const Capacity& capacity);
/// Throws Error(bad_input) that begins with `where`.
Capacity parse_capacity(std::string_view where, std::string_view word);

/// The capacity of one router, called by its name; an empty name: of every router that has a capacity in this unit.
struct CapacityChange {
  std::string router;
  Capacity capacity;
  bool operator==(const CapacityChange&) const = default;
};
/// "encoder.block.1.layer.1.mlp=8", or "8" for all routers.
std::string to_text(const CapacityChange& change);
/// Throws Error(bad_input) that begins with `where`.
CapacityChange parse_capacity_change(std::string_view where, std::string_view text);

/// Part of a plan: the device and the oracle that judges it have the same one. Who is chosen changes, and nothing else:
/// the weights of choices are still those of the scores of the run (route.h, replay()).
struct Intervention {
  std::vector<BranchOff> off;
  int32_t k = 0;      ///< of every router whose protocol takes one; 0: the model's own
  std::string force;  ///< file of choices, as run --outputs writes them; empty: routers decide themselves
  /// A router that is named has its own, whatever is said of all.
  std::vector<CapacityChange> capacities = {};
  bool empty() const { return off.empty() && k == 0 && force.empty() && capacities.empty(); }
  bool operator==(const Intervention&) const = default;
};

}  // namespace stormcell
