#include "core/sheet/lacks.h"

#include <algorithm>
#include <array>
#include <map>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/base/number_format.h"
#include "core/graph/operator.h"
#include "core/models/family.h"

namespace stormcell {
namespace {

/// Which operator, and which attribute or extra of it, does an operation that tensors show.
struct OperationRow {
  std::string_view operation;
  std::string_view op, attribute;  ///< attribute: empty: the operator alone
};
constexpr std::array kOperationRows = {
    OperationRow{"delta_rule", "delta_rule", ""},          OperationRow{"ssd", "ssd", ""},
    OperationRow{"short_conv", "short_conv", ""},          OperationRow{"latent_attention", "latent_attention", ""},
    OperationRow{"attention sinks", "attention", "sinks"}, OperationRow{"indexer", "indexer", ""},
};

bool is_there(const OperationRow& row) {
  const Operator* op = find_operator(row.op);
  if (!op || row.attribute.empty()) return op != nullptr;
  const bool has_extra =
      (" " + std::string(op->extras) + " ").find(" " + std::string(row.attribute) + " ") != std::string::npos;
  return has_extra || std::any_of(op->attributes.begin(), op->attributes.end(),
                                  [&](const AttributeRule& a) { return a.name == row.attribute; });
}

std::string small_letters(std::string_view word) {
  std::string small(word);
  for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return small;
}

/// Formats that weights may be stored in; those of whole numbers are indices and sizes.
bool computes_with(std::string_view format) {
  constexpr std::array<std::string_view, 9> kNoWeights = {"I8", "U8", "I16", "U16", "I32", "U32", "I64", "U64", "BOOL"};
  if (std::find(kNoWeights.begin(), kNoWeights.end(), format) != kNoWeights.end()) return true;
  const std::string name = small_letters(format);
  const auto formats = number_formats();
  return std::any_of(formats.begin(), formats.end(), [&](const NumberFormat& f) {
    return f.name == name && (f.converts || f.multiplies || f.scaled_by_blocks);
  });
}

}  // namespace

bool has_family(std::string_view family) {
  const auto all = families();
  return std::any_of(all.begin(), all.end(), [&](const Family& f) { return f.name == family; });
}

std::vector<SheetLack> lacking_operations(const TensorTally& tally, int64_t layers) {
  std::vector<SheetLack> lacks;
  const auto& operations = tally.operations();
  const auto delta = operations.find("delta_rule");
  for (const auto& [operation_name, places] : operations) {
    const std::string_view operation = operation_name;
    const auto row = std::find_if(kOperationRows.begin(), kOperationRows.end(),
                                  [&](const OperationRow& r) { return r.operation == operation; });
    if (row == kOperationRows.end() || is_there(*row)) continue;
    const std::string what = row->attribute.empty()
                                 ? "needs `" + std::string(row->op) + "`"
                                 : "needs `" + std::string(row->op) + "` with `" + std::string(row->attribute) + "`";
    // Files of llama.cpp name the decay of both recurrences alike.
    const auto is_other = [&](int32_t place) {
      return operation == "ssd" && delta != operations.end() && delta->second.contains(place);
    };
    const int64_t count = std::ssize(places) - std::count_if(places.begin(), places.end(), is_other);
    if (count == 0) continue;
    lacks.push_back(
        {what, "in " + std::to_string(count) + " of " + counted(std::max<int64_t>(layers, count), "layer"), count});
  }
  return lacks;
}

std::vector<SheetLack> lacking_formats(const TensorTally& tally) {
  std::map<std::string, std::vector<std::pair<std::string, int64_t>>> kinds_of;  // by format: kinds and their tensors
  for (const auto& [kind, rows] : tally.formats())
    for (const auto& [format, row] : rows)
      if (!computes_with(format)) kinds_of[format].emplace_back(kind, row.tensors);
  std::vector<SheetLack> lacks;
  for (const auto& [format, kinds] : kinds_of) {
    int64_t all = 0;
    std::string list;
    for (const auto& [kind, tensors] : kinds) {
      all += tensors;
      add_to_list(list, with_commas(tensors) + " of " + kind);
    }
    const bool is_one = kinds.size() == 1;
    lacks.push_back({format, "in " + counted(all, "tensor") + (is_one ? " of " + kinds[0].first : ": " + list), all});
  }
  return lacks;
}

std::vector<SheetLack> lacking_family(std::string_view family) {
  if (family.empty() || has_family(family)) return {};
  return {{"this version has no family `" + std::string(family) + "`", "", 0}};
}

}  // namespace stormcell
