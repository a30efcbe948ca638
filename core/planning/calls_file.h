// Measured calls from files: CSV as laboratories publish them, what nccl-tests print, or a calibration that was written
// before.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cost/measured_call.h"
#include "core/formats/file_kind.h"

namespace stormcell {

/// Use of the times: `needed` to calibrate, so each call has one; `optional` to be checked, so one may be missing (0).
enum class CallTimes { needed, optional };

struct CallsFile {
  std::vector<MeasuredCall> calls;
  std::vector<std::string> warnings;  ///< parts of the file that were left out, and columns that are not read
};
/// Reads a file of calls, which may be packed with gzip. Its content decides the form. CSV has a line of names and
/// columns in any order (docs/guide/calibrate-and-simulate.md). One product over rows has op = product, gpu, dtype, the
/// weight's inputs and outputs, experts (weights a call, 1), rows (of each), us. Grouped ones have op = grouped and
/// rows_each in place of both. Output of nccl-tests does not state the network card: `nic_gbit` is that of each GPU, 0:
/// not known. JSON has the schema stormcell.calibration/1. Error(bad_input): no such file; a missing column; an id that occurs twice;
/// no call at all; and, with line and column, a number that is not one, is out of range, or contradicts another.
/// `wanted`: the words by which a file of another kind is refused, calls or a calibration.
CallsFile read_calls(const std::string& path, CallTimes times, double nic_gbit = 0, const Progress& progress = {},
                     FileUse wanted = FileUse::calls);
/// Checks what must hold of calls from any source. Each has an id of its own. Error(bad_input) that names `path`.
void check_calls(const std::vector<MeasuredCall>& calls, const std::string& path, CallTimes times);
/// Whether the file is a calibration that was written before.
bool is_calibration_text(const std::string& text);
/// All its fields that are not empty.
nlohmann::ordered_json json_of_call(const MeasuredCall& call);

}  // namespace stormcell
