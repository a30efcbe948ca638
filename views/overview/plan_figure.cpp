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
    {QT_TRANSLATE_NOOP("Views", "Latency, mean"), QT_TRANSLATE_NOOP("Views", "a batch; less is better"),
     QT_TRANSLATE_NOOP("Views", "Mean time of one batch, of the same pairs as the speed-up. Measured."),
     [](const PlanFigures& p) { return if_any(p.latency_ms.mean); }, duration_text, "ms"},
    {QT_TRANSLATE_NOOP("Views", "Latency, median"), QT_TRANSLATE_NOOP("Views", "a batch; less is better"),
     QT_TRANSLATE_NOOP("Views", "Median time of one batch over all executions. Measured."),
     [](const PlanFigures& p) { return if_any(p.latency_ms.median); }, duration_text, "ms", false},
    {QT_TRANSLATE_NOOP("Views", "Latency, 95th percentile"), QT_TRANSLATE_NOOP("Views", "a batch; less is better"),
     QT_TRANSLATE_NOOP("Views", "95 of 100 batches take at most this long. Measured; batches differ in length."),
     [](const PlanFigures& p) { return if_any(p.latency_ms.p95); }, duration_text, "ms", false},
    {QT_TRANSLATE_NOOP("Views", "Cells a second"), QT_TRANSLATE_NOOP("Views", "more is better"),
     QT_TRANSLATE_NOOP("Views", "Cells of all batches without padding / time of all batches. Measured."),
     [](const PlanFigures& p) { return if_any(p.cells_per_s); }, [](double v) { return number_text(v); }, kCellRate},
    {QT_TRANSLATE_NOOP("Views", "Share of the limit"), QT_TRANSLATE_NOOP("Views", "of what the machine can do"),
     QT_TRANSLATE_NOOP("Views",
                       "Sum over operators of max(bytes / read bandwidth, FLOP / peak), divided by the measured time. "
                       "Both ceilings were probed in the same run. In cache: faster than the memory of the limit, "
                       "because the data stay in the processor's caches."),
     [](const PlanFigures& p) { return p.limit_share; }, limit_share_text, "share"},
    {QT_TRANSLATE_NOOP("Views", "Memory, weights"), QT_TRANSLATE_NOOP("Views", "at most; less is better"),
     QT_TRANSLATE_NOOP("Views",
                       "Weights that are held, under --weight-budget with the room for those of branches. Counted."),
     [](const PlanFigures& p) { return if_any(static_cast<double>(p.peak_weight_bytes)); }, bytes_text, "bytes"},
    {QT_TRANSLATE_NOOP("Views", "Memory, activations"), QT_TRANSLATE_NOOP("Views", "at most; less is better"),
     QT_TRANSLATE_NOOP("Views", "Size of the planned buffer for intermediate values. Counted."),
     [](const PlanFigures& p) { return if_any(static_cast<double>(p.peak_activation_bytes)); }, bytes_text, "bytes"},
    {QT_TRANSLATE_NOOP("Views", "Weights read"),
     QT_TRANSLATE_NOOP("Views", "from files, each execution; less is better"),
     QT_TRANSLATE_NOOP("Views",
                       "Bytes of weights of branches that an execution read under --weight-budget, mean. Counted."),
     [](const PlanFigures& p) { return p.weights_read ? std::optional(p.weights_read->bytes_read) : std::nullopt; },
     bytes_text, "bytes", false},
    {QT_TRANSLATE_NOOP("Views", "Waits for weights"), QT_TRANSLATE_NOOP("Views", "of its time; less is better"),
     QT_TRANSLATE_NOOP("Views", "Time that executions stood still for weights of branches / their time. Measured."),
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
