// Decides whether two recordings may be compared at all. compare, analyze and the window share this refusal.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

/// Throws Error(bad_input) if run `run` of session `file` and the other one are of two models; its one line names the
/// other file.
void check_like_models(const std::string& file, int64_t run, const std::string& other_file, int64_t other_run);

}  // namespace stormcell
