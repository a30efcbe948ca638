// The vocabulary in the header of a GGUF file.
#include <span>

#include "core/formats/header_bytes.h"
#include "tests/fuzz/tokenizer_use.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(gguf_tokenizer) {
  fuzz::refused_or_done([&] {
    HeaderBytes bytes(std::as_bytes(std::span(data, size)), "input");
    fuzz::use(Tokenizer::from_gguf(bytes));
  });
  return 0;
}
