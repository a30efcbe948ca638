// The native routing trace: safetensors with one row a cell.
#pragma once
#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

/// layer.{i}.indices i32 [cells, k] and layer.{i}.weights f32, i counting the routers of all stacks; cell.request,
/// cell.position, cell.phase (0 prefill, 1 decode) and cell.stack i32 [cells]; cell.real, where there is padding;
/// cell.step i64 and cell.rank i32, where a server numbered its steps and ranks (-1: not this one). An index of -1:
/// dropped, or fewer branches than k; -2: the cell does not meet this router. Metadata: model, layers, branches, k, and
/// of each layer its router, branches and stack.
void write_native_trace(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
