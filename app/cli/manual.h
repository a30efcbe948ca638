// Manual pages and completion of the program, from the table of verbs and the options that each verb adds.
#pragma once
#include <string>

#include "app/cli/console.h"
#include "app/cli/verbs.h"

namespace stormcell::cli {

/// Adds everything that a verb takes: its own options, the console's, --help and --version; and its examples.
void add_all_options(CLI::App& app, const VerbRow& row, Verb& verb, ConsoleOptions& options);

/// stormcell(1)
std::string program_manual();
/// stormcell-VERB(1)
std::string verb_manual(const VerbRow& row);
/// For bash: verbs, options, and the values that this version and its resources have.
std::string completion_script();

}  // namespace stormcell::cli
