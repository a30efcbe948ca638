// Recordings of routing: they hold no model, and the header of a native one says of which shape it is.
#include <algorithm>
#include <charconv>
#include <string>

#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"
#include "core/formats/safetensors_outline.h"
#include "core/sheet/sheet_parts.h"

namespace stormcell {
namespace {

/// The shape of the traced model: the header of a native trace names it.
void set_traced_shape(const ModelPlace& place, ModelSheet& sheet) {
  const OpenFile file = OpenFile::open_regular(place.path);
  HeaderBytes bytes(file);
  const SafetensorsOutline outline = outline_safetensors(bytes, [&](const DescribedTensor& tensor) {
    if (!tensor.name.starts_with("layer.") || !tensor.name.ends_with(".indices") || tensor.shape.size() != 2) return;
    ++sheet.layers_with_experts;
    sheet.k = std::max(sheet.k, std::clamp<int64_t>(tensor.shape[1], 0, INT32_MAX));
  });
  const auto about = [&](const std::string& key) {
    const auto found = outline.metadata.find(key);
    return found == outline.metadata.end() ? std::string() : found->second;
  };
  if (const std::string model = about("model"); !model.empty()) sheet.name = model;
  sheet.family = about("family");
  sheet.layers = sheet.layers_with_experts;
  for (const std::string key : {"branches", "layer.0.branches"}) {
    int32_t branches = 0;
    const std::string text = about(key);
    std::from_chars(text.data(), text.data() + text.size(), branches);
    sheet.experts = std::max<int64_t>(sheet.experts, branches);
  }
}

}  // namespace

void fill_from_trace(const ModelPlace& place, ModelSheet& sheet) {
  sheet.files = 1;
  if (place.kind == "native") set_traced_shape(place, sheet);
  sheet.lacks.push_back(
      {"a recording holds where cells went, and no model: stormcell import " + place.path + " -o S.storm", "", 0});
}

}  // namespace stormcell
