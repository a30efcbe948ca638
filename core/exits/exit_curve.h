// Early exits as a subject: the whole curve of quality against mean cost over thresholds, from one recorded run.
#pragma once
#include "core/exits/exit_record.h"

namespace stormcell {

/// Quality and cost at the graph's own thresholds, and at one threshold after another for all exits, spread like the
/// recorded confidences. Thresholds are applied to the record; nothing runs.
ExitCurve exit_curve(const ExitRecord& record);

}  // namespace stormcell
