#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/expert_fields.h"
#include "core/formats/expert_layers.h"
#include "core/formats/expert_rules.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/json_walk.h"
#include "core/formats/open_file.h"
#include "core/formats/part_names.h"
#include "core/formats/unfinished_download.h"
#include "core/sheet/lacks.h"
#include "core/sheet/routing_rule.h"
#include "core/sheet/sheet_parts.h"
#include "core/sheet/text_parts.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr uint64_t kMostIndexBytes = uint64_t{256} << 20;
constexpr size_t kMostConfigBytes = size_t{16} << 20, kMostShards = 4096;

/// The tensors of a file: how many, and a sum over their names that does not depend on their order.
struct NamesOfFile {
  int64_t tensors = 0;
  uint64_t names = 0;
  void add(std::string_view name) { ++tensors, names += std::hash<std::string_view>{}(name); }
};
/// Files of weights by their names, with the tensors that an index names.
struct WeightsOfFolder {
  std::map<std::string, NamesOfFile> files;
  std::string index;  ///< its path; empty: there is none
};

/// The files that an index lists.
class ShardVisitor : public JsonVisitor {
 public:
  void text(const JsonPath& path, const std::string& value) override {
    if (path.size() == 2 && path.key(0) == "weight_map" && (shards.size() <= kMostShards || shards.contains(value)))
      shards[value].add(path.key(1));
  }
  std::map<std::string, NamesOfFile> shards;
};

std::map<std::string, NamesOfFile> shards_of(const std::string& index) {
  const OpenFile file = OpenFile::open_regular(index);
  HeaderBytes bytes(file);
  if (bytes.size() > kMostIndexBytes) bad_input(index, "is too large for an index of weights", "get the file again");
  ShardVisitor visitor;
  walk_json(bytes, bytes.size(), visitor, index);
  if (visitor.shards.size() > kMostShards) bad_input(index, "names too many files", "get the file again");
  for (const auto& [shard, names] : visitor.shards)
    if (shard.empty() || shard.find('/') != std::string::npos || shard.find('\0') != std::string::npos)
      bad_input(index, in_quotes(shard) + " is not the name of a file beside it", "get the file again");
  return std::move(visitor.shards);
}

/// Without an index the names of parts say how many there are. Error(bad_input): parts of several models.
void complete_parts(const fs::path& folder, std::set<std::string>& names) {
  std::set<std::string> firsts;
  for (const std::string& name : std::set<std::string>(names)) {
    if (!part_name(name)) continue;
    std::vector<std::string> parts = all_parts(name);
    firsts.insert(in_quotes(parts.front()));
    names.insert(parts.begin(), parts.end());
  }
  constexpr size_t kMostNamed = 3;
  if (firsts.size() > 1)
    bad_input(folder.string(),
              "holds parts of " + counted(std::ssize(firsts), "model") + ": " + listed(firsts, kMostNamed),
              "keep the parts of one model in a folder");
}

/// Files of weights of a folder: those that an index names, else the single one, as it is opened (weight_files.h), else
/// all that have the names of weights.
WeightsOfFolder weights_of(const fs::path& folder) {
  for (const char* index : {"model.safetensors.index.json", "pytorch_model.bin.index.json"})
    if (const std::string path = (folder / index).string(); has_entry(path)) return {shards_of(path), path};
  if (has_entry((folder / "model.safetensors").string())) return {{{"model.safetensors", {}}}, {}};
  std::set<std::string> safetensors, torch;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(".safetensors") && !name.starts_with("consolidated") && !name.starts_with("adapter"))
      safetensors.insert(name);
    if (name.starts_with("pytorch_model") && name.ends_with(".bin")) torch.insert(name);
  }
  std::set<std::string>& names = safetensors.empty() ? torch : safetensors;
  complete_parts(folder, names);
  WeightsOfFolder weights;
  for (const std::string& name : names) weights.files[name];
  return weights;
}

