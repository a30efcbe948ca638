#include "core/sheet/sheet.h"

#include <algorithm>
#include <filesystem>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"
#include "core/formats/part_names.h"
#include "core/formats/safetensors_outline.h"
#include "core/formats/torch_outline.h"
#include "core/machine/memory.h"
#include "core/sheet/sheet_parts.h"

namespace stormcell {
namespace {

constexpr double kGiga = 1e9;

void set_memory(ModelSheet& sheet) {
  SheetMemory& memory = sheet.memory;
  memory.total_bytes = total_memory(), memory.available_bytes = available_memory();
  if (sheet.bytes <= 0 || memory.available_bytes <= 0) return;
  // Under a budget a step waits for one expert at a time, and the next one is read meanwhile.
  const int64_t experts = std::max<int64_t>(sheet.experts * sheet.layers_with_experts, 1);
  const int64_t least = memory.rest_bytes + 2 * (memory.expert_bytes / experts);
  if (memory.expert_bytes + memory.rest_bytes <= memory.available_bytes)
    memory.fits = MemoryFit::whole;
  else
    memory.fits =
        memory.expert_bytes > 0 && least <= memory.available_bytes ? MemoryFit::experts_in_part : MemoryFit::not_at_all;
}

/// A text of a file without what would steer a terminal, at most 1,000 bytes.
void make_plain(std::string& text) {
  constexpr size_t kMostText = 1000;
  if (text.size() > kMostText) text.resize(kMostText);
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  if (const size_t invalid = find_invalid_utf8(text); invalid != std::string::npos) text.resize(invalid);
}

/// Names and words of a sheet are what strangers wrote into headers.
void make_plain(ModelSheet& sheet) {
  for (std::string* text : {&sheet.name, &sheet.family, &sheet.routing, &sheet.tokenizer, &sheet.chat_template})
    make_plain(*text);
  for (SheetLack& lack : sheet.lacks) make_plain(lack.what), make_plain(lack.where);
  for (std::string& warning : sheet.warnings) make_plain(warning);
  for (auto& [kind, rows] : sheet.formats) {
    std::map<std::string, SheetFormat> plain;
    for (auto& [format, row] : rows) {
      std::string name = format;
      make_plain(name);
      plain[name] = row;
    }
    rows = std::move(plain);
  }
}

}  // namespace

std::string file_name(const std::string& path) {
  // A folder may be named with a slash behind it.
  std::filesystem::path place(path);
  if (place.filename().empty()) place = place.parent_path();
  std::error_code error;
  if (place.empty() || place == "." || place == "..") place = std::filesystem::absolute(path, error).lexically_normal();
  if (place.filename().empty()) place = place.parent_path();
  // Hugging Face's cache: models--OWNER--NAME/snapshots/REVISION.
  constexpr std::string_view kCached = "models--", kBetween = "--";
  const std::string model = place.parent_path().parent_path().filename().string();
  if (place.parent_path().filename() != "snapshots" || !model.starts_with(kCached)) return place.filename().string();
  std::string name = model.substr(kCached.size());
  if (const size_t at = name.find(kBetween); at != std::string::npos) name.replace(at, kBetween.size(), "/");
  return name;
}

void refuse_unlike(const std::string& path, std::initializer_list<std::string_view> kinds) {
  const std::optional<KnownFile> known = known_file(path);
  if (known && !known->remedy.empty() && std::find(kinds.begin(), kinds.end(), known->kind->id) == kinds.end())
    bad_input(path, "is " + known->name + ", not weights of the model", known->remedy);
}

void see_safetensors(const std::string& path, const SeeTensor& see, ModelSheet& sheet) {
  const OpenFile file = OpenFile::open_regular(path);
  try {
    HeaderBytes bytes(file);
    outline_safetensors(bytes, see);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_input) refuse_unlike(path, {"safetensors", "native", "trtllm-rank"});
    throw;
  }
  ++sheet.files;
}

TorchOutline see_torch(const std::string& path, const SeeTensor& see, ModelSheet& sheet) {
  const OpenFile file = OpenFile::open_regular(path);
  try {
    TorchOutline outline = outline_torch(file, see);
    ++sheet.files;
    return outline;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_input)
      refuse_unlike(path, {"torch", "torch-old", "torchscript", "zip", "pickle"});
    throw;
  }
}

void set_weights(const TensorTally& tally, ModelSheet& sheet) {
  const SheetFormat experts = tally.of_kind("experts"), further = tally.of_kind("further tokens"),
                    inputs = tally.of_kind("other inputs"), embedding = tally.of_kind("embedding");
  sheet.formats = tally.formats();
  sheet.bytes = tally.bytes();
  sheet.parameters = tally.parameters();
  sheet.memory.expert_bytes = experts.bytes;
  sheet.memory.rest_bytes = sheet.bytes - experts.bytes;
  const double share = sheet.experts > 0 && sheet.k > 0 && sheet.k <= sheet.experts
                           ? static_cast<double>(sheet.k) / static_cast<double>(sheet.experts)
                           : 1;
  if (experts.parameters > 0 && sheet.k == 0) return;
  const auto part = [&](int64_t all) {
    return share < 1 ? static_cast<int64_t>(share * static_cast<double>(all)) : all;
  };
  sheet.active_parameters = sheet.parameters - experts.parameters + part(experts.parameters) - further.parameters;
  // A token reads one row of the embedding, unless the embedding is the head too.
  const int64_t looked_up = tally.of_kind("head").tensors > 0 ? embedding.bytes : 0;
  sheet.memory.token_bytes = sheet.memory.rest_bytes - looked_up - further.bytes - inputs.bytes + part(experts.bytes);
}

ModelSheet sheet_of(const ModelPlace& place) {
  ModelSheet sheet;
  sheet.kind = place.kind;
  sheet.name = file_name(place.path);
  switch (place.form) {
    case SheetForm::folder:
      fill_from_folder(place, sheet);
      break;
    case SheetForm::gguf:
      fill_from_gguf(place, sheet);
      break;
    case SheetForm::safetensors:
      place.opens ? fill_from_folder(place, sheet) : fill_from_tensors(place, sheet);
      break;
    case SheetForm::torch:
      fill_from_tensors(place, sheet);
      break;
    case SheetForm::torchscript:
    case SheetForm::pt2:
    case SheetForm::onnx:
      fill_from_program(place, sheet);
      break;
    default:
      fill_from_trace(place, sheet);
  }
  for (const std::string& path : place.files)
    if (const std::string download = download_beside(path); !download.empty()) {
      sheet.warnings.push_back(path + ": its download did not end, it left " + in_quotes(download));
      break;
    }
  set_memory(sheet);
  make_plain(sheet);
  return sheet;
}

bool has_rate(const ModelSheet& sheet) {
  const bool has_words = sheet.formats.contains("embedding");
  return has_words && sheet.layers > 0 && sheet.memory.fits == MemoryFit::whole && sheet.memory.token_bytes > 0 &&
         sheet.active_parameters > 0;
}

void set_rate(ModelSheet& sheet, const DeviceProbe& ceilings) {
  if (!has_rate(sheet) || ceilings.read_gbs <= 0 || ceilings.f32_gflops <= 0) return;
  const double reading = static_cast<double>(sheet.memory.token_bytes) / (ceilings.read_gbs * kGiga);
  // A multiplication and an addition for each parameter.
  const double arithmetic = 2 * static_cast<double>(sheet.active_parameters) / (ceilings.f32_gflops * kGiga);
  sheet.tokens_per_s = SheetRate{1 / (reading + arithmetic), 1 / std::max(reading, arithmetic)};
}

}  // namespace stormcell
