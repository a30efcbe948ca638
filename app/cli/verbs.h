// The verbs there are, in the order in which --help shows them.
#pragma once
#include <array>
#include <span>
#include <string_view>

#include "app/cli/verb.h"

namespace stormcell::cli {

struct VerbRow {
  std::string_view name, usage, description;
  std::unique_ptr<Verb> (*make)();
  std::array<std::string_view, 3> examples = {};  ///< behind "stormcell NAME"; a test reads each as the program does
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
/// The end of a verb's help: "examples:" and a command a line; empty: the verb has none.
std::string examples_text(const VerbRow& verb);
/// The text of `stormcell --help`.
std::string program_help();

}  // namespace stormcell::cli
