#include "core/comparison/direction.h"

namespace stormcell {

Better better_of(std::string_view figure) {
  static constexpr std::string_view kLess[] = {"latency_ms.mean",
                                               "latency_ms.median",
                                               "latency_ms.p95",
                                               "latency_ms.min",
                                               "peak_weight_bytes",
                                               "peak_activation_bytes",
                                               "ms_per_batch",
                                               "imbalance",
                                               "dropped",
                                               "flips",
                                               "fallbacks",
                                               "load_seconds",
                                               "record_overhead",
                                               "bytes_read",
                                               "weights_read.reads",
                                               "stall_ms",
                                               "stall_share",
                                               "states.planned_bytes",
                                               "states.taken_bytes",
                                               "states.taken_pages"};
  static constexpr std::string_view kMore[] = {"cells_per_s",
                                               "tokens_per_s",
                                               "limit_share",
                                               "speedup",
                                               "speedup_alone",
                                               "speedup_own",
                                               "speedup_cumulative",
                                               "accuracy",
                                               "hit_rate",
                                               "verified.passed",
                                               "unloaded_weight_bytes",
                                               "quality.baseline.value",
                                               "quality.optimized.value"};
  // The limit of an operator is the machine's doing, not the run's.
  if (figure.find("limit_ms_per_batch") != std::string_view::npos) return Better::neither;
  for (const std::string_view end : kLess)
    if (figure.ends_with(end)) return Better::less;
  for (const std::string_view end : kMore)
    if (figure.ends_with(end)) return Better::more;
  return Better::neither;
}

}  // namespace stormcell
