// Opens the weights of all files and checks that they agree with the folder's index.
#include "core/formats/weight_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/open_file.h"
#include "core/formats/weight_folder.h"

namespace stormcell {
namespace {
namespace fs = std::filesystem;
using ShardOf = std::map<std::string, std::string>;  // tensor name to the shard's file name

bool begins_as_gguf(const std::string& path) {
  const OpenFile file = OpenFile::open_regular(path);
  std::array<char, 4> first{};
  if (file.size() < first.size()) return false;
  file.read(0, std::as_writable_bytes(std::span(first)));
  return is_gguf({first.data(), first.size()});
}
}  // namespace

WeightFiles::WeightFiles() = default;
WeightFiles::~WeightFiles() = default;
const std::string& WeightFiles::file_path(size_t file) const { return files_[file]->path(); }
std::string_view WeightFiles::header_bytes(size_t file) const { return files_[file]->header(); }

const TensorPlace* WeightFiles::find(std::string_view name) const { return find_tensor(tensors_, name); }

void WeightFiles::read(const TensorPlace& tensor, int64_t first, std::span<std::byte> to) const {
  files_[tensor.file]->read(tensor, first, to);
}

std::vector<std::string> WeightFiles::changes() const {
  std::vector<std::string> changes;
  for (const std::unique_ptr<const TensorFile>& file : files_)
    if (std::string change = file->change(); !change.empty()) changes.push_back(std::move(change));
  return changes;
}

void WeightFiles::add(const std::string& path) {
  // aria2 creates a file of its final size, with holes. Beside it, until the download ends, is a list of the parts that
  // have arrived.
  if (has_entry(path + ".aria2"))
    bad_input(path, "is a download that did not end: " + fs::path(path).filename().string() + ".aria2 is beside it",
              "start the download again");
  add(std::make_unique<const TensorFile>(path));
}

void WeightFiles::add(std::unique_ptr<const TensorFile> file) {
  const int index = static_cast<int>(files_.size());
  files_.push_back(std::move(file));
  for (TensorPlace tensor : files_.back()->tensors()) {
    tensor.file = index;
    tensors_.push_back(std::move(tensor));
  }
  total_bytes_ += files_.back()->total_bytes();
}

void WeightFiles::order_tensors() {
  std::sort(tensors_.begin(), tensors_.end(),
            [](const TensorPlace& a, const TensorPlace& b) { return a.name < b.name; });
}

const std::string* WeightFiles::other_format(std::string_view name) const {
  const auto at = std::lower_bound(others_.begin(), others_.end(), name,
                                   [](const OtherTensor& t, std::string_view n) { return t.name < n; });
  return at != others_.end() && at->name == name ? &at->format : nullptr;
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
      bad_input(index_path,
                "tensor " + in_quotes(tensor.name) + " is in " + shard + ", the index says " + in_quotes(it->second),
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
    if (fs::is_regular_file(path, error) && begins_as_gguf(path)) {
      GgufWeights gguf = open_gguf_weights(path);
      for (std::unique_ptr<const TensorFile>& file : gguf.files) weights->add(std::move(file));
      weights->others_ = std::move(gguf.others);
      weights->gguf_keys_ = std::move(gguf.keys);
      weights->order_tensors();
      return weights;
    }
    if (fs::exists(path, error) && !path.ends_with(".safetensors"))
      refuse_file(path, FileUse::tensors, "is not a .safetensors file", "name a model folder or a .safetensors file");
    weights->add(path);
    return weights;
  }
  WeightFolder found = find_weight_files(path);
  for (const std::string& file : found.files) weights->add(file);
  weights->index_ = found.index;
  weights->warnings_ = std::move(found.warnings);
  weights->order_tensors();
  if (!found.index.empty()) weights->check_index(found.index, found.shard_of);
  return weights;
}

const std::string& WeightFiles::listing() const {
  return index_.empty() && files_.size() == 1 ? files_.front()->path() : index_.empty() ? path_ : index_;
}

}  // namespace stormcell
