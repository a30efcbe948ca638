#include "core/formats/npy.h"

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(npy) {
  static const fuzz::MemoryFile file;
  fuzz::refused_or_done([&] {
    const NpyArray array = open_npy(file.holding(data, size));
    size_t bytes = element_size(array.dtype);
    for (const int64_t extent : array.shape) bytes *= static_cast<size_t>(extent);
    fuzz::require(bytes == array.bytes.size(), "the shape takes the bytes that are there");
    unsigned sum = 0;
    array.bytes.visit_pieces([&](std::span<const std::byte> piece) {
      for (const std::byte byte : piece) sum += std::to_integer<unsigned>(byte);
    });
    fuzz::require(sum <= 255u * size, "every byte can be read");
  });
  return 0;
}
