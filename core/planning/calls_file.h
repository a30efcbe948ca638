// Measured calls from files: CSV as laboratories publish them, what nccl-tests print, or a calibration that was written before.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cost/measured_call.h"

namespace stormcell {

/// What the times are for: to calibrate by, each call has one; to be checked, it may be missing (0).
enum class CallTimes { needed, optional };

struct CallsFile {
  std::vector<MeasuredCall> calls;
  std::vector<std::string> warnings;  ///< what was left out of the file
};
/// The file may be packed with gzip. CSV with a line of names, columns in any order (docs/user-guide.md; of one product over rows: op =
/// product, gpu, dtype, the weight's inputs and outputs, experts (weights a call, 1), rows (of each), us; of grouped ones op = grouped, and
/// rows_each in place of both), output of nccl-tests (`nic_gbit`: of each GPU's network card, which it does not say; 0: not told), or JSON
/// of schema stormcell.calibration/1: by what stands in the file. Error(bad_input): no such file, a column that is missing, and with its
/// line and column a number that is none, is out of range, or contradicts another; an id that stands there twice; no call at all.
CallsFile read_calls(const std::string& path, CallTimes times, double nic_gbit = 0, const Progress& progress = {});
/// What must hold of calls wherever they are from, each with an id of its own. Error(bad_input) that names `path`.
void check_calls(const std::vector<MeasuredCall>& calls, const std::string& path, CallTimes times);
/// Whether the file is a calibration that was written before.
bool is_calibration_text(const std::string& text);
/// All its fields that are not empty.
nlohmann::ordered_json json_of_call(const MeasuredCall& call);

}  // namespace stormcell
