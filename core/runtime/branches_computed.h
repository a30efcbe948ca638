// The branches that have rows, for a gather that joins all slots of a decision at once.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/runtime/kernel_build_context.h"

namespace stormcell {

/// The branches whose slots were computed, of those that input 0 holds; nothing where all were, or where it holds
/// single branches.
std::optional<std::vector<int64_t>> branches_computed(const KernelBuildContext& context);

}  // namespace stormcell
