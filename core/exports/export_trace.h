// The executed steps as a trace in the JSON object format of chrome://tracing.
#pragma once
#include "core/exports/export_formats.h"

namespace stormcell {

void write_chrome_trace(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
