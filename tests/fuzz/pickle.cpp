#include "core/formats/pickle.h"

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(pickle) {
  fuzz::refused_or_done([&] {
    const Pickle pickle(std::as_bytes(std::span(data, size)), "input");
    for (const PickleValue& v : pickle.root().items()) {
      fuzz::require(v.items().size() <= size, "items lie in the input");
      if (v.is(PickleValue::Kind::tensor))
        fuzz::require(v.node->tensor->shape.size() == v.node->tensor->strides.size(), "a shape has strides");
      if (v.is(PickleValue::Kind::text)) fuzz::require(v.text().size() <= size, "a text lies in the input");
    }
    pickle.root().find("records");
  });
  return 0;
}
