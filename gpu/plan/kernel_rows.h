// The operators that a plan has kernels for: a row each, in the order in which they are tried.
#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "core/runtime/bf16_rows.h"
#include "gpu/plan/planned_steps.h"

namespace stormcell::gpu {

/// The visible list.
std::span<const PlanRow> plan_rows();
/// Names of the operators in the list, each once.
std::vector<std::string_view> planned_operators();
/// Operators in the list with a kernel for activations in bf16.
Bf16Rows planned_bf16_rows();

}  // namespace stormcell::gpu
