// The sheet of a model as inspect prints it.
#pragma once
#include <string>

#include "core/summary/sheet_figures.h"

namespace stormcell::cli {

std::string to_text(const ModelSheet& sheet);
/// Only its routing, tokenizer, memory and speed, behind an empty line: for a model whose graph is printed; empty: the
/// sheet has none of them.
std::string needs_text(const ModelSheet& sheet);

}  // namespace stormcell::cli
