#include "core/experiment/inspect_sheet.h"

#include <filesystem>
#include <memory>
#include <system_error>

#include "core/base/error.h"
#include "core/bench/ceiling_readings.h"
#include "core/bench/devices.h"
#include "core/sheet/model_place.h"
#include "core/sheet/sheet.h"

namespace stormcell {
namespace {

/// Small enough for a sheet in a second: the processor's caches are smaller, and nothing is compared with the figures.
constexpr ProbeLimits kSheetProbe{.bytes = int64_t{64} << 20, .seconds = 0.03};
/// Other processes can take the processors for a whole reading: a ceiling is the best of several.
constexpr int kSheetReadings = 3;

void measure_rate(ModelSheet& sheet) {
  if (!has_rate(sheet)) return;
  const std::unique_ptr<Device> device = open_device(devices().front().name, {});
  DeviceProbe ceilings;
  for (int i = 0; i < kSheetReadings; ++i) ceilings = larger(ceilings, device->probe(kSheetProbe, {}));
  set_rate(sheet, ceilings);
}

}  // namespace

SheetAnswer find_sheet(const std::string& name, bool measure) {
  std::error_code error;
  if (!std::filesystem::exists(name, error)) return {.model = name};
  const ModelPlace place = model_place(name);
  if (place.form == SheetForm::none) return {.model = name};
  if (place.opens) return {.model = place.path};
  SheetAnswer answer{sheet_of(place), place.path};
  if (answer.sheet->runnable) return {.model = place.path};
  if (measure) measure_rate(*answer.sheet);
  return answer;
}

std::optional<ModelSheet> sheet_of_opened(const std::string& path) {
  if (path.empty()) return std::nullopt;
  try {
    ModelSheet sheet = sheet_of(model_place(path));
    measure_rate(sheet);
    return sheet;
  } catch (const Error&) {
    return std::nullopt;
  }
}

}  // namespace stormcell
