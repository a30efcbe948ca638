// Settings that exclude each other, refused before anything is opened.
#pragma once
#include <string>

#include "core/summary/settings.h"

namespace stormcell {

/// Throws Error(bad_input) if the options cannot be combined with the dense plan.
void check_dense(const ExperimentOptions& options);

/// Throws Error(bad_input) where --target-quality and --target-latency contradict each other or the phase. Before
/// anything is opened.
void check_target(const ExperimentOptions& options);
/// Throws the same where prompts and data name two sources or none, a prompt is not UTF-8, or an option of chats has no chat.
void check_prompts(const ExperimentOptions& options);
/// --target-quality or --target-latency, whichever asks for thresholds; empty: neither does.
std::string target_option(const ExperimentOptions& options);

}  // namespace stormcell
