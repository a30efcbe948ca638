// Options that place and simulate share.
#pragma once
#include <string>

#include "app/cli/options.h"
#include "core/planning/place.h"

namespace stormcell::cli {

/// --backend --tokens-per-step --replicas --calibration
void add_step_options(CLI::App& app, StepOptions& step, std::string& calibration);
/// --model-config --hidden --ffn --dtype
void add_size_options(CLI::App& app, SizeOptions& sizes);
/// "clusters:" and a line for each.
std::string clusters_footer();

}  // namespace stormcell::cli
