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
/// The source of the sizes, and the assumptions about them.
std::string sizes_source_text(const ModelSizes& sizes);
/// "clusters:" and a line for each.
std::string clusters_footer();

/// --report beside --json: before anything is done. Error(bad_input): both take standard output, or nothing can be
/// written there.
void check_report_option(const std::string& report, const std::string& json, Console& console);
/// Says where the page lies.
void tell_report(const std::string& report, Console& console);

}  // namespace stormcell::cli
