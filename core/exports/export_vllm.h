// Placements for vLLM, in the forms of its open proposals and of vllm-ascend. All count the layers with experts from 0,
// and none has a key for the file's origin.
#pragma once
#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

/// Writes one line: {"record_type": "eplb_initial_mapping", ..., "initial_global_assignments": {"0": [slots], ...}}
/// (pull request 41141).
void write_vllm_mapping(const ExportOptions& options, const Progress& progress);
/// [layers][slots] (pull request 49572).
void write_vllm_list(const ExportOptions& options, const Progress& progress);
/// {"moe_layer_count", "layer_list": [{"layer_id", "device_count", "device_list": [{"device_id", "device_expert"}]}]}
void write_vllm_ascend(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
