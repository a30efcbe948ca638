// Reading a file in the safetensors format by mapping it: traces, what was written. Weights and data: tensor_file.h.
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

  int64_t elements() const { return static_cast<int64_t>(bytes.size() / element_size(dtype)); }
  bool aligned() const { return reinterpret_cast<uintptr_t>(bytes.data()) % element_size(dtype) == 0; }
};

/// "[768, 3072]"
std::string shape_text(std::span<const int64_t> shape);

/// One file, its header fully checked when opened; no tensor data is touched.
class SafetensorsFile {
 public:
  static std::shared_ptr<const SafetensorsFile> open(const std::string& path);
  static std::shared_ptr<const SafetensorsFile> in(const std::shared_ptr<const MappedFile>& mapped);

  const std::string& path() const;
  /// Ordered by name.
  const std::vector<StoredTensor>& tensors() const { return tensors_; }
  /// Null if no tensor has this name.
  const StoredTensor* find(std::string_view name) const;
  const std::map<std::string, std::string>& metadata() const { return metadata_; }
  /// The JSON header as stored in the file, padding included.
  std::string_view header_bytes() const { return header_; }
  int64_t total_bytes() const { return total_bytes_; }

 private:
  SafetensorsFile() = default;

  std::shared_ptr<const MappedFile> file_;
  std::string_view header_;
  std::vector<StoredTensor> tensors_;
  std::map<std::string, std::string> metadata_;
  int64_t total_bytes_ = 0;
};

}  // namespace stormcell
