#include "core/comparison/figure_kinds.h"

#include <string_view>

namespace stormcell {
namespace {

enum FigureTraits : unsigned { kPlain = 0, kIsMeasured = 1, kOfPhase = 2, kOfTime = 4, kSum = 8 };

constexpr unsigned kTimed = kIsMeasured | kOfTime, kOfWork = kIsMeasured | kOfPhase;

struct FigureKind {
  std::string_view key;
  Better better = Better::neither;    ///< of a path that ends with the key; the first row decides
  unsigned traits = kPlain;           ///< of every path that holds the key; those of all rows are added
  std::string_view withheld_by = {};  ///< of a path whose last key this is
};

constexpr std::string_view kWithheld = "speedup_withheld";

constexpr FigureKind kFigures[] = {
    // The limit of an operator depends on the machine, not on the run.
    {"limit_ms_per_batch", Better::neither, kOfWork},
    {"latency_ms.mean", Better::less, kOfWork},
    {"latency_ms.median", Better::less, kOfWork},
    {"latency_ms.p95", Better::less, kOfWork},
    {"latency_ms.min", Better::less, kOfWork},
    {"latency_ms", Better::neither, kOfWork},
    {"ms_per_batch", Better::less, kOfWork},
    {"stall_ms", Better::less, kTimed},
    {"_ms", Better::neither, kTimed},
    {"load_seconds", Better::less, kTimed},
    {"seconds", Better::neither, kTimed},
    {"record_overhead", Better::less, kTimed},
    {"record_work", Better::neither, kOfTime},
    {"cells_per_s", Better::more, kOfWork},
    {"tokens_per_s", Better::more, kOfWork},
    {"_per_s", Better::neither, kIsMeasured},
    {"steps_per_batch", Better::neither, kOfPhase},
    {"limit_share", Better::more, kOfWork},
    {"routing_speedup", Better::more, kOfWork, "routing_speedup_withheld"},
    {"speedup", Better::more, kOfWork, kWithheld},
    {"speedup_alone", Better::more, kOfWork, kWithheld},
    {"speedup_own", Better::more, kOfWork, kWithheld},
    {"speedup_cumulative", Better::more, kOfWork, kWithheld},
    {"speedup_over_model", Better::more, kOfWork, "speedup_over_model_withheld"},
    {"between_spread", Better::neither, kIsMeasured},
    {"rounds", Better::neither, kIsMeasured},
    {"measured_batches", Better::neither, kIsMeasured},
    {"in_cache", Better::neither, kIsMeasured},
    {"peak_gflops", Better::neither, kIsMeasured},
    {"peak_bf16_gflops", Better::neither, kIsMeasured},
    {"read_gbps", Better::neither, kIsMeasured},
    {"peak_resident_bytes", Better::neither, kIsMeasured},
    {"weight_budget.executions", Better::neither, kSum},
    {"weight_budget.reads", Better::neither, kSum},
    {"weight_budget.bytes_read", Better::less, kSum},
    {"weight_budget.bytes_filled", Better::neither, kSum},
    {"weight_budget.evictions", Better::neither, kSum},
    {"weight_budget.stall_seconds", Better::neither, kSum},
    {"weight_budget.measured_", Better::neither, kSum},
    {"weight_budget.peak_bytes", Better::neither, kIsMeasured},
    {"held_bytes", Better::neither, kIsMeasured},
    {"weights_read.reads", Better::less, kOfWork},
    {"weights_read.", Better::neither, kIsMeasured},
    {"weights_read", Better::neither, kOfPhase},
    {"bytes_read", Better::less},
    {"stall_share", Better::less},
    {"peak_weight_bytes", Better::less},
    {"peak_activation_bytes", Better::less},
    {"unloaded_weight_bytes", Better::more},
    {"states.planned_bytes", Better::less},
    {"states.taken_bytes", Better::less},
    {"states.taken_pages", Better::less},
    {"imbalance", Better::less},
    {"dropped", Better::less},
    {"flips", Better::less},
    {"max_rel_diff", Better::less},
    {"max_abs_diff", Better::less},
    {"score_error", Better::less},
    {"fallbacks", Better::less},
    {"hit_rate", Better::more},
    {"accuracy", Better::more},
    {"verified.passed", Better::more},
    {"quality.baseline.value", Better::more},
    {"quality.optimized.value", Better::more},
};

bool has_trait(std::string_view figure, unsigned traits) {
  for (const FigureKind& kind : kFigures)
    if ((kind.traits & traits) != 0 && figure.find(kind.key) != std::string_view::npos) return true;
  return false;
}

}  // namespace

Better better_of(std::string_view figure) {
  for (const FigureKind& kind : kFigures)
    if (figure.ends_with(kind.key)) return kind.better;
  return Better::neither;
}

bool is_measured(std::string_view figure) { return has_trait(figure, kIsMeasured); }
bool is_of_phase(std::string_view figure) { return has_trait(figure, kOfPhase); }
bool is_of_time(std::string_view figure) { return has_trait(figure, kOfPhase | kOfTime); }
bool is_sum_of_executions(std::string_view figure) { return has_trait(figure, kSum); }

std::string_view unit_of(std::string_view figure) {
  return figure == "bound" || figure.ends_with(".objective") ? "ms" : "";
}

std::string_view withheld_by(std::string_view key) {
  const std::string_view value = key.substr(0, key.find(kIntervalKey));
  for (const FigureKind& kind : kFigures)
    if (kind.key == value) return kind.withheld_by;
  return {};
}

}  // namespace stormcell
