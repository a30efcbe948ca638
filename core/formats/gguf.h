// GGUF files in memory, version 2 and 3: their metadata, and the bytes of their f32 tensors.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/gguf_header.h"

namespace stormcell {

struct GgufTensor {
  std::vector<int64_t> dims;         ///< the first is that of neighbours
  uint32_t type = 0;                 ///< 0 is f32
  std::span<const std::byte> bytes;  ///< of f32 tensors alone, unaligned
};

class GgufFile {
 public:
  static constexpr uint32_t kF32 = 0;
  /// Error(bad_input) that names `path`: damaged, or another version. `bytes` must outlive it.
  GgufFile(std::span<const std::byte> bytes, const std::string& path);
  static bool is_one(std::string_view content) { return is_gguf(content); }

  /// Texts and whole numbers; for lists, the first element if it is a text.
  const std::map<std::string, std::string, std::less<>>& texts() const { return texts_; }
  const std::map<std::string, int64_t, std::less<>>& numbers() const { return numbers_; }
  const std::map<std::string, GgufTensor, std::less<>>& tensors() const { return tensors_; }

 private:
  std::map<std::string, std::string, std::less<>> texts_;
  std::map<std::string, int64_t, std::less<>> numbers_;
  std::map<std::string, GgufTensor, std::less<>> tensors_;
};

}  // namespace stormcell
