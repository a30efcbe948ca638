#include "tests/fuzz/tokenizer_use.h"

using namespace stormcell;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  fuzz::refused_or_done([&] { fuzz::use(Tokenizer::from_json({reinterpret_cast<const char*>(data), size}, "input")); });
  return 0;
}
