// Branches to which no cell went are left out, behind a guard.
#pragma once
#include <array>

#include "core/passes/pass.h"

namespace stormcell {

inline constexpr PassOption kDeadShare = {
    "max-share",
    "the largest share of a router's cells that a branch may have got and still be left out; above 0, guards miss even "
    "on the profiled data, and a miss runs all branches",
    PassOption::Kind::share,
    0,
    0,
    0.5};
inline constexpr std::array kDeadPathOptions = {kDeadShare};

PassResult dead_path(const PassInput& input);

}  // namespace stormcell
