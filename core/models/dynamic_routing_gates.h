// What the presets of DynamicRouting are calibrated by: their gates' biases, and by how much their scores differ.
#pragma once
#include <span>

namespace stormcell::dynamic_routing {

/// The last layer of a way's gate: the bias of its score, and the deviation of the weights that it is a sum by.
struct FittedGate {
  double bias = 0, deviation = 0;
};
/// The networks of Brainstorm (OSDI'23): three budgets, and gates at full resolution without one.
enum class Arch { a, b, c, raw };
/// Of every way of every node, layer by layer, level by level, as Settings::ways() lists them.
std::span<const FittedGate> fitted_gates(Arch arch);

}  // namespace stormcell::dynamic_routing
