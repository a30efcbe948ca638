// Lists what this version lacks to run a model, derived from its tensors and its family.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/sheet/tensor_tally.h"
#include "core/summary/sheet_figures.h"

namespace stormcell {

/// Whether this version has a family of this name ("model_type").
bool has_family(std::string_view family);

/// The operations that layers need and no operator of this version does, one line each.
std::vector<SheetLack> lacking_operations(const TensorTally& tally, int64_t layers);
/// The number formats in which weights lie and with which this version does not compute.
std::vector<SheetLack> lacking_formats(const TensorTally& tally);
/// The family itself; nothing if this version has it.
std::vector<SheetLack> lacking_family(std::string_view family);

}  // namespace stormcell
