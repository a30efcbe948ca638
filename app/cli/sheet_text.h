// The sheet of a model as inspect prints it.
#pragma once
#include <string>

#include "app/cli/page.h"
#include "core/summary/sheet_figures.h"

namespace stormcell::cli {

Page page_of(const ModelSheet& sheet);
/// Its routing, tokenizer, memory and speed alone, behind an empty line: for a model whose graph is printed; empty: the
/// sheet says nothing of them.
std::string needs_text(const ModelSheet& sheet);

}  // namespace stormcell::cli
