// The executed steps as a trace in the JSON object format of chrome://tracing.
#pragma once
#include "core/base/progress.h"
#include "core/exports/export_options.h"

namespace stormcell {

void write_chrome_trace(const ExportOptions& options, const Progress& progress);

}  // namespace stormcell
