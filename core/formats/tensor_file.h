// One file of tensors that are read on demand: safetensors, or a GGUF file whose header gguf_weights.h has read. If the
// file becomes shorter during a run, that is an error of the run, whereas a mapping would end the program. Weights
// (weight_files.h) and data are read this way.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/number_format.h"
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

  int64_t elements() const {
    const NumberFormat& format = format_of(dtype);
    return bytes / format.block_bytes * format.block_elements;
  }
};

class TensorFile {
 public:
  /// The header is fully checked; no tensor is read. Error(bad_input): missing, not readable, not in the format.
  explicit TensorFile(const std::string& path);
  explicit TensorFile(OpenFile file);
  /// A file whose header was read by somebody else; `tensors` are ordered by name.
  TensorFile(std::shared_ptr<const OpenFile> file, std::string header, std::vector<TensorPlace> tensors);

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

  /// The JSON header of a safetensors file as it stood there, padding included; of another file what tells its header
  /// from others.
  const std::string& header() const { return header_; }
  /// Bytes of all tensors.
  int64_t total_bytes() const { return total_bytes_; }

 private:
  std::shared_ptr<const OpenFile> file_;
  std::string header_;
  std::vector<TensorPlace> tensors_;
  int64_t total_bytes_ = 0;
};

/// Finds a tensor in a list ordered by name; null if there is none.
const TensorPlace* find_tensor(const std::vector<TensorPlace>& tensors, std::string_view name);

}  // namespace stormcell
