#include "views/overview/plan_figure.h"

#include "core/base/run_kind.h"
#include "core/summary/items_text.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

std::optional<double> if_any(double value) { return value > 0 ? std::optional(value) : std::nullopt; }

constexpr const char* kCellRate = "cells/s";

constexpr PlanFigure kFigures[] = {
    {QT_TRANSLATE_NOOP("Overview", "Latency, mean"), QT_TRANSLATE_NOOP("Overview", "a batch; less is better"),
     QT_TRANSLATE_NOOP("Overview", "Mean time of one batch, of the same pairs as the speed-up. Measured."),
     [](const PlanFigures& p) { return if_any(p.latency_ms.mean); }, duration_text, "ms"},
    {QT_TRANSLATE_NOOP("Overview", "Latency, median"), QT_TRANSLATE_NOOP("Overview", "a batch; less is better"),
     QT_TRANSLATE_NOOP("Overview", "Median time of one batch over all executions. Measured."),
     [](const PlanFigures& p) { return if_any(p.latency_ms.median); }, duration_text, "ms", false},
    {QT_TRANSLATE_NOOP("Overview", "Latency, 95th percentile"),
     QT_TRANSLATE_NOOP("Overview", "a batch; less is better"),
     QT_TRANSLATE_NOOP("Overview", "95 of 100 batches take at most this long. Measured; batches differ in length."),
     [](const PlanFigures& p) { return if_any(p.latency_ms.p95); }, duration_text, "ms", false},
    {QT_TRANSLATE_NOOP("Overview", "Cells a second"), QT_TRANSLATE_NOOP("Overview", "more is better"),
     QT_TRANSLATE_NOOP("Overview", "Cells of all batches without padding / time of all batches. Measured."),
     [](const PlanFigures& p) { return if_any(p.cells_per_s); }, [](double v) { return number_text(v); }, kCellRate},
    {QT_TRANSLATE_NOOP("Overview", "Share of the limit"), QT_TRANSLATE_NOOP("Overview", "of what the machine can do"),
     QT_TRANSLATE_NOOP("Overview",
                       "Sum over operators of max(bytes / read bandwidth, FLOP / peak), divided by the measured time. "
                       "Both ceilings were probed in the same run. In cache: faster than the memory of the limit, "
                       "because the data stay in the processor's caches."),
     [](const PlanFigures& p) { return p.limit_share; }, limit_share_text, "share"},
    {QT_TRANSLATE_NOOP("Overview", "Memory, weights"), QT_TRANSLATE_NOOP("Overview", "at most; less is better"),
     QT_TRANSLATE_NOOP("Overview",
                       "Weights that are held, under --weight-budget with the room for those of branches. Counted."),
     [](const PlanFigures& p) { return if_any(static_cast<double>(p.peak_weight_bytes)); }, bytes_text, "bytes"},
    {QT_TRANSLATE_NOOP("Overview", "Memory, activations"), QT_TRANSLATE_NOOP("Overview", "at most; less is better"),
     QT_TRANSLATE_NOOP("Overview", "Size of the planned buffer for intermediate values. Counted."),
     [](const PlanFigures& p) { return if_any(static_cast<double>(p.peak_activation_bytes)); }, bytes_text, "bytes"},
    {QT_TRANSLATE_NOOP("Overview", "Weights read"),
     QT_TRANSLATE_NOOP("Overview", "from files, each execution; less is better"),
     QT_TRANSLATE_NOOP("Overview",
                       "Bytes of weights of branches that an execution read under --weight-budget, mean. Counted."),
     [](const PlanFigures& p) { return p.weights_read ? std::optional(p.weights_read->bytes_read) : std::nullopt; },
     bytes_text, "bytes", false},
    {QT_TRANSLATE_NOOP("Overview", "Waits for weights"), QT_TRANSLATE_NOOP("Overview", "of its time; less is better"),
     QT_TRANSLATE_NOOP("Overview", "Time that executions stood still for weights of branches / their time. Measured."),
     [](const PlanFigures& p) { return p.weights_read ? std::optional(p.weights_read->stall_share) : std::nullopt; },
     percent_text, "share", false},
};

}  // namespace

std::span<const PlanFigure> plan_figures() { return kFigures; }

PlanFigureName name_of(const PlanFigure& figure, const RunSummaryFigures& of) {
  if (qstrcmp(figure.unit, kCellRate) == 0 && work_phase(of.phase) == WorkPhase::decode)
    return {tr("Tokens a second"), tr("Tokens that were written / time of all batches. Measured."), tr("tokens/s")};
  if (qstrcmp(figure.unit, kCellRate) == 0 && are_pictures(of.dataset))
    return {tr("Pictures a second"), tr("Pictures of all batches / time of all batches. Measured."), tr("pictures/s")};
  return {tr(figure.name), tr(figure.tip), figure.unit};
}

}  // namespace stormcell::views
