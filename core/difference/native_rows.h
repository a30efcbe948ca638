// A native trace read again, a few cells at a time: the reader of traces takes whole prompts, and has checked the file.
#pragma once
#include <memory>

#include "core/base/progress.h"
#include "core/formats/mapped_file.h"
#include "core/traces/trace.h"

namespace stormcell {

/// False for files of exits, whose scores are those of all exits together.
bool has_plain_rows(const std::shared_ptr<const MappedFile>& file);

/// Hands on cells and choices in the order of read_native_trace(), which read this file before and made `header`. Pages
/// are given back as they are passed.
void read_native_rows(const std::shared_ptr<const MappedFile>& file, const TraceHeader& header, TraceSink& sink,
                      const Progress& progress);

}  // namespace stormcell
