// The sheet of a model in words, for every program that shows one.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/summary/sheet_figures.h"

namespace stormcell {

/// "1.23 million parameters"
std::string parameters_text(int64_t parameters);

/// The kind of the sheet's files in words: "a GGUF model", "a folder of a model".
std::string kind_text(const ModelSheet& sheet);

struct SheetRow {
  std::string what, text;  ///< "memory", "18.0 GiB of weights, ..."
};
/// Size, weights and the needs, as far as the sheet says something of them.
std::vector<SheetRow> sheet_rows(const ModelSheet& sheet);
/// Routing, tokenizer, template, memory and speed: for a model whose graph is shown, which has the rest.
std::vector<SheetRow> sheet_needs(const ModelSheet& sheet);
/// Kinds of tensors, the largest first.
std::vector<std::string> tensor_kinds(const ModelSheet& sheet);

}  // namespace stormcell
