#include "core/sheet/model_place.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
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
#include "core/sheet/lacks.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;

constexpr std::string_view kFolderKind = "model-folder", kPartMark = "-of-", kGgufEnd = ".gguf";
constexpr size_t kDigits = 5, kMostParts = 1024, kMostNamedParts = 3;

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
/// Kinds of files that lie in a model's folder beside its weights.
constexpr std::array<std::string_view, 10> kParts = {
    "index",         "tokenizer",         "tokenizer-config", "preprocessor-config",
    "model-config",  "generation-config", "vocabulary",       "merges",
    "sentencepiece", "tiktoken"};

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

/// The number that five digits before `end` are.
std::optional<size_t> digits_before(std::string_view name, size_t end) {
  if (end < kDigits) return std::nullopt;
  size_t number = 0;
  const char* from = name.data() + end - kDigits;
  const auto [after, error] = std::from_chars(from, from + kDigits, number);
  if (error != std::errc() || after != from + kDigits) return std::nullopt;
  return number;
}

/// A name "BASE-00002-of-00005.gguf".
struct PartName {
  std::string base;
  size_t number = 0, of = 0;
};
std::optional<PartName> part_name(std::string_view path) {
  if (!path.ends_with(kGgufEnd)) return std::nullopt;
  const size_t end = path.size() - kGgufEnd.size();
  const auto of = digits_before(path, end);
  if (!of || end < 2 * kDigits + kPartMark.size() + 1) return std::nullopt;
  const size_t mark = end - kDigits - kPartMark.size();
  const auto number = digits_before(path, mark);
  if (path.substr(mark, kPartMark.size()) != kPartMark || !number || path[mark - kDigits - 1] != '-')
    return std::nullopt;
  if (*number < 1 || *number > *of || *of > kMostParts) return std::nullopt;
  return PartName{std::string(path.substr(0, mark - kDigits - 1)), *number, *of};
}

std::string five_digits(size_t number) {
  const std::string digits = std::to_string(number);
  return std::string(kDigits - std::min(kDigits, digits.size()), '0') + digits;
}

void check_parts(const std::string& path, const std::vector<std::string>& parts) {
  std::vector<std::string> missing;
  for (const std::string& part : parts)
    if (!has_entry(part)) missing.push_back(in_quotes(fs::path(part).filename().string()));
  if (missing.empty()) return;
  bad_input(path,
            "is one of " + counted(std::ssize(parts), "part") + " of a model, of which " +
                with_commas(std::ssize(missing)) + (missing.size() == 1 ? " is" : " are") +
                " not beside it: " + listed(missing, kMostNamedParts),
            "download them again");
}

ModelPlace gguf_place(const std::string& path) {
  ModelPlace place{SheetForm::gguf, "gguf", path, gguf_parts(path)};
  check_parts(path, place.files);
  place.path = place.files.front();
  return place;
}

/// The revision that Hugging Face's cache has of a model, "models--NAME/snapshots/REVISION": the one that refs/main names,
/// else the only one; empty: the folder is no such place.
std::string cached_revision(const std::string& folder) {
  const fs::path snapshots = fs::path(folder) / "snapshots", main = fs::path(folder) / "refs" / "main";
  constexpr size_t kMostRevision = 256;
  if (!has_entry(snapshots.string())) return {};
  if (has_entry(main.string())) {
    const std::string name = read_file_text(main.string(), kMostRevision);
    const std::string revision = (snapshots / name.substr(0, name.find_first_of("\r\n/"))).string();
    if (has_config(revision)) return revision;
  }
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(snapshots, error), end; !error && it != end; it.increment(error))
    if (has_config(it->path().string())) found.push_back(it->path().string());
  return found.size() == 1 ? found.front() : std::string();
}

/// The only model of a folder without config.json; nothing: it has none.
std::optional<ModelPlace> lone_model(const std::string& folder) {
  std::set<std::string> models;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string path = it->path().string(), name = it->path().filename().string();
    if (path.ends_with(kGgufEnd) && !name.starts_with("mmproj")) models.insert(gguf_parts(path).front());
    if (path.ends_with(".onnx") || path.ends_with(".pt2")) models.insert(path);
  }
  if (models.empty()) return std::nullopt;
  if (models.size() == 1) return model_place(*models.begin());
  std::vector<std::string> names;
  for (const std::string& model : models) names.push_back(in_quotes(fs::path(model).filename().string()));
  bad_input(folder, "holds " + counted(std::ssize(models), "model") + ": " + listed(names, kMostNamedParts),
            "name one of them");
}

ModelPlace folder_place(const std::string& folder) {
  return {
      .form = SheetForm::folder, .kind = std::string(kFolderKind), .path = folder, .opens = opens_as_family(folder)};
}

/// Weights of a folder by the names that Hugging Face gives them; any other file may be a model of its own.
bool is_named_as_weights(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  return (name.starts_with("model-") || name.starts_with("pytorch_model") || name.starts_with("model.safetensors"));
}

}  // namespace

std::vector<std::string> gguf_parts(const std::string& path) {
  const std::optional<PartName> name = part_name(path);
  if (!name) return {path};
  std::vector<std::string> parts;
  for (size_t i = 1; i <= name->of; ++i)
    parts.push_back(name->base + "-" + five_digits(i) + std::string(kPartMark) + five_digits(name->of) +
                    std::string(kGgufEnd));
  return parts;
}

ModelPlace model_place(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    if (has_config(path)) return folder_place(path);
    if (const std::string revision = cached_revision(path); !revision.empty()) return folder_place(revision);
    return lone_model(path).value_or(ModelPlace{});
  }
  const std::optional<KnownFile> known = known_file(path);
  if (!known) return {};
  const std::string folder = folder_of(path), kind(known->kind->id);
  const bool is_part = std::find(kParts.begin(), kParts.end(), kind) != kParts.end() || is_named_as_weights(path);
  if (is_part && has_config(folder)) return folder_place(folder);
  if (kind == "gguf") return gguf_place(path);
  // A file of weights beside a configuration is a model of our layouts, whatever its name is.
  if (kind == "safetensors" && has_config(folder) && opens_as_family(folder))
    return {SheetForm::safetensors, kind, path, {path}, true};
  for (const FormOfKind& row : kForms)
    if (row.kind == kind) return {row.form, kind, path, {path}};
  // An array may be a recording, but is more often data.
  const FileUses uses = known->kind->uses;
  if (uses.has(FileUse::trace) && !uses.has(FileUse::array)) return {SheetForm::trace, kind, path, {path}};
  return {};
}

}  // namespace stormcell
