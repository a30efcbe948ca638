// The weights of a model as its files hold them: one safetensors file, a folder in the Hugging Face layout, sharded or
// not, or GGUF, split or not. Headers are read when they are opened, tensors when they are asked for, into memory of
// who asks (tensor_file.h).
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/gguf_weights.h"
#include "core/formats/tensor_file.h"

namespace stormcell {

/// All weights of a model.
class WeightFiles {
 public:
  /// `path`: a folder with model.safetensors.index.json and its shards, or with model.safetensors, or a .safetensors
  /// file; or a GGUF file of any name, or one part of several. Headers are fully checked; no tensor data is read.
  /// Error(bad_input) if a shard is missing or damaged.
  static std::shared_ptr<const WeightFiles> open(const std::string& path);
  ~WeightFiles();

  /// Null if no tensor has this name.
  const TensorPlace* find(std::string_view name) const;
  /// The format of a tensor that the files hold in one that nothing is computed with: "IQ4_XS"; null: there is no such
  /// tensor. find() does not know it.
  const std::string* other_format(std::string_view name) const;
  /// The header's keys of a model in GGUF; null: it is none.
  const GgufEntries* gguf_keys() const { return gguf_keys_ ? &*gguf_keys_ : nullptr; }
  /// Ordered by name, over all files.
  const std::vector<TensorPlace>& tensors() const { return tensors_; }
  /// Copies bytes [first, first + to.size()) of a tensor as its file has them now. Throws Error(failed) if the file has
  /// become shorter or cannot be read. Any thread may call.
  void read(const TensorPlace& tensor, int64_t first, std::span<std::byte> to) const;

  /// The files written to since they were opened, as in OpenFile::change().
  std::vector<std::string> changes() const;

  /// Bytes of all tensors.
  int64_t total_bytes() const { return total_bytes_; }
  size_t file_count() const { return files_.size(); }
  const std::string& file_path(size_t file) const;
  /// The JSON header of one file as it stood there, padding included, or the digest of a GGUF header: for the
  /// fingerprint.
  std::string_view header_bytes(size_t file) const;
  const std::string& path() const { return path_; }
  /// The file that lists the tensors: the single file of weights, or the index.
  const std::string& listing() const;
  /// A sentence for each weight file beside these that is not used.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  WeightFiles();
  void add(const std::string& path);
  void add(std::unique_ptr<const TensorFile> file);
  void order_tensors();
  void check_index(const std::string& index_path, const std::map<std::string, std::string>& shard_of) const;

  std::string path_, index_;
  std::vector<std::string> warnings_;
  std::vector<std::unique_ptr<const TensorFile>> files_;
  std::vector<TensorPlace> tensors_;
  std::vector<OtherTensor> others_;  ///< ordered by name
  std::optional<GgufEntries> gguf_keys_;
  int64_t total_bytes_ = 0;
};

}  // namespace stormcell
