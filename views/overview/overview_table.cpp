#include "views/overview/overview_table.h"

#include "core/base/pass_names.h"
#include "core/summary/budget_text.h"
#include "core/summary/exit_target.h"
#include "core/summary/exits_text.h"
#include "core/summary/measured_text.h"
#include "core/summary/stated_speedups.h"
#include "views/overview/overview_model.h"
#include "views/overview/plan_figure.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// The rows of the page as a table, part by part.
class OverviewRows {
 public:
  explicit OverviewRows(const Situation& s) : s_(s) {
    t_.columns = {{tr("section"), tr("Part of the page")},
                  {tr("figure"), tr("What it is")},
                  {tr("value"), tr("The figure, in its unit")},
                  {tr("95 % from"), tr("Lower end of the 95 % interval, where there is one")},
                  {tr("95 % to"), tr("Upper end of the 95 % interval, where there is one")},
                  {tr("unit"), tr("Unit of the value")},
                  {tr("origin"), tr("measured: by the clock; counted: exact")},
                  {tr("note"), tr("Why, or compared with what")}};
  }
  Table take() { return std::move(t_); }

  void add_run() {
    // A recording of decoding counts a pass for a batch's input and one for each turn.
    const RunLine& line = s_.facts.line;
    const bool generated = line.batches_of_data == 0 && s_.summary && s_.summary->generated;
    const int64_t batches = generated                  ? s_.summary->generated->batches
                            : line.batches_of_data > 0 ? line.batches_of_data
                                                       : line.batches;
    add(tr("run"), tr("batches"), static_cast<qlonglong>(batches), tr("batches"), counted_);
  }
  void add_result(const RunSummaryFigures& f) {
    if (f.speedup) add(tr("result"), tr("speed-up"), *f.speedup, tr("times"), measured_, f.speedup_ci95);
    if (f.withheld)
      add(tr("result"), tr("speed-up"), QString(kNotMeasured), {}, measured_, {},
          QString::fromStdString(to_text(*f.withheld)));
    const ProofText proof = proof_of(s_);
    add(tr("result"), tr("verified"), f.verified ? Value(f.verified->passed ? tr("yes") : tr("no")) : Value(), {},
        measured_, {}, proof.text);
    if (f.verified) {
      if (const std::string equality = equality_text(*f.verified, f.dataset.batches); !equality.empty())
        add(tr("result"), tr("equality"), to_qstring(equality), {}, counted_);
      add(tr("result"), tr("largest difference"), f.verified->max_rel_diff, tr("of the largest value"), measured_, {},
          tr("tolerance %1").arg(number_text(f.verified->tolerance)));
      add(tr("result"), tr("flips"), static_cast<qlonglong>(f.verified->flips), tr("decisions"), counted_, {},
          tr("%1 explained").arg(count_text(f.verified->explained_flips)));
    }
  }
  void add_measured(const RunSummaryFigures& f) {
    if (const std::string text = measured_text(f); !text.empty())
      add(tr("result"), tr("batches"), QString::fromStdString(text), {}, counted_);
  }
  void add_plan(const QString& name, const std::optional<PlanFigures>& plan, const RunSummaryFigures& f) {
    if (!plan) return;
    for (const PlanFigure& figure : plan_figures())
      if (const auto v = figure.value(*plan)) {
        const PlanFigureName named = name_of(figure, f);
        const bool bytes = qstrcmp(figure.unit, "bytes") == 0;
        const QString remark = bytes ? QString() : QString::fromStdString(no_ratio_text(f));
        add(name, named.name, *v, named.unit, bytes ? counted_ : measured_, {},
            remark.isEmpty() ? named.tip : tr("%1; %2").arg(remark, named.tip));
      }
  }
  void add_exit_target(const ExitTarget& t) {
    for (const auto& [title, text] : exit_target_lines(t))
      add(tr("exit target"), QString::fromStdString(title), QString::fromStdString(text), {}, {});
  }
  void add_exits(const ExitCurve& c) {
    for (size_t e = 0; e < c.exits.size(); ++e)
      add_left(QString::fromStdString(exit_name(c, e)), share_at(c.chosen.items, e));
    add(tr("exits"), tr("operations"), c.chosen.mean_cost, tr("share"), counted_, {},
        QString::fromStdString(exit_operations_text(c)));
  }
  void add_left(const std::vector<int64_t>& left) {
    for (size_t e = 0; e < left.size(); ++e)
      add_left(QString::fromStdString(exit_name(e, left.size())), share_at(left, e));
  }
  void add_cells(int64_t cells) {
    if (cells > 0)
      add(tr("run"), tr("cells"), static_cast<qlonglong>(cells), tr("cells"), counted_, {},
          tr("of the router that most came to"));
  }
  void add_pass(const PassReport& p, const RunSummaryFigures& f) {
    const QString name = QString::fromStdString(pass_name(p.name));
    add(name, tr("applied"), p.applied ? tr("yes") : tr("no"), {}, {}, {}, QString::fromStdString(p.reason));
    if (p.withheld)
      add(name, tr("speed-up"), QString(kNotMeasured), {}, measured_, {}, QString::fromStdString(to_text(*p.withheld)));
    if (p.speedup_alone)
      add(name, tr("speed-up alone"), *p.speedup_alone, tr("times"), measured_, p.speedup_alone_ci95);
    if (p.speedup_own)
      add(name, tr("own speed-up"), *p.speedup_own, tr("times"), measured_, p.speedup_own_ci95,
          tr("the plan with it against the plan without it"));
    if (p.speedup_cumulative)
      add(name, tr("speed-up with those above"), *p.speedup_cumulative, tr("times"), measured_,
          p.speedup_cumulative_ci95);
    if (p.guard_hits + p.fallbacks > 0)
      add(name, tr("fallbacks"), static_cast<qlonglong>(p.fallbacks), {}, counted_, {},
          tr("of %1, each guard %2")
              .arg(counted_text(p.guard_hits + p.fallbacks, "time"), QString::fromStdString(guards_counted(f.phase))));
  }
  void add_guards(const GuardCosts& g) {
    if (g.tests_ms)
      add(tr("guards"), tr("tests a batch"), *g.tests_ms, "ms", measured_, {}, tr("of hits and misses alike"));
    if (g.fallback_ms)
      add(tr("guards"), tr("a fallback"), *g.fallback_ms, "ms", measured_, {},
          tr("mean of %1, without the loading of weights").arg(counted_text(g.fallbacks, "fallback")));
  }
  void add_budget(const BudgetFigures& b) {
    const auto bytes = [&](const QString& figure, int64_t value, const QString& note = {}) {
      add(tr("budget"), figure, static_cast<qlonglong>(value), tr("bytes"), counted_, {}, note);
    };
    bytes(tr("budget for weights of branches"), b.budget_bytes, tr("a time under another budget is not a speed-up"));
    bytes(tr("weights of branches, all"), b.expert_bytes);
    bytes(tr("room for those that come and go"), b.slot_bytes);
    bytes(tr("those that never change"), b.pinned_bytes);
    bytes(tr("other weights"), b.dense_bytes, tr("in memory all the time"));
    bytes(tr("activations and states"), b.arena_bytes);
    bytes(tr("planned"), planned_bytes(b));
    if (b.held_bytes > 0)
      bytes(tr("held"), b.held_bytes,
            tr("at most after an execution, by the %1").arg(QString::fromStdString(b.held_counted)));
  }
  void add_tokens(double a_second) { add(tr("result"), tr("tokens a second"), a_second, tr("tokens/s"), measured_); }
  void add_recording() {
    add(tr("recording"), tr("latency, median"), s_.facts.latency_ms.median, "ms", measured_, {},
        tr("recording included"));
    add(tr("recording"), tr("latency, 95th percentile"), s_.facts.latency_ms.p95, "ms", measured_, {},
        tr("recording included"));
  }
  void add_router(const RouterSummary& r) {
    add(r.name, tr("imbalance"), r.imbalance, {}, counted_, {}, tr("max load / mean load - 1, without padding"));
    add(r.name, tr("entropy"), r.entropy, tr("bits"), counted_);
    if (!r.chance) return;
    add(r.name, tr("imbalance, beyond chance"), r.chance->beyond ? tr("yes") : tr("no"), {}, tr("drawn"), {},
        tr("95 % of even routers with as many cells have %1 to %2")
            .arg(number_text(r.chance->imbalance_low), number_text(r.chance->imbalance_high)));
  }

