#include "core/sheet/model_place.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <system_error>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/open_file.h"
#include "core/formats/part_names.h"
#include "core/sheet/lacks.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kFolderKind = "model-folder", kConfigKind = "model-config";
constexpr size_t kMostNamedModels = 3, kMostLookedAtModels = 64;

struct FormOfKind {
  std::string_view kind;
  SheetForm form;
};
constexpr std::array kForms = {
    FormOfKind{"gguf", SheetForm::gguf},   FormOfKind{"safetensors", SheetForm::safetensors},
    FormOfKind{"torch", SheetForm::torch}, FormOfKind{"torch-old", SheetForm::torch},
    FormOfKind{"pt2", SheetForm::pt2},     FormOfKind{"torchscript", SheetForm::torchscript},
    FormOfKind{"onnx", SheetForm::onnx},
};
/// Kinds of files that are in a model's folder beside its weights.
constexpr std::array<std::string_view, 10> kParts = {
    "index",         "tokenizer",         "tokenizer-config", "preprocessor-config",
    "model-config",  "generation-config", "vocabulary",       "merges",
    "sentencepiece", "tiktoken"};

/// Kinds that a folder of any content may hold: a README.md, a template, a program of the model.
constexpr std::array<std::string_view, 5> kTexts = {"text", "json", "script", "params", "quantize-config"};
/// Endings of files that may be a whole model.
constexpr std::array<std::string_view, 8> kModelEnds = {".gguf", ".onnx", ".pt2",  ".safetensors",
                                                        ".pt",   ".pth",  ".ckpt", ".tar"};
/// Beginnings of names that other parts of a model or of its training have.
constexpr std::array<std::string_view, 6> kNoModelNames = {"mmproj",    "optimizer", "scheduler",
                                                           "rng_state", "scaler",    "training_args"};

std::string folder_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

bool has_config(const std::string& folder) { return has_entry((fs::path(folder) / "config.json").string()); }

/// Whether open_model() knows the family, or is the one to say what is wrong with the configuration.
bool opens_as_family(const std::string& folder) {
  constexpr size_t kMostConfig = size_t{16} << 20;
  try {
    const nlohmann::json config = read_json_file((fs::path(folder) / "config.json").string(), {kMostConfig, 64});
    const std::string family = text_at(config, "model_type");
    return family.empty() || has_family(family);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::bad_input) throw;
    return true;
  }
}

