// Whether two recordings may be set against each other at all: the refusal that compare, analyze and the window share.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

/// Run `run` of session `file`, and another: Error(bad_input), one line that names the other file, where they are of two models.
void check_like_models(const std::string& file, int64_t run, const std::string& other_file, int64_t other_run);

}  // namespace stormcell
