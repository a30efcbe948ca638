#include "tests/fuzz/tokenizer_use.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(spiece) {
  fuzz::refused_or_done([&] {
    fuzz::use(Tokenizer::from_sentencepiece({reinterpret_cast<const char*>(data), size}, "input"));
  });
  return 0;
}
