// Data that the trace of an imported run did not have, and what gives them. Not for views and commands, which see no
// RunSummary.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/session/session_types.h"

namespace stormcell {

/// The facts of kTraceFacts that the import noted as lacking; empty if the run says nothing.
std::vector<std::string> lacks_of_import(const RunSummary& run);
/// Says what its recorder, or the import, must be given for the fact; `otherwise` if nothing is known.
std::string how_to_get(const RunSummary& run, std::string_view fact, std::string_view otherwise = {});

}  // namespace stormcell
