#include "views/optimisations/optimisations_model.h"

#include <QCoreApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <algorithm>

namespace stormcell::views {
namespace {

QString tr(const char* text) { return QCoreApplication::translate("Optimisations", text); }

QJsonObject summary_of(const RunLine& run) { return QJsonDocument::fromJson(QByteArray::fromStdString(run.summary)).object(); }

std::optional<double> number(const QJsonValue& v) { return v.isDouble() ? std::optional(v.toDouble()) : std::nullopt; }

std::optional<Gain> gain(const QJsonValue& value, const QJsonValue& ci) {
  if (!value.isDouble()) return {};
  Gain g{value.toDouble(), {}};
  if (ci.isArray() && ci.toArray().size() == 2) g.ci95 = Interval{ci[0].toDouble(), ci[1].toDouble()};
  return g;
}

PassRow* find(Optimisations& state, const QString& id) {
  for (PassRow& row : state.rows)
    if (row.id == id) return &row;
  return nullptr;
}

/// Whether a pass ran with just what is set of it now.
bool has_options(const QJsonObject& options, const PassRow& row) {
  return std::all_of(row.options.begin(), row.options.end(), [&](const OptionRow& option) {
    const QJsonValue value = options[QString::fromStdString(option.line.key)];
    return value.isString() ? value.toString() == option.value : option.is_standard();
  });
}

/// What does not depend on which other passes ran stands in every run; the rest only counts from the run of exactly this choice.
void take(Optimisations& state, int64_t run, const QJsonObject& summary, bool exact) {
  for (const QJsonValue& p : summary["passes"].toArray()) {
    PassRow* row = find(state, p["name"].toString());
    if (!row || !has_options(p["options"].toObject(), *row)) continue;
    if (!row->applied || exact)
      row->applied = p["applied"].toBool(), row->left_out = p["left_out"].toBool(), row->reason = p["reason"].toString();
    if (const auto alone = gain(p["speedup_alone"], p["speedup_alone_ci95"]); alone && (!row->alone || exact))
      row->alone = alone, row->alone_run = run;
    if (!exact) continue;
    row->cumulative = gain(p["speedup_cumulative"], p["speedup_cumulative_ci95"]);
    row->guard_hits = static_cast<qlonglong>(p["guard_hits"].toDouble());
    row->guard_misses = static_cast<qlonglong>(p["fallbacks"].toDouble());
    row->parameters.clear();
    const QJsonObject parameters = p["parameters"].toObject();
    for (auto it = parameters.begin(); it != parameters.end(); ++it) row->parameters.emplace_back(it.key(), it.value().toString());
  }
}

}  // namespace

std::optional<PassChoice> chosen_passes(const RunLine& run) {
  const QJsonObject summary = summary_of(run);
  if (summary["schema"].toString() != "stormcell.optimize/1") return {};
  PassChoice chosen;
  for (const QJsonValue& p : summary["passes"].toArray()) {
    const QString id = p["name"].toString();
    chosen.enabled.insert(id);
    const QJsonObject options = p["options"].toObject();
    for (auto it = options.begin(); it != options.end(); ++it) chosen.options[id][it.key()] = it.value().toString();
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
    row.summary = QString::fromStdString(pass.summary);
    row.lossy = pass.lossy;
    row.enabled = choice.enabled.contains(row.id);
    for (const PassOptionLine& line : pass.options)
      row.options.push_back(
          {line, choice.options.value(row.id).value(QString::fromStdString(line.key), QString::fromStdString(line.standard))});
    state.rows.push_back(std::move(row));
  }
  const PassChoice wanted = effective(choice);
  std::string settings;
  for (const RunLine& run : session.runs)
    if (run.id == settings_of) settings = run.settings;
  // Newest first: what it says is nearest to what a run would say now.
  for (size_t i = session.runs.size(); i-- > 0;) {
    const RunLine& run = session.runs[i];
    const auto chosen = chosen_passes(run);
    if (!chosen || (!settings.empty() && run.settings != settings)) continue;
    const QJsonObject summary = summary_of(run);
    const bool exact = state.run == 0 && *chosen == wanted;
    take(state, run.id, summary, exact);
    if (!exact) continue;
    state.run = run.id;
    state.config = run.config;
    state.baseline_ms = number(summary["baseline"]["latency_ms"]["mean"]);
    state.optimised_ms = number(summary["optimized"]["latency_ms"]["mean"]);
    if (summary["verified"]["passed"].toBool()) {
      state.speedup = gain(summary["speedup"], summary["speedup_ci95"]);
      state.verified = summary["verified"]["text"].toString();
    }
  }
  return state;
}

PlanChoice plan_choice(const PassChoice& choice) {
  PlanChoice plan;
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
  table.columns = {{tr("pass"), tr("a rewrite of the graph")},
                   {tr("on"), tr("whether the next run uses it")},
                   {tr("applied"), tr("whether it found something to rewrite in the newest run")},
                   {tr("alone"), tr("measured: speed-up with this pass alone, median over pairs")},
                   {tr("alone from"), tr("lower end of its 95 % interval")},
                   {tr("alone to"), tr("upper end of its 95 % interval")},
                   {tr("alone in run"), tr("the run that measured it alone; a quick run of a choice does not, so this may be an older run")},
                   {tr("up to here"), tr("measured: with this pass and those above it")},
                   {tr("guard misses"), tr("inputs that needed a path the pass had left out: the fallback computed it, so the answer is right")},
                   {tr("parameters"), tr("its options, as the next run will use them")},
                   {tr("why"), tr("what it did, or why it did not apply")}};
  for (const PassRow& row : state.rows) {
    QStringList options;
    for (const OptionRow& option : row.options) options << QString::fromStdString(option.line.key) + "=" + option.value;
    table.rows.push_back(
        {row.id, QString(row.enabled ? tr("yes") : tr("no")), row.applied ? Value(*row.applied ? tr("yes") : tr("no")) : Value(),
         row.alone ? Value(row.alone->value) : Value(), row.alone && row.alone->ci95 ? Value((*row.alone->ci95)[0]) : Value(),
         row.alone && row.alone->ci95 ? Value((*row.alone->ci95)[1]) : Value(),
         row.alone ? Value(static_cast<qlonglong>(row.alone_run)) : Value(), row.cumulative ? Value(row.cumulative->value) : Value(),
         state.run ? Value(row.guard_misses) : Value(), options.join(", "), row.reason});
  }
  return table;
}

}  // namespace stormcell::views
