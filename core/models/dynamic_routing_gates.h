// Calibration of the presets of DynamicRouting: biases of their gates, and deviations of the weights.
#pragma once
#include <span>

namespace stormcell::dynamic_routing {

/// The last layer of a way's gate: the bias of its score, and the standard deviation of its weights.
struct FittedGate {
  double bias = 0, deviation = 0;
};
/// The networks of Brainstorm (OSDI'23): three budgets, and gates at full resolution without one.
enum class Arch { a, b, c, raw };
/// One entry for every way of every node, layer by layer, level by level, in the order of Settings::ways().
std::span<const FittedGate> fitted_gates(Arch arch);

}  // namespace stormcell::dynamic_routing
