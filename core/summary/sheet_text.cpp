#include "core/summary/sheet_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "core/base/counted.h"
#include "core/base/numbers.h"
#include "core/formats/file_kind.h"

namespace stormcell {
namespace {

/// Three significant digits of a number from 1 on; fewer than three below it.
std::string three_digits(double value) {
  const int whole = value > 0 ? static_cast<int>(std::floor(std::log10(value))) + 1 : 1;
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", std::max(0, 3 - whole), value);
  return text;
}

/// The same for a rate, which may be large: "13,300".
std::string rate_words(double value) {
  constexpr double kThousand = 1000;
  if (value < kThousand) return three_digits(value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return with_commas(std::llround(std::round(value / unit) * unit));
}

std::string parameters_words(const ModelSheet& s) {
  if (s.parameters == 0) return {};
  std::string text = parameters_text(s.parameters);
  if (s.active_parameters > 0 && s.active_parameters != s.parameters)
    text += ", " + parameters_text(s.active_parameters) + " active for a token";
  return text;
}

std::string routing_words(const ModelSheet& s) {
  if (s.experts == 0) return s.routing;
  std::string text = counted(s.layers_with_experts, "layer") + " of " + with_commas(s.layers) + " with " +
                     counted(s.experts, "expert");
  return s.routing.empty() ? text : text + ": " + s.routing;
}

std::string memory_words(const ModelSheet& s) {
  const SheetMemory& m = s.memory;
  if (!m.fits || m.fits == MemoryFit::unknown) return {};
  std::string text = to_text(Bytes(m.expert_bytes + m.rest_bytes)) + " of weights";
  if (m.expert_bytes > 0) text += ", " + to_text(Bytes(m.expert_bytes)) + " of them experts";
  text += "; " + to_text(Bytes(m.available_bytes)) + " are free: ";
  if (m.fits == MemoryFit::whole) return text + "they fit";
  if (m.fits == MemoryFit::not_at_all) return text + "they do not fit";
  return text + "they fit if experts are read as they are needed";
}

void add_row(const char* what, std::string text, std::vector<SheetRow>& rows) {
  if (!text.empty()) rows.push_back({what, std::move(text)});
}

void add_needs(const ModelSheet& s, std::vector<SheetRow>& rows) {
  add_row("routing", routing_words(s), rows);
  add_row("tokenizer", s.tokenizer, rows);
  add_row("template", s.chat_template, rows);
  add_row("memory", memory_words(s), rows);
  if (s.tokens_per_s)
    add_row("speed",
            rate_words(s.tokens_per_s->low) + " to " + rate_words(s.tokens_per_s->high) +
                " tokens a second at most, by the measured ceilings of this machine",
            rows);
}

}  // namespace

std::string parameters_text(int64_t parameters) {
  constexpr double kBillion = 1e9, kMillion = 1e6;
  const auto value = static_cast<double>(parameters);
  if (value >= kBillion) return three_digits(value / kBillion) + " billion parameters";
  return value >= kMillion ? three_digits(value / kMillion) + " million parameters" : counted(parameters, "parameter");
}

std::string kind_text(const ModelSheet& s) {
  if (s.kind == "model-folder") return "a folder of a model";
  const auto kinds = file_kinds();
  const auto known = std::find_if(kinds.begin(), kinds.end(), [&](const FileKind& k) { return k.id == s.kind; });
  return known == kinds.end() ? s.kind : std::string(known->name);
}

std::vector<SheetRow> sheet_rows(const ModelSheet& s) {
  std::vector<SheetRow> rows;
  add_row("size", parameters_words(s), rows);
  if (s.bytes > 0) add_row("weights", to_text(Bytes(s.bytes)) + " in " + counted(s.files, "file"), rows);
  add_needs(s, rows);
  return rows;
}

std::vector<SheetRow> sheet_needs(const ModelSheet& s) {
  std::vector<SheetRow> rows;
  add_needs(s, rows);
  return rows;
}

std::vector<std::string> tensor_kinds(const ModelSheet& s) {
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

}  // namespace stormcell
