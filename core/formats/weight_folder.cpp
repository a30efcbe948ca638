#include "core/formats/weight_folder.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/open_file.h"
#include "core/formats/unfinished_download.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;
constexpr size_t kMaxIndex = size_t{256} << 20;
constexpr const char *kSingle = "model.safetensors", *kIndex = "model.safetensors.index.json";

std::string in_folder(const std::string& folder, const std::string& name) { return (fs::path(folder) / name).string(); }

// The names of the files in a folder, sorted.
std::vector<std::string> file_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator it(folder, error);
  for (; !error && it != fs::directory_iterator(); it.increment(error)) names.push_back(it->path().filename().string());
  if (error) bad_input(folder, "cannot be listed: " + error.message(), "check its permissions");
  std::sort(names.begin(), names.end());
  return names;
}

constexpr size_t kMostNamed = 3;

/// The first names of a list in quotes, and the number of the others.
std::string first_names(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(in_quotes(name));
  return listed(quoted, kMostNamed);
}

/// Files of unfinished downloads: in the folder, and in the subfolder where Hugging Face's downloads keep theirs.
std::vector<std::string> unfinished_downloads(const std::string& folder) {
  std::vector<std::string> found;
  for (const char* place : {"", ".cache/huggingface/download"}) {
    std::error_code error;
    for (fs::directory_iterator it(fs::path(folder) / place, error), end; !error && it != end; it.increment(error)) {
      std::string name = it->path().filename().string();
      if (has_unfinished_ending(name)) found.push_back(std::move(name));
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string advice_on_missing(const std::string& folder) {
  const std::vector<std::string> unfinished = unfinished_downloads(folder);
  if (unfinished.empty()) return "download them again";
  return "the download did not end, it left " + in_quotes(unfinished.front()) + ": start it again";
}

/// The defect of a shard in words; empty: it has none.
std::string lack_of(const std::string& path) {
  std::error_code error;
  const bool there = fs::exists(path, error);
  if (!there) return has_entry(path) ? "a link that leads nowhere" : "not there";
  return fs::is_regular_file(path, error) && fs::file_size(path, error) == 0 ? "empty" : "";
}

/// The name of a shard, "model-00001-of-00003.safetensors", in its three parts.
struct ShardName {
  std::string before;  ///< "model-"
  int64_t number = 0, all = 0;
  std::string behind;  ///< "-of-00003.safetensors"
};
std::optional<ShardName> shard_name(const std::string& name) {
  constexpr std::string_view kOf = "-of-", kEnding = ".safetensors", kDigits = "0123456789";
  const size_t of = name.rfind(kOf);
  if (of == std::string::npos || of == 0 || !name.ends_with(kEnding) || name.size() < of + kOf.size() + kEnding.size())
    return {};
  const size_t digits = name.find_last_not_of(kDigits, of - (of > 0)) + 1, after = of + kOf.size();
  const auto number_in = [&](size_t begin, size_t end) {
    int64_t value = 0;
    const auto [stop, error] = std::from_chars(name.data() + begin, name.data() + end, value);
    return error == std::errc() && stop == name.data() + end ? value : int64_t{0};
  };
  const ShardName shard{name.substr(0, digits), number_in(digits, of), number_in(after, name.size() - kEnding.size()),
                        name.substr(of)};
  return shard.number > 0 && shard.all > 0 ? std::optional(shard) : std::nullopt;
}

/// A complete set of shards in the folder that the index does not name, as "model-*-of-00002.safetensors"; empty: there
/// is none.
std::string other_sharding(const std::string& folder, const std::set<std::string>& shards) {
  std::map<std::pair<std::string, std::string>, std::set<int64_t>> sets;
  for (const std::string& name : file_names(folder))
    if (const std::optional<ShardName> shard = shard_name(name);
        shard && !shards.contains(name) && shard->number <= shard->all && lack_of(in_folder(folder, name)).empty()) {
      std::set<int64_t>& numbers = sets[{shard->before, shard->behind}];
      numbers.insert(shard->number);
      if (std::ssize(numbers) == shard->all) return shard->before + "*" + shard->behind;
    }
  return {};
}

void check_shards(const std::string& folder, const std::string& index, const std::set<std::string>& shards) {
  std::vector<std::string> missing;
  for (const std::string& shard : shards)
    if (const std::string lack = lack_of(in_folder(folder, shard)); !lack.empty())
      missing.push_back(in_quotes(shard) + " (" + lack + ")");
  if (missing.empty()) return;
  std::string advice = advice_on_missing(folder);
  if (has_entry(in_folder(folder, kSingle)) && !shards.contains(kSingle))
    advice += ", or remove the index if the model.safetensors beside it is the whole model";
  const std::string other = other_sharding(folder, shards);
  if (!other.empty()) advice = "get the index that belongs to these files, or " + advice;
  bad_input(index,
            "names " + counted(std::ssize(shards), "shard") + ", of which " + with_commas(std::ssize(missing)) +
                " cannot be read: " + listed(missing, kMostNamed) +
                (other.empty() ? "" : "; it is of another sharding: the folder holds all of " + in_quotes(other)),
            advice);
}

/// Other .safetensors in the folder may be data. consolidated.safetensors, Mistral's own layout of the same weights, is
/// no contradiction.
bool has_name_of_weights(std::string_view name) {
  return name.ends_with(".safetensors") && name.find("model") != std::string_view::npos;
}

/// The weight files of the folder that are not used, in the order of their names.
std::vector<std::string> unused_files(const std::string& folder, const std::set<std::string>& used) {
  std::vector<std::string> unused;
  for (const std::string& name : file_names(folder))
    if (has_name_of_weights(name) && !used.contains(name)) unused.push_back(name);
  return unused;
}

void warn_of_unused(WeightFolder& found, const std::string& folder, const std::set<std::string>& used,
                    const std::string& why) {
  std::vector<std::string> unused = unused_files(folder, used);
  if (const auto single = std::find(unused.begin(), unused.end(), kSingle); single != unused.end()) {
    unused.erase(single);
    found.warnings.push_back(
        found.index + ": " + counted(std::ssize(used), "file is", "files are") +
        " used that the index names; model.safetensors beside it is not (vLLM and SGLang take the index, " +
        "transformers takes model.safetensors)");
  }
  if (!unused.empty())
    found.warnings.push_back(folder + ": " + counted(std::ssize(unused), "file of weights is", "files of weights are") +
                             " not used, " + why + ": " + first_names(unused));
}

[[noreturn]] void refuse_folder(const std::string& folder) {
  const std::vector<std::string> names = file_names(folder);
  bool pickled = false;
  for (const std::string& name : names) {
    pickled |= name.starts_with("pytorch_model") && name.ends_with(".bin");
    if (name.ends_with(".safetensors"))
      bad_input(folder, "holds " + in_quotes(name) + " but neither model.safetensors nor model.safetensors.index.json",
                "name the file itself if it is the whole model, or add the index");
  }
  if (pickled)
    bad_input(folder, "holds its weights only as pytorch_model.bin, a program rather than data",
              "convert it: 1. pip install torch numpy safetensors; 2. cd " + folder +
                  "; 3. python3 -c \"import glob,torch,safetensors.torch as s; d={}; "
                  "[d.update(torch.load(f,'cpu',weights_only=True)) for f in "
                  "glob.glob('pytorch_model*.bin')]; s.save_file({k:v.clone().contiguous() for k,v in "
                  "d.items()},'model.safetensors')\"");
  if (const std::vector<std::string> unfinished = unfinished_downloads(folder); !unfinished.empty())
    bad_input(folder, "holds no weights, but a download that did not end: " + first_names(unfinished),
              "start the download again");
  bad_input(folder, "holds no weights", "expected model.safetensors, or model.safetensors.index.json and its shards");
}
}  // namespace

std::map<std::string, std::string> parse_weight_index(std::string_view json, const std::string& path) {
  const nlohmann::json root = parse_json_text(json, path);
  const auto map = root.is_object() ? root.find("weight_map") : root.end();
  if (!root.is_object() || map == root.end() || !map->is_object() || map->empty())
    bad_input(path, "has no weight_map", "get the file again; it names the shard of every tensor");
  std::map<std::string, std::string> shard_of;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string())
      bad_input(path, "tensor " + in_quotes(tensor) + ": its shard is not a file name", "get the file again");
    const auto& name = shard.get_ref<const std::string&>();
    // A shard must be beside its index: a name that leads elsewhere is a mistake or an attack.
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos ||
        !name.ends_with(".safetensors"))
      bad_input(
          path,
          "tensor " + in_quotes(tensor) + ": " + in_quotes(name) + " is not the name of a .safetensors file beside it",
          "get the file again");
    shard_of[tensor] = name;
  }
  return shard_of;
}

WeightFolder find_weight_files(const std::string& folder) {
  WeightFolder found;
  const std::string single = in_folder(folder, kSingle), index = in_folder(folder, kIndex);
  if (!has_entry(index)) {
    if (!has_entry(single)) refuse_folder(folder);
    found.files = {single};
    warn_of_unused(found, folder, {kSingle}, "model.safetensors is the whole model without an index");
    return found;
  }
  found.index = index;
  const std::string content = read_file_text(index, kMaxIndex);
  refuse_other_kind(index, content, FileUse::index);
  found.shard_of = parse_weight_index(content, index);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : found.shard_of) shards.insert(shard);
  check_shards(folder, index, shards);
  for (const std::string& shard : shards) found.files.push_back(in_folder(folder, shard));
  warn_of_unused(found, folder, shards, "which the index does not name");
  return found;
}

}  // namespace stormcell
