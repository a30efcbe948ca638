// How large the experts of a recorded model are: what a step costs in bytes and operations begins with it.
#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/planning/step_figures.h"
#include "core/session/session_types.h"

namespace stormcell {

/// Sizes of the model from the options, else from the import, else from a published architecture of this name and
/// shape. An expert's bytes in the trace win, since they were loaded. Empty: not known. Error(bad_input): options that
/// contradict the run.
std::optional<ModelSizes> find_model_sizes(const SizeOptions& options, const RunSummary& run, const RunLayout& layout,
                                           std::string_view model);

/// Bits of a weight; 0: no number format that weights have.
int32_t bits_of_weights(std::string_view dtype);

}  // namespace stormcell
