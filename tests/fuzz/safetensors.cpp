#include "core/formats/safetensors.h"

#include <span>

#include "core/formats/header_bytes.h"
#include "core/formats/safetensors_outline.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(safetensors) {
  static const fuzz::MemoryFile file;
  int64_t in_order = -1, in_full = -1;  // tensors by either reader
  fuzz::refused_or_done([&] {
    HeaderBytes header(std::as_bytes(std::span(data, size)), "input");
    in_order =
        outline_safetensors(header, [&](const DescribedTensor& tensor) {
          fuzz::require(tensor.bytes >= 0 && static_cast<size_t>(tensor.bytes) <= size, "a tensor lies in the file");
        }).tensors;
  });
  fuzz::refused_or_done([&] {
    const auto opened = SafetensorsFile::open(file.holding(data, size));
    in_full = std::ssize(opened->tensors());
    int64_t bytes = 0;
    unsigned sum = 0;
    for (const StoredTensor& tensor : opened->tensors()) {
      int64_t elements = 1;
      for (const int64_t extent : tensor.shape) elements *= extent;
      fuzz::require(elements == tensor.elements(), "the shape counts the elements");
      fuzz::require(opened->find(tensor.name) == &tensor, "a tensor is found by its name");
      for (const std::byte byte : tensor.bytes)
        sum += std::to_integer<unsigned>(byte);  // every byte is there to be read
      bytes += static_cast<int64_t>(tensor.bytes.size());
    }
    fuzz::require(bytes == opened->total_bytes() && sum <= 255u * size, "the tensors cover the file");
  });
  fuzz::require(in_order < 0 || in_full < 0 || in_order == in_full, "both readers see the same tensors");
  return 0;
}
