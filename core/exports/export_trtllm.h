// Placements for TensorRT-LLM.
#pragma once
#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

/// YAML for moe_config.load_balancer: num_slots, initial_global_assignments by layer of the model,
/// layer_updates_per_iter 0 (--what static, the default: it stays) or 1 (--what dynamic: the server goes on from
/// there). Layers without experts are not named.
void write_trtllm_placement(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
