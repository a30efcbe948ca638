#include "core/formats/safetensors.h"

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFile file;
  fuzz::refused_or_done([&] {
    const auto opened = SafetensorsFile::open(file.holding(data, size));
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
  return 0;
}