bool is_among(std::span<const std::string_view> words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// A model in one file or in parts, which its name says.
ModelPlace place_of_parts(SheetForm form, const std::string& kind, const std::string& path) {
  ModelPlace place{form, kind, path, all_parts(path)};
  check_parts_are_there(path, place.files);
  place.path = place.files.front();
  return place;
}

/// The revision that Hugging Face's cache has of a model, "models--NAME/snapshots/REVISION": the one that refs/main
/// names, else the only one; empty: the folder is no such place.
std::string cached_revision(const std::string& folder) {
  const fs::path snapshots = fs::path(folder) / "snapshots", main = fs::path(folder) / "refs" / "main";
  constexpr size_t kMostRevision = 256;
  std::error_code error;
  if (!fs::is_directory(snapshots, error)) return {};
  if (has_entry(main.string())) {
    const std::string text = read_file_text(main.string(), kMostRevision),
                      name = text.substr(0, text.find_first_of("\r\n/"));
    if (!name.empty() && fs::is_directory(snapshots / name, error)) return (snapshots / name).string();
  }
  std::vector<std::string> found;
  for (fs::directory_iterator it(snapshots, error), end; !error && it != end; it.increment(error))
    if (it->is_directory(error)) found.push_back(it->path().string());
  return found.size() == 1 ? found.front() : std::string();
}

SheetForm form_of(std::string_view kind) {
  const auto row = std::find_if(kForms.begin(), kForms.end(), [&](const FormOfKind& f) { return f.kind == kind; });
  return row == kForms.end() ? SheetForm::none : row->form;
}

/// Weights of a folder by the names that Hugging Face gives them; any other file may be a model of its own.
bool is_named_as_weights(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return (name.starts_with("model-") || name.starts_with("pytorch_model") || name.starts_with("model.safetensors"));
}

/// Weights that Hugging Face names are a part of a model: without its config.json the folder is not whole.
bool may_be_model(const std::string& name) {
  if (name.ends_with(".safetensors") && is_named_as_weights(name)) return false;
  const auto ends = [&](std::string_view end) { return name.ends_with(end); };
  const auto begins = [&](std::string_view begin) { return name.starts_with(begin); };
  return std::any_of(kModelEnds.begin(), kModelEnds.end(), ends) &&
         std::none_of(kNoModelNames.begin(), kNoModelNames.end(), begins);
}

/// The only model of a folder without the weights of a Hugging Face model; nothing: it has none.
std::optional<ModelPlace> lone_model(const std::string& folder) {
  std::set<std::string> candidates;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error))
    if (may_be_model(it->path().filename().string())) candidates.insert(all_parts(it->path().string()).front());
  std::vector<std::string> models;
  for (const std::string& path : candidates) {
    // A part may be missing, the first one too: model_place() says so.
    const bool is_part = part_name(path).has_value() && !has_entry(path);
    const std::optional<KnownFile> known =
        is_part || models.size() >= kMostLookedAtModels ? std::nullopt : known_file(path);
    if (is_part || models.size() >= kMostLookedAtModels || (known && form_of(known->kind->id) != SheetForm::none))
      models.push_back(path);
  }
  if (models.empty()) return std::nullopt;
  if (models.size() == 1) {
    const std::vector<std::string> parts = all_parts(models.front());
    const auto there = std::find_if(parts.begin(), parts.end(), has_entry);
    return model_place(there == parts.end() ? models.front() : *there);
  }
  std::vector<std::string> names;
  for (const std::string& model : models) names.push_back(in_quotes(fs::path(model).filename().string()));
  bad_input(folder, "holds " + counted(std::ssize(models), "model") + ": " + listed(names, kMostNamedModels),
            "name one of them");
}

/// Whether a folder has weights as Hugging Face names them, or the list of their files.
bool has_weights(const std::string& folder) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.ends_with(".safetensors") || name.ends_with(".index.json") || name.starts_with("pytorch_model"))
      return true;
  }
  return false;
}

ModelPlace folder_place(const std::string& folder) {
  return {
      .form = SheetForm::folder, .kind = std::string(kFolderKind), .path = folder, .opens = opens_as_family(folder)};
}

/// The model of a folder with config.json: repositories of GGUF files have one too.
ModelPlace place_with_config(const std::string& folder) {
  if (!has_weights(folder))
    if (std::optional<ModelPlace> lone = lone_model(folder)) return *lone;
  return folder_place(folder);
}

/// Whether its config.json is that of a model.
bool is_model_folder(const std::string& folder) {
  const std::optional<KnownFile> known = known_file((fs::path(folder) / "config.json").string());
  return known && known->kind->id == kConfigKind;
}

}  // namespace

ModelPlace model_place(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (has_config(path)) return place_with_config(path);
    const std::string revision = cached_revision(path), &folder = revision.empty() ? path : revision;
    return has_config(folder) ? place_with_config(folder) : lone_model(folder).value_or(ModelPlace{});
  }
  const std::optional<KnownFile> known = known_file(path);
  if (!known) return {};
  const std::string folder = folder_of(path), kind(known->kind->id);
  if (has_config(folder)) {
    if (is_among(kParts, kind)) return place_with_config(folder);
    if (is_named_as_weights(path)) return folder_place(folder);
    if (is_among(kTexts, kind) && is_model_folder(folder)) return place_with_config(folder);
    // A file of weights beside a configuration is a model of our layouts, whatever its name is.
    if (kind == "safetensors" && opens_as_family(folder)) return {SheetForm::safetensors, kind, path, {path}, true};
  }
  if (const SheetForm form = form_of(kind); form != SheetForm::none) return place_of_parts(form, kind, path);
  // An array may be a recording, but is more often data.
  const FileUses uses = known->kind->uses;
  if (uses.has(FileUse::trace) && !uses.has(FileUse::array)) return {SheetForm::trace, kind, path, {path}};
  return {};
}

}  // namespace stormcell
