// The sheet of a model from the headers of its files: nothing else of them is read, and no model is opened.
#pragma once
#include <string>

#include "core/runtime/device_probe.h"
#include "core/sheet/model_place.h"
#include "core/summary/sheet_figures.h"

namespace stormcell {

/// The sheet of a place whose form is not none. Memory is compared with that of this machine; `tokens_per_s` is left to
/// set_rate(). Error(bad_input) that names the file: a header that is damaged, files of several models, a file that is
/// shorter than its header says.
ModelSheet sheet_of(const ModelPlace& place);

/// Whether set_rate() could say anything: a language model whose weights fit into memory whole.
bool has_rate(const ModelSheet& sheet);
/// Sets the range of tokens a second that the measured ceilings of a device allow: at most as many as arithmetic during
/// reading allows, at least as many as arithmetic after it. A ceiling of 0 leaves it open.
void set_rate(ModelSheet& sheet, const DeviceProbe& ceilings);

}  // namespace stormcell
