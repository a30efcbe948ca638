// Completion for bash: verbs, options and their values.
#pragma once
#include <string>
#include <vector>

#include "core/manual/command_entry.h"

namespace stormcell {

/// A script that bash reads: "source <(stormcell --completion)". It needs no other package. `program` alone has options
/// and arguments where `verbs` is empty; else the first word is a verb or an option of `program`.
std::string bash_completion(const CommandEntry& program, const std::vector<CommandEntry>& verbs = {});

}  // namespace stormcell