 private:
  void add_left(const QString& exit, double share) {
    add(tr("exits"), tr("left at %1").arg(exit), share, tr("share"), counted_);
  }
  void add(const QString& section, const QString& figure, const Value& value, const QString& unit,
           const QString& origin, const std::optional<std::array<double, 2>>& ci = {}, const QString& note = {}) {
    t_.rows.push_back(
        {section, figure, value, ci ? Value((*ci)[0]) : Value(), ci ? Value((*ci)[1]) : Value(), unit, origin, note});
  }

  const Situation& s_;
  Table t_;
  const QString measured_ = tr("measured"), counted_ = tr("counted");
};

}  // namespace

Table make_overview_table(const Situation& s) {
  OverviewRows rows(s);
  rows.add_run();
  if (s.summary) {
    const RunSummaryFigures& f = s.summary->figures;
    rows.add_result(f);
    rows.add_measured(f);
    rows.add_plan(tr("baseline"), f.baseline, f);
    if (f.is_verified() || !f.baseline) rows.add_plan(tr("optimised"), f.optimized, f);
    if (f.exit_target) rows.add_exit_target(*f.exit_target);
    if (f.exits) rows.add_exits(*f.exits);
    if (f.weight_budget) rows.add_budget(*f.weight_budget);
    if (const auto& g = s.summary->generated) rows.add_tokens(g->tokens_per_s);
    for (const PassReport& p : f.passes) rows.add_pass(p, f);
  } else {
    if (s.facts.latency_ms.runs > 0) rows.add_recording();
    rows.add_cells(s.facts.cells);
    rows.add_left(s.facts.cells_by_exit);
  }
  if (s.guards) rows.add_guards(*s.guards);
  for (const RouterSummary& r : routers_of(s)) rows.add_router(r);
  return rows.take();
}

}  // namespace stormcell::views
