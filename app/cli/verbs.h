// The verbs there are, in the order in which --help shows them.
#pragma once
#include <span>
#include <string_view>

#include "app/cli/verb.h"

namespace stormcell::cli {

struct VerbRow {
  std::string_view name, usage, description;
  std::unique_ptr<Verb> (*make)();
};

/// An entry that the program's help explains: a word of the usage, or an option of the program itself.
struct ProgramWord {
  std::string_view name, text;
};
std::span<const ProgramWord> program_words();
std::span<const ProgramWord> program_options();

std::span<const VerbRow> verbs();
/// Throws Error(bad_input): unknown, or not in this version.
const VerbRow& find_verb(std::string_view name);
/// The text of `stormcell --help`.
std::string program_help();

}  // namespace stormcell::cli
