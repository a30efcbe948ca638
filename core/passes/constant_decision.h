// A router that sends every cell to the same branches sends nothing.
#pragma once
#include <array>

#include "core/passes/constant_branches.h"

namespace stormcell {

inline constexpr std::array kConstantDecisionOptions = {kLeastCells};

PassResult constant_decision(const PassInput& input);

}  // namespace stormcell
