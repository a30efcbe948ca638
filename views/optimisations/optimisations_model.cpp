#include "views/optimisations/optimisations_model.h"

#include <algorithm>

#include "core/base/run_kind.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

std::optional<Gain> gain(const std::optional<double>& value, const std::optional<Interval>& ci95) {
  return value ? std::optional(Gain{*value, ci95}) : std::nullopt;
}

PassRow* find(Optimisations& state, const QString& id) {
  for (PassRow& row : state.rows)
    if (row.id == id) return &row;
  return nullptr;
}

/// True if a pass ran with exactly its current options.
bool has_options(const std::map<std::string, std::string>& options, const PassRow& row) {
  return std::all_of(row.options.begin(), row.options.end(), [&](const OptionRow& option) {
    const auto set = options.find(option.line.key);
    return set != options.end() ? QString::fromStdString(set->second) == option.value : option.is_standard();
  });
}

/// Takes facts that do not depend on other passes from any run, and the rest only from the run with exactly this
/// choice.
void take(Optimisations& state, const RunLine& run, bool exact) {
  for (const PassReport& p : run.result->figures.passes) {
    PassRow* row = find(state, QString::fromStdString(p.name));
    if (!row || !has_options(p.options, *row)) continue;
    if (!row->applied || exact)
      row->applied = p.applied, row->left_out = p.left_out, row->reason = QString::fromStdString(p.reason);
    if (exact) row->withheld = p.withheld ? QString::fromStdString(not_measured_text(*p.withheld)) : QString();
    if (p.speedup_alone && (!row->alone || exact))
      row->alone = gain(p.speedup_alone, p.speedup_alone_ci95), row->alone_run = run.id;
    if (!exact) continue;
    row->cumulative = gain(p.speedup_cumulative, p.speedup_cumulative_ci95);
    row->guard_hits = p.guard_hits;
    row->guard_misses = p.fallbacks;
    row->parameters.clear();
    for (const auto& [key, value] : p.parameters)
      row->parameters.emplace_back(QString::fromStdString(key), QString::fromStdString(value));
  }
}

std::optional<double> mean_of(const std::optional<PlanFigures>& plan) {
  return plan && plan->latency_ms.mean > 0 ? std::optional(plan->latency_ms.mean) : std::nullopt;
}

}  // namespace

std::optional<PassChoice> chosen_passes(const RunLine& run) {
  if (!run.result || run_kind(run.result->figures.verb) != RunKind::optimize) return {};
  PassChoice chosen;
  for (const PassReport& p : run.result->figures.passes) {
    const QString id = QString::fromStdString(p.name);
    chosen.enabled.insert(id);
    for (const auto& [key, value] : p.options)
      chosen.options[id][QString::fromStdString(key)] = QString::fromStdString(value);
  }
  return chosen;
}

PassChoice effective(const PassChoice& choice) {
  PassChoice seen{choice.enabled};
  for (auto it = choice.options.begin(); it != choice.options.end(); ++it)
    if (choice.enabled.contains(it.key()) && !it.value().isEmpty()) seen.options.insert(it.key(), it.value());
  return seen;
}

PassChoice with_option(const PassChoice& choice, const QString& pass, const OptionRow& option, const QString& value) {
  PassChoice next = choice;
  const QString key = QString::fromStdString(option.line.key);
  if (value == QString::fromStdString(option.line.standard))
    next.options[pass].remove(key);
  else
    next.options[pass][key] = value;
  if (next.options[pass].isEmpty()) next.options.remove(pass);
  return next;
}

QString options_text(const PassChoice& choice) {
  QStringList words;
  const PassChoice seen = effective(choice);
  for (auto pass = seen.options.begin(); pass != seen.options.end(); ++pass)
    for (auto option = pass->begin(); option != pass->end(); ++option)
      words << QString("%1 %2=%3").arg(pass.key(), option.key(), option.value());
  return words.join(", ");
}

QSet<QString> default_passes() {
  QSet<QString> passes;
  for (const PassLine& pass : list_passes())
    if (!pass.lossy) passes.insert(QString::fromStdString(pass.id));
  return passes;
}