/// A file with as many tensors as the index names of it, or fewer, has these: another file is of another version.
void check_against_index(const std::string& path, const NamesOfFile& stated, const NamesOfFile& seen,
                         const std::string& index) {
  if (seen.tensors > stated.tensors || (seen.tensors == stated.tensors && seen.names == stated.names)) return;
  bad_input(path,
            "holds other tensors than " + in_quotes(fs::path(index).filename().string()) +
                " names of it: " + counted(seen.tensors, "tensor") + ", named " +
                (stated.tensors == 1 ? "is " : "are ") + with_commas(stated.tensors),
            "get all files of one version");
}

std::string first_unfinished(const fs::path& folder) {
  for (const char* place : {"", ".cache/huggingface/download"}) {
    std::error_code error;
    for (fs::directory_iterator it(folder / place, error), end; !error && it != end; it.increment(error))
      if (const std::string name = it->path().filename().string(); has_unfinished_ending(name)) return name;
  }
  return {};
}

/// How weights are packed, by "quantization_config" or, of MLX, "quantization".
struct Packed {
  std::string method;
  int32_t bits = 0;
};
Packed packed_of(const Json& config) {
  const Json& stated = value_at(config, "quantization_config");
  if (!stated.is_object()) {
    const Json& mlx = value_at(config, "quantization");
    return mlx.is_object() ? Packed{"mlx", static_cast<int32_t>(std::clamp<int64_t>(whole_at(mlx, "bits"), 0, 32))}
                           : Packed{};
  }
  Packed packed{text_at(stated, "quant_method").substr(0, 64)};
  int64_t bits = whole_at(stated, "bits");
  if (bits == 0)
    bits = whole_at(value_at(value_at(value_at(stated, "config_groups"), "group_0"), "weights"), "num_bits");
  if (bits == 0) bits = flag_at(stated, "load_in_8bit") ? 8 : flag_at(stated, "load_in_4bit") ? 4 : 0;
  packed.bits = static_cast<int32_t>(std::clamp<int64_t>(bits, 0, 32));
  return packed;
}

bool is_expert_family(std::string_view name) {
  const auto rows = expert_families();
  return std::any_of(rows.begin(), rows.end(), [&](const ExpertFamily& f) { return f.name == name; });
}

/// The part of a configuration that describes the language model.
struct LanguagePart {
  const Json* config = nullptr;
  std::string family;
};
LanguagePart language_part(const Json& config) {
  const ExpertPart part = find_expert_part(config, is_expert_family);
  if (part.object != &config || is_expert_family(part.family)) return {part.object, part.family};
  const Json& text = value_at(config, "text_config");
  if (!text.is_object()) return {&config, part.family};
  const std::string family = text_at(text, "model_type");
  return {&text, family.empty() ? part.family : family};
}

int64_t stated_layers(const Json& config) {
  for (const char* key : {"num_hidden_layers", "n_layer", "n_layers", "num_layers"})
    if (const int64_t n = whole_at(config, key); n > 0) return std::min<int64_t>(n, kMostTracedLayers);
  return 0;
}

/// Experts by the table of families. A configuration without experts says nothing.
void set_experts(const Json& config, const std::string& where, ModelSheet& sheet, int64_t& shared) {
  try {
    const ExpertLayers found = read_expert_layers(config, where);
    sheet.experts = found.experts, sheet.k = found.per_token, shared = found.shared;
    if (found.layers > 0) sheet.layers = found.layers + found.decoder_layers;
    sheet.layers_with_experts = std::ssize(found.with_experts) + std::ssize(found.decoder_with_experts);
    for (const std::string& doubt : {found.doubt, found.unlike})
      if (!doubt.empty()) sheet.warnings.push_back(doubt);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    const bool is_dense = std::string_view(error.what()).find("no branches") != std::string_view::npos;
    if (!is_dense) sheet.warnings.emplace_back(error.what());
  }
}

