// The products, convolutions and norms of all branches of a router become one each.
#pragma once
#include <array>

#include "core/passes/pass.h"

namespace stormcell {

inline constexpr PassOption kLeastBranches = {
    "min-branches", "routers with fewer branches left are not changed", PassOption::Kind::count, 1, 1, 65536};
inline constexpr std::array kHorizontalFusionOptions = {kLeastBranches};

PassResult horizontal_fusion(const PassInput& input);

}  // namespace stormcell
