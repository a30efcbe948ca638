#include "tests/fuzz/tokenizer_use.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(tokenizer_json) {
  fuzz::refused_or_done([&] { fuzz::use(Tokenizer::from_json({reinterpret_cast<const char*>(data), size}, "input")); });
  return 0;
}
