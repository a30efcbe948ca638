#include "core/formats/trace/trace.h"

#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/trace_check.h"

using namespace stormcell;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const fuzz::MemoryFile file;
  fuzz::refused_or_done([&] {
    const TraceSource source{MappedFile::open(file.holding(data, size)), {}};
    fuzz::CheckedSink sink;
    recognize_trace(*source.file).read(source, sink, {});
  });
  return 0;
}
