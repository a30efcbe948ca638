#include "core/traces/routed_alone.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/trace_check.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(traces) {
  static const fuzz::MemoryFile file;
  fuzz::refused_or_done([&] {
    TraceSource source{MappedFile::open(file.holding(data, size)), {}};
    const TraceFormat& format = recognize_trace(*source.file);
    // Answers with routed experts are read with the shape of their model alone.
    if (format.id == "routed-experts") {
      source.model.branches = 4, source.model.k = 2, source.model.layers = 3;
      source.model.moe_layers = {1, 2};
    }
    fuzz::CheckedSink sink;
    format.read(source, sink, {});
    // And as of a server that fused a shared expert, if that can be.
    source.model.shared = 1;
    fuzz::CheckedSink routed;
    RoutedAlone alone(source, routed);
    format.read(source, alone, {});
  });
  return 0;
}
