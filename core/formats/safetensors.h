// Reading weights in the safetensors format: one file, or a model folder in the Hugging Face layout, sharded or not.
// The format: u64 length of the header, a JSON header, the bytes of the tensors without holes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"

namespace stormcell {

class MappedFile;

/// A tensor in a mapped file. `bytes` live as long as the file object and need not be aligned: old writers pad nothing.
struct StoredTensor {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;  ///< empty for a scalar
  std::span<const std::byte> bytes;
  int file = 0;  ///< index into WeightFiles::files()

  int64_t elements() const { return static_cast<int64_t>(bytes.size() / element_size(dtype)); }
  bool aligned() const { return reinterpret_cast<uintptr_t>(bytes.data()) % element_size(dtype) == 0; }
};

/// "[768, 3072]"
std::string shape_text(std::span<const int64_t> shape);

/// One file, its header fully checked when opened; no tensor data is touched.
class SafetensorsFile {
 public:
  static std::shared_ptr<const SafetensorsFile> open(const std::string& path);

  const std::string& path() const;
  /// In the order of their names.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// Null when there is none of this name.
  const StoredTensor* find(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The JSON header as it stands in the file, padding included.
  std::string_view header_bytes() const { return header_; }
  int64_t total_bytes() const { return total_bytes_; }
  void drop_pages(const StoredTensor& tensor) const;
  void advise_sequential(const StoredTensor& tensor) const;
  void read(const StoredTensor& tensor, std::byte* to) const;

 private:
  friend class WeightFiles;
  SafetensorsFile() = default;

  std::shared_ptr<const MappedFile> file_;
  std::string_view header_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
  int64_t total_bytes_ = 0;
};

/// All weights of a model.
class WeightFiles {
 public:
  /// `path`: a folder with model.safetensors, or with model.safetensors.index.json and its shards, or a .safetensors file.
  static std::shared_ptr<const WeightFiles> open(const std::string& path);

  /// Null when there is none of this name.
  const StoredTensor* find(std::string_view name) const;
  /// In the order of their names, over all files.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// Takes the tensor's pages out of the resident set, once it is packed or converted.
  void drop_pages(const StoredTensor& tensor) const;
  void advise_sequential(const StoredTensor& tensor) const;
  /// Copies its bytes as the file has them now. Throws Error(failed) where the file has become shorter or cannot be read.
  void read(const StoredTensor& tensor, std::byte* to) const;

  /// Bytes of all tensors.
  int64_t total_bytes() const { return total_bytes_; }
  size_t file_count() const { return files_.size(); }
  const SafetensorsFile& file(size_t index) const { return *files_[index]; }
  /// The header of one file, for the fingerprint.
  std::string_view header_bytes(size_t file) const { return files_[file]->header_bytes(); }
  const std::string& path() const { return path_; }

 private:
  WeightFiles() = default;
  void add(std::shared_ptr<const SafetensorsFile> file);
  void check_index(const std::string& index_path, const std::map<std::string, std::string>& shard_of) const;

  std::string path_;
  std::vector<std::shared_ptr<const SafetensorsFile>> files_;
  std::vector<StoredTensor> tensors_;
  int64_t total_bytes_ = 0;
};

}  // namespace stormcell
