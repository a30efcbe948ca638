#include "core/formats/onnx_header.h"

#include <span>

#include "core/formats/header_bytes.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(onnx_header) {
  fuzz::refused_or_done([&] {
    HeaderBytes bytes(std::as_bytes(std::span(data, size)), "input");
    int64_t seen = 0;
    const OnnxHeader header = read_onnx_header(bytes, [&](const DescribedTensor& tensor) {
      ++seen;
      fuzz::require(elements_of(tensor.shape) >= 0 && tensor.bytes >= 0, "sizes do not overflow");
    });
    fuzz::require(seen == header.tensors && header.graphs > 0, "every tensor is seen, and there is a graph");
    int64_t named = 0;
    for (const auto& [name, count] : header.operators) named += count;
    fuzz::require(named <= header.nodes, "a node has one operator");
  });
  return 0;
}
