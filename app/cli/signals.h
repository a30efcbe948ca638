// Ctrl-C and SIGTERM raise a token; the second one kills.
#pragma once
#include "core/base/progress.h"

namespace stormcell::cli {

/// From now on, signals raise `token`. SIGPIPE and SIGXFSZ are ignored: a closed reader and a file that may not grow
/// become errors of writing.
void raise_on_signals(const CancellationToken& token);
/// Descriptors 0, 1 and 2 exist afterwards, so that no session ever becomes standard output.
void open_standard_descriptors();

}  // namespace stormcell::cli
