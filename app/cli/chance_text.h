// Chance beside the figures of analyze, in text.
#pragma once
#include <string>

#include "core/comparison/analyze.h"

namespace stormcell::cli {

/// How much of the routing is beyond chance, then each router's figures beside those of an even router.
std::string chance_text(const AnalyzeFigures& figures);
/// A warning if the recording looks like random tokens; else empty.
std::string random_tokens_warning(const AnalyzeFigures& figures);

}  // namespace stormcell::cli
