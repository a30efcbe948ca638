#include "app/cli/sheet_text.h"

#include <utility>

#include "app/cli/numbers_text.h"
#include "core/base/counted.h"
#include "core/summary/sheet_text.h"

namespace stormcell::cli {
namespace {

std::string formats_text(const ModelSheet& s) {
  Rows rows = {{"tensors of", "format", "tensors", "parameters", "bytes"}};
  for (const std::string& kind : tensor_kinds(s))
    for (const auto& [format, row] : s.formats.at(kind))
      rows.push_back({kind, format, count_text(row.tensors), count_text(row.parameters), bytes_text(row.bytes)});
  return rows.size() > 1 ? "\n" + table_text(rows, {2, 3, 4}) : std::string();
}

}  // namespace

std::string needs_text(const ModelSheet& s) {
  Rows rows;
  for (SheetRow& row : sheet_needs(s)) rows.push_back({std::move(row.what), std::move(row.text)});
  return rows.empty() ? std::string() : "\n" + table_text(rows, {});
}

Page page_of(const ModelSheet& s) {
  std::string head = s.name + ": " + kind_text(s);
  if (!s.family.empty()) head += ", " + s.family;
  Rows rows;
  for (SheetRow& row : sheet_rows(s)) rows.push_back({std::move(row.what), std::move(row.text)});
  std::string text = head + "\n" + (rows.empty() ? "" : table_text(rows, {})) + formats_text(s);
  if (!s.lacks.empty()) text += "\nnot run by this version:\n";
  for (const SheetLack& lack : s.lacks) text += "  " + stormcell::to_text(lack) + "\n";
  if (!s.recorder.empty()) text += "\nits routing can be recorded: recorder " + s.recorder + "\n";
  std::vector<std::string> sentences = {s.name + " is " + kind_text(s) +
                                        (s.family.empty() ? "" : " (" + s.family + ")") +
                                        (s.parameters > 0 ? " with " + parameters_text(s.parameters) : "") + "."};
  if (s.experts > 0)
    sentences.push_back("It has " + counted(s.experts, "expert") + " in " + counted(s.layers_with_experts, "layer") +
                        (s.k > 0 ? ", and a cell goes to " + count_text(s.k) + " of them" : "") + ".");
  if (!s.runnable)
    sentences.push_back("This version does not run it" +
                        (s.lacks.empty() ? "." : ": " + stormcell::to_text(s.lacks.front()) + "."));
  if (!s.recorder.empty()) sentences.push_back(next_command({"recorder", s.recorder}));
  return {std::move(sentences), std::move(text)};
}

}  // namespace stormcell::cli