Optimisations look_up(const SessionOverview& session, int64_t settings_of, const PassChoice& choice) {
  Optimisations state;
  for (const PassLine& pass : list_passes()) {
    PassRow row;
    row.id = QString::fromStdString(pass.id);
    row.name = QString::fromStdString(pass.name);
    row.summary = QString::fromStdString(pass.summary);
    row.lossy = pass.lossy;
    row.enabled = choice.enabled.contains(row.id);
    for (const PassOptionLine& line : pass.options)
      row.options.push_back({line, choice.options.value(row.id).value(QString::fromStdString(line.key),
                                                                      QString::fromStdString(line.standard))});
    state.rows.push_back(std::move(row));
  }
  const PassChoice wanted = effective(choice);
  std::string settings;
  for (const RunLine& run : session.runs)
    if (run.id == settings_of) settings = run.settings;
  // Newest first: its results are closest to those of a run now.
  for (size_t i = session.runs.size(); i-- > 0;) {
    const RunLine& run = session.runs[i];
    const auto chosen = chosen_passes(run);
    if (!chosen || (!settings.empty() && run.settings != settings)) continue;
    const bool exact = state.run == 0 && *chosen == wanted;
    take(state, run, exact);
    if (!exact) continue;
    state.run = run.id;
    state.config = run.config;
    const RunSummaryFigures& figures = run.result->figures;
    state.baseline_ms = mean_of(figures.baseline);
    state.optimised_ms = mean_of(figures.optimized);
    state.speedup = gain(figures.speedup, figures.speedup_ci95);
    if (figures.withheld) state.withheld = QString::fromStdString(to_text(*figures.withheld));
    if (figures.is_verified()) {
      state.verified = QString::fromStdString(figures.verified->text);
      state.equality = QString::fromStdString(equality_text(*figures.verified, figures.dataset.batches));
    }
  }
  return state;
}

PassSelection selection_of(const PassChoice& choice) {
  PassSelection plan;
  for (const PassLine& pass : list_passes()) {
    if (choice.enabled.contains(QString::fromStdString(pass.id)))
      plan.only.push_back(pass.id);
    else
      plan.disable.push_back(pass.id);
  }
  // An empty "only" means all that run by default.
  if (!plan.only.empty()) plan.disable.clear();
  if (choice.enabled == default_passes()) plan.only.clear();
  const PassChoice seen = effective(choice);
  for (auto pass = seen.options.begin(); pass != seen.options.end(); ++pass)
    for (auto option = pass->begin(); option != pass->end(); ++option)
      plan.options[pass.key().toStdString()][option.key().toStdString()] = option.value().toStdString();
  return plan;
}

QString to_text(const Gain& gain) {
  QString text = QString("%1x").arg(gain.value, 0, 'f', 2);
  if (gain.ci95) text += QString(" [%1, %2]").arg((*gain.ci95)[0], 0, 'f', 2).arg((*gain.ci95)[1], 0, 'f', 2);
  return text;
}

Table make_table(const Optimisations& state) {
  Table table;
  table.columns = {
      {tr("pass"), tr("a rewrite of the graph")},
      {tr("on"), tr("whether the next run uses it")},
      {tr("applied"), tr("whether it found something to rewrite in the newest run")},
      {tr("alone"), tr("measured: speed-up with this pass alone, time of all batches")},
      {tr("alone from"), tr("lower end of its 95 % interval")},
      {tr("alone to"), tr("upper end of its 95 % interval")},
      {tr("alone in run"),
       tr("the run that measured it alone; a quick run of a choice does not, so this may be an older run")},
      {tr("up to here"), tr("measured: with this pass and those above it")},
      {tr("guard misses"),
       tr("inputs that needed a path the pass had left out: the fallback computed it, so the answer is right")},
      {tr("parameters"), tr("its options, as the next run will use them")},
      {tr("why"), tr("what it did, or why it did not apply")}};
  for (const PassRow& row : state.rows) {
    QStringList options;
    for (const OptionRow& option : row.options) options << QString::fromStdString(option.line.key) + "=" + option.value;
    table.rows.push_back({row.name, QString(row.enabled ? tr("yes") : tr("no")),
                          row.applied ? Value(*row.applied ? tr("yes") : tr("no")) : Value(),
                          row.alone                ? Value(row.alone->value)
                          : row.withheld.isEmpty() ? Value()
                                                   : Value(row.withheld),
                          row.alone && row.alone->ci95 ? Value((*row.alone->ci95)[0]) : Value(),
                          row.alone && row.alone->ci95 ? Value((*row.alone->ci95)[1]) : Value(),
                          row.alone ? Value(static_cast<qlonglong>(row.alone_run)) : Value(),
                          row.cumulative           ? Value(row.cumulative->value)
                          : row.withheld.isEmpty() ? Value()
                                                   : Value(row.withheld),
                          state.run ? Value(row.guard_misses) : Value(), options.join(", "), row.reason});
  }
  return table;
}

}  // namespace stormcell::views
