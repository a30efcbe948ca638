// A program of torch.export, and a file of torch.save(): both are archives of parts that describe tensors.
#include "core/formats/pt2_header.h"

#include <span>

#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"
#include "core/formats/torch_outline.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(pt2_header) {
  static const fuzz::MemoryFile file;
  const SeeTensor see = [](const DescribedTensor& tensor) {
    fuzz::require(elements_of(tensor.shape) >= 0 && tensor.bytes >= 0, "sizes do not overflow");
  };
  fuzz::refused_or_done([&] {
    HeaderBytes bytes(std::as_bytes(std::span(data, size)), "input");
    const Pt2Header header = read_pt2_header(bytes, see);
    fuzz::require(!header.program.empty() && header.nodes >= 0, "an archive has a program");
  });
  fuzz::refused_or_done([&] { outline_pickle({reinterpret_cast<const char*>(data), size}, "input", see); });
  fuzz::refused_or_done([&] { outline_torch(OpenFile::open_regular(file.holding(data, size)), see); });
  return 0;
}
