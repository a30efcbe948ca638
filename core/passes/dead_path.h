// Branches to which no cell went are left out, behind a guard.
#pragma once
#include <array>

#include "core/passes/pass.h"

namespace stormcell {

inline constexpr PassOption kDeadShare = {
    "max-share",
    "a branch is left out if it got at most this share of the router's cells; above 0, guards miss even "
    "on the profiled data, and a miss runs all branches",
    PassOption::Kind::share,
    0,
    0,
    0.5};
inline constexpr std::array kDeadPathOptions = {kDeadShare};

PassResult dead_path(const PassInput& input);

}  // namespace stormcell
