// Writing safetensors files: all at once, or piece by piece when the tensors together do not fit in memory.
// A file appears under its name only when it is complete: until then it is NAME.partial.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/dtype.h"

namespace stormcell {

struct TensorDeclaration {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;
};

struct TensorToWrite {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;
  const void* data = nullptr;  ///< C order, all elements
};

using SafetensorsMetadata = std::map<std::string, std::string>;

/// Writes `path`.partial, flushes it to the disk and renames it. No permission or no such folder: bad_input; no space
/// or a failing disk: failed. In either case nothing is left behind and an older `path` stays unchanged.
void write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors,
                       const SafetensorsMetadata& metadata = {});

/// Declares all tensors first, then takes their bytes in pieces; finish() makes the file appear. One thread at a time.
class SafetensorsWriter {
 public:
  SafetensorsWriter(std::string path, std::vector<TensorDeclaration> tensors, const SafetensorsMetadata& metadata = {});
  /// Without finish() the partial file is removed.
  ~SafetensorsWriter();
  SafetensorsWriter(const SafetensorsWriter&) = delete;
  SafetensorsWriter& operator=(const SafetensorsWriter&) = delete;

  /// The next bytes of the tensor `name`; tensors may be filled in turns and in any order.
  void append(std::string_view name, const void* data, size_t bytes);
  /// Every declared tensor must be full.
  void finish();

 private:
  struct Slot {
    int64_t begin = 0, size = 0, filled = 0;
  };
  void write_at(int64_t offset, const void* data, size_t bytes);
  void reserve(int64_t bytes);
  [[noreturn]] void give_up(int error, std::string_view doing);
  void discard();

  std::string path_, partial_;
  std::map<std::string, Slot, std::less<>> slots_;
  int descriptor_ = -1;
};

}  // namespace stormcell
