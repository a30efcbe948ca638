#include "core/graph/text.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(graph_text) {
  fuzz::refused_or_done([&] {
    const std::string text = to_text(parse_graph({reinterpret_cast<const char*>(data), size}, "input"));
    std::string again;
    try {
      again = to_text(parse_graph(text, "written"));
    } catch (const Error& error) {
      std::fprintf(stderr, "%s\n%s\n", error.what(), text.c_str());
    }
    fuzz::require(again == text, "what was written is read again as the same");
  });
  return 0;
}