/// Operations that a configuration names by layer, where weights are missing that would show them.
void need_stated_operations(const Json& config, TensorTally& tally) {
  struct Word {
    std::string_view word, operation;
  };
  constexpr Word kWords[] = {
      {"linear_attention", "delta_rule"}, {"conv", "short_conv"}, {"mamba", "ssd"}, {"mamba2", "ssd"}};
  int32_t layer = 0;
  for (const Json& type : list_at(config, "layer_types")) {
    for (const Word& word : kWords)
      if (type.is_string() && type.get_ref<const std::string&>() == word.word) tally.need(word.operation, layer);
    if (++layer >= kMostTracedLayers) break;
  }
}

void tally_weights(const fs::path& folder, TensorTally& tally, ModelSheet& sheet) {
  const WeightsOfFolder weights = weights_of(folder);
  int64_t missing = 0;
  for (const auto& [name, stated] : weights.files) {
    const std::string path = (folder / name).string();
    std::error_code error;
    if (!fs::exists(path, error)) {  // a link to nothing is no file either
      ++missing;
      continue;
    }
    NamesOfFile seen;
    const auto see = [&](const DescribedTensor& tensor) { tally.add(tensor), seen.add(tensor.name); };
    if (name.ends_with(".safetensors"))
      see_safetensors(path, see, sheet);
    else
      see_torch(path, see, sheet);
    if (!weights.index.empty()) check_against_index(path, stated, seen, weights.index);
  }
  const std::string unfinished = first_unfinished(folder);
  if (weights.files.empty()) sheet.lacks.push_back({"the folder holds no weights", "", 0});
  if (missing > 0)
    sheet.lacks.push_back({"files of weights are not there",
                           std::to_string(missing) + " of " + std::to_string(weights.files.size()), missing});
  if (!unfinished.empty())
    sheet.warnings.push_back(folder.string() + ": a download did not end, it left " + in_quotes(unfinished));
}

}  // namespace

void fill_from_folder(const ModelPlace& place, ModelSheet& sheet) {
  const bool is_file = place.form == SheetForm::safetensors;
  const fs::path parent = fs::path(place.path).parent_path();
  const fs::path folder = is_file ? (parent.empty() ? fs::path(".") : parent) : fs::path(place.path);
  const std::string where = (folder / "config.json").string();
  const Json config = read_json_file(where, {kMostConfigBytes, 64});
  const LanguagePart part = language_part(config);
  sheet.family = part.family;
  sheet.layers = stated_layers(*part.config);
  int64_t shared = 0;
  if (own_rule(sheet.family).empty()) set_experts(config, where, sheet, shared);
  const Packed packed = packed_of(config);
  TensorTally tally(packed.method, packed.bits);
  if (is_file)
    see_safetensors(
        place.path, [&](const DescribedTensor& tensor) { tally.add(tensor); }, sheet);
  else
    tally_weights(folder, tally, sheet);
  need_stated_operations(*part.config, tally);
  if (sheet.layers == 0) sheet.layers = tally.layers();
  if (sheet.layers_with_experts == 0 && own_rule(sheet.family).empty())
    sheet.layers_with_experts = tally.layers_with_experts();
  set_weights(tally, sheet);
  RoutingRule rule = routing_rule(sheet.family, *part.config);
  rule.choice_bias = tally.has_choice_bias();
  sheet.routing = own_rule(sheet.family).empty() ? routing_text(rule, sheet.experts, sheet.k, shared)
                                                 : std::string(own_rule(sheet.family));
  const TextParts text = text_parts_of(folder.string());
  sheet.tokenizer = text.tokenizer, sheet.chat_template = text.chat_template;
  sheet.runnable = place.opens;
  if (sheet.runnable) return;
  add_lacks(sheet, lacking_family(sheet.family));
  add_lacks(sheet, lacking_operations(tally, sheet.layers));
  add_lacks(sheet, lacking_formats(tally));
  for (const std::string_view kind : {"tekken", "tiktoken", "WordPiece", "WordLevel"})
    if (sheet.tokenizer.starts_with(kind))
      sheet.lacks.push_back({"the tokenizer is not read: " + sheet.tokenizer, "", 0});
  if (sheet.experts > 0) sheet.recorder = "transformers-5";
}

}  // namespace stormcell
