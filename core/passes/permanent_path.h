// A router that always decided the same way decides after the branch that its cells take, and the guard compares.
#pragma once
#include <array>

#include "core/passes/constant_branches.h"

namespace stormcell {

inline constexpr PassOption kApproximate = {
    "approximate", "decisions are not computed, and nothing shows when they would differ", PassOption::Kind::flag, 0};
inline constexpr std::array kPermanentPathOptions = {kLeastCells, kApproximate};

PassResult permanent_path(const PassInput& input);

}  // namespace stormcell
