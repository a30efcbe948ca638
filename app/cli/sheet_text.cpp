#include "app/cli/sheet_text.h"

#include <algorithm>
#include <vector>

#include "app/cli/numbers_text.h"
#include "app/cli/shared_text.h"
#include "core/base/counted.h"
#include "core/base/listed_words.h"

namespace stormcell::cli {
namespace {

std::string parameters_words(const ModelSheet& s) {
  if (s.parameters == 0) return {};
  std::string text = parameters_text(s.parameters);
  if (s.active_parameters > 0 && s.active_parameters != s.parameters)
    text += ", " + parameters_text(s.active_parameters) + " active for a token";
  return text;
}

std::string routing_words(const ModelSheet& s) {
  if (s.experts == 0) return s.routing;
  std::string text =
      counted(s.layers_with_experts, "layer") + " of " + count_text(s.layers) + " with " + counted(s.experts, "expert");
  return s.routing.empty() ? text : text + ": " + s.routing;
}

/// Kinds of tensors, the largest first.
std::vector<std::string> kinds_of(const ModelSheet& s) {
  std::vector<std::pair<int64_t, std::string>> order;
  for (const auto& [kind, rows] : s.formats) {
    int64_t bytes = 0;
    for (const auto& [format, row] : rows) bytes += row.bytes;
    order.emplace_back(-bytes, kind);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> kinds;
  for (auto& [bytes, kind] : order) kinds.push_back(std::move(kind));
  return kinds;
}

std::string formats_text(const ModelSheet& s) {
  Rows rows = {{"tensors of", "format", "tensors", "parameters", "bytes"}};
  for (const std::string& kind : kinds_of(s))
    for (const auto& [format, row] : s.formats.at(kind))
      rows.push_back({kind, format, count_text(row.tensors), count_text(row.parameters), bytes_text(row.bytes)});
  return rows.size() > 1 ? "\n" + table_text(rows, {2, 3, 4}) : std::string();
}

std::string memory_words(const ModelSheet& s) {
  const SheetMemory& m = s.memory;
  if (m.fits.empty()) return {};
  std::string text = bytes_text(m.expert_bytes + m.rest_bytes) + " of weights";
  if (m.expert_bytes > 0) text += ", " + bytes_text(m.expert_bytes) + " of them experts";
  text += "; " + bytes_text(m.available_bytes) + " are free: ";
  if (m.fits == "whole") return text + "they fit";
  if (m.fits == "not") return text + "they do not fit";
  return text + "they fit if experts are read as they are needed";
}

void add_row(const char* what, const std::string& text, Rows& rows) {
  if (!text.empty()) rows.push_back({what, text});
}

/// The needs and the routing of a model, whether or not it can be opened.
void add_needs(const ModelSheet& s, Rows& rows) {
  add_row("routing", routing_words(s), rows);
  add_row("tokenizer", s.tokenizer, rows);
  add_row("template", s.chat_template, rows);
  add_row("memory", memory_words(s), rows);
  if (s.tokens_per_s)
    add_row("speed",
            number_text(s.tokens_per_s->low) + " to " + number_text(s.tokens_per_s->high) +
                " tokens a second at most, by the measured ceilings of this machine",
            rows);
}

}  // namespace

std::string needs_text(const ModelSheet& s) {
  Rows rows;
  add_needs(s, rows);
  return rows.empty() ? std::string() : "\n" + table_text(rows, {});
}

std::string to_text(const ModelSheet& s) {
  std::string head = s.name + ": " + s.kind;
  if (!s.family.empty()) head += ", " + s.family;
  Rows rows;
  add_row("size", parameters_words(s), rows);
  if (s.bytes > 0) add_row("weights", bytes_text(s.bytes) + " in " + counted(s.files, "file"), rows);
  add_needs(s, rows);
  std::string text = head + "\n" + (rows.empty() ? "" : table_text(rows, {})) + formats_text(s);
  if (!s.lacks.empty()) text += "\nnot run by this version:\n";
  for (const SheetLack& lack : s.lacks) text += "  " + stormcell::to_text(lack) + "\n";
  if (!s.recorder.empty()) text += "\nits routing can be recorded: recorder " + s.recorder + "\n";
  return text;
}

}  // namespace stormcell::cli
