// One safetensors file whose tensors are read on demand. If the file becomes shorter during a run, that is an error of
// the run, whereas a mapping would end the program. Weights (weight_files.h) and data are read this way.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"
#include "core/formats/file_range.h"

namespace stormcell {

/// Place of a tensor in its file.
struct TensorPlace {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;  ///< empty for a scalar
  int64_t begin = 0;           ///< byte of the file
  int64_t bytes = 0;
  int file = 0;  ///< index into WeightFiles::file_path(); 0 in a file of its own

  int64_t elements() const { return bytes / static_cast<int64_t>(element_size(dtype)); }
};

class TensorFile {
 public:
  /// The header is fully checked; no tensor is read. Error(bad_input): missing, not readable, not in the format.
  explicit TensorFile(const std::string& path);
  explicit TensorFile(OpenFile file);

  const std::string& path() const;
  /// Ordered by name.
  const std::vector<TensorPlace>& tensors() const { return tensors_; }
  /// Null if no tensor has this name.
  const TensorPlace* find(std::string_view name) const;
  /// As OpenFile::read(): the bytes that the file has now.
  void read(const TensorPlace& tensor, int64_t first, std::span<std::byte> to) const;
  /// Reading refuses a file that was written to since it was opened; the range may outlive this object.
  FileRange range(const TensorPlace& tensor) const;
  /// As OpenFile::change().
  std::string change() const;

  /// The JSON header as it stood in the file, padding included.
  const std::string& header() const { return header_; }
  /// Bytes of all tensors.
  int64_t total_bytes() const;

 private:
  std::shared_ptr<const OpenFile> file_;
  std::string header_;
  std::vector<TensorPlace> tensors_;
};

/// Finds a tensor in a list ordered by name; null if there is none.
const TensorPlace* find_tensor(const std::vector<TensorPlace>& tensors, std::string_view name);

}  // namespace stormcell
