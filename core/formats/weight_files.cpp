// Which files of a model folder hold its weights, and that they agree with the folder's index.
#include "core/formats/weight_files.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;
using ShardOf = std::map<std::string, std::string>;  // tensor name to the shard's file name

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

ShardOf read_index(const std::string& path) {
  const nlohmann::json root = read_json_file(path);
  const auto map = root.is_object() ? root.find("weight_map") : root.end();
  if (!root.is_object() || map == root.end()) refuse_other_kind(path, FileUse::index);
  if (!root.is_object() || map == root.end() || !map->is_object() || map->empty())
    bad_input(path, "has no weight_map", "get the file again; it names the shard of every tensor");
  ShardOf shard_of;
  for (const auto& [tensor, shard] : map->items()) {
    if (!shard.is_string()) bad_input(path, "tensor " + in_quotes(tensor) + ": its shard is not a file name", "get the file again");
    const auto& name = shard.get_ref<const std::string&>();
    // A shard lies beside its index: a name that leads elsewhere is a mistake, or worse.
    if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos || !name.ends_with(".safetensors"))
      bad_input(path, "tensor " + in_quotes(tensor) + ": " + in_quotes(name) + " is not the name of a .safetensors file beside it",
                "get the file again");
    shard_of[tensor] = name;
  }
  return shard_of;
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
    bad_input(
        folder, "holds its weights only as pytorch_model.bin, a program rather than data",
        "convert it: 1. pip install torch numpy safetensors; 2. cd " + folder +
            "; 3. python3 -c \"import glob,torch,safetensors.torch as s; d={}; [d.update(torch.load(f,'cpu',weights_only=True)) for f in "
            "glob.glob('pytorch_model*.bin')]; s.save_file({k:v.clone().contiguous() for k,v in d.items()},'model.safetensors')\"");
  bad_input(folder, "holds no weights", "expected model.safetensors, or model.safetensors.index.json and its shards");
}
}  // namespace

WeightFiles::WeightFiles() = default;
WeightFiles::~WeightFiles() = default;
const std::string& WeightFiles::file_path(size_t file) const { return files_[file]->path(); }
std::string_view WeightFiles::header_bytes(size_t file) const { return files_[file]->header(); }

const TensorPlace* WeightFiles::find(std::string_view name) const { return find_tensor(tensors_, name); }

void WeightFiles::read(const TensorPlace& tensor, int64_t first, std::span<std::byte> to) const {
  files_[static_cast<size_t>(tensor.file)]->read(tensor, first, to);
}

std::vector<std::string> WeightFiles::changes() const {
  std::vector<std::string> changes;
  for (const std::unique_ptr<const TensorFile>& file : files_)
    if (std::string change = file->change(); !change.empty()) changes.push_back(std::move(change));
  return changes;
}

void WeightFiles::add(const std::string& path) {
  const int index = static_cast<int>(files_.size());
  files_.push_back(std::make_unique<const TensorFile>(path));
  for (TensorPlace tensor : files_.back()->tensors()) {
    tensor.file = index;
    tensors_.push_back(std::move(tensor));
  }
  total_bytes_ += files_.back()->total_bytes();
}

// Every tensor of the index is in its shard, every tensor of a shard is in the index, none is in two shards.
void WeightFiles::check_index(const std::string& index_path, const ShardOf& shard_of) const {
  for (const TensorPlace& tensor : tensors_) {
    const std::string shard = fs::path(file_path(static_cast<size_t>(tensor.file))).filename().string();
    const auto it = shard_of.find(tensor.name);
    if (it == shard_of.end())
      bad_input(index_path, "does not name the tensor " + in_quotes(tensor.name) + " of " + shard,
                "get index and shards again, all of one version");
    if (it->second != shard)
      bad_input(index_path, "tensor " + in_quotes(tensor.name) + " is in " + shard + ", the index says " + in_quotes(it->second),
                "get index and shards again, all of one version");
  }
  // The names agree one by one, so equal counts mean that nothing is missing.
  if (tensors_.size() == shard_of.size()) return;
  for (const auto& [name, shard] : shard_of)
    if (!find(name))
      bad_input(index_path, "tensor " + in_quotes(name) + " is not in " + in_quotes(shard),
                "get index and shards again, all of one version");
}

std::shared_ptr<const WeightFiles> WeightFiles::open(const std::string& path) {
  std::shared_ptr<WeightFiles> weights(new WeightFiles);
  weights->path_ = path;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (fs::exists(path, error) && !path.ends_with(".safetensors"))
      refuse_file(path, FileUse::tensors, "is not a .safetensors file", "name a model folder or a .safetensors file");
    weights->add(path);
    return weights;
  }
  const std::string single = (fs::path(path) / "model.safetensors").string(),
                    index = (fs::path(path) / "model.safetensors.index.json").string();
  if (fs::exists(single, error)) {
    weights->add(single);
    return weights;
  }
  if (!fs::exists(index, error)) refuse_folder(path);
  const ShardOf shard_of = read_index(index);
  std::set<std::string> shards;
  for (const auto& [tensor, shard] : shard_of) shards.insert(shard);
  for (const std::string& shard : shards) weights->add((fs::path(path) / shard).string());
  std::sort(weights->tensors_.begin(), weights->tensors_.end(), [](const TensorPlace& a, const TensorPlace& b) { return a.name < b.name; });
  weights->check_index(index, shard_of);
  return weights;
}

}  // namespace stormcell
