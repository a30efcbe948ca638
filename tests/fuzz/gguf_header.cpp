// The header of a GGUF file, and the file whole.
#include "core/formats/gguf_header.h"

#include <span>

#include "core/formats/gguf.h"
#include "core/formats/header_bytes.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(gguf_header) {
  const std::span<const std::byte> content = std::as_bytes(std::span(data, size));
  fuzz::refused_or_done([&] {
    HeaderBytes bytes(content, "input");
    uint64_t seen = 0;
    const GgufHeader header = read_gguf_header(bytes, [&](GgufPlace&& place) {
      ++seen;
      fuzz::require(!place.dims.empty() && place.dims.size() <= 4, "a tensor has one to four extents");
      if (const auto taken = place.bytes()) fuzz::require(*taken > 0, "a tensor of a known type has bytes");
    });
    fuzz::require(seen == header.tensors, "every tensor is seen");
    fuzz::require(header.data_begin >= bytes.at(), "the data lie behind the header");
  });
  fuzz::refused_or_done([&] {
    const GgufFile file(content, "input");
    for (const auto& [name, tensor] : file.tensors())
      fuzz::require(tensor.bytes.size() <= size, "a tensor lies in the file");
  });
  return 0;
}
