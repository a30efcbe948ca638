// Work that only cells of one branch need waits for the decision that sends them there.
#pragma once
#include <array>

#include "core/passes/pass.h"

namespace stormcell {

inline constexpr PassOption kLeastSaved = {"min-saved",
                                           "at least this share of the cells must not need the work that waits",
                                           PassOption::Kind::share,
                                           0.02,
                                           0,
                                           1};
inline constexpr std::array kReorderOptions = {kLeastSaved};

PassResult reorder(const PassInput& input);

}  // namespace stormcell
