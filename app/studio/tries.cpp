#include "app/studio/tries.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>
#include <variant>

#include "app/studio/command_line.h"
#include "core/base/error.h"
#include "core/base/pass_names.h"
#include "core/base/run_kind.h"
#include "core/summary/quality_text.h"
#include "views/optimisations/optimisations_model.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

QString tr_tries(const char* text) { return QCoreApplication::translate("Tries", text); }
QString qt(const std::string& text) { return QString::fromStdString(text); }
QString name_of_pass(const std::string& id) { return qt(pass_name(id)); }

/// Targets are of optimize: a try has the thresholds and the passes that were found.
void leave_out_optimize(ExperimentOptions& options) {
  options.target_quality.clear(), options.target_latency.clear();
  options.keep_all = options.dense = false;
  options.profile_split = ExperimentOptions().profile_split;
}

/// Item numbers of two runs name the same items.
bool has_same_items(const ExperimentOptions& a, const ExperimentOptions& b) {
  const auto items = [](const ExperimentOptions& o) {
    return std::tie(o.model, o.data, o.batches, o.batch, o.bucket_by_length, o.length, o.truncate, o.field, o.seed,
                    o.phase, o.prompts, o.chat, o.system, o.date, o.special_tokens, o.tokenizer);
  };
  return items(a) == items(b);
}

const PlanFigures* plan_of(const RunSummaryFigures& figures) {
  if (figures.optimized && figures.is_verified()) return &*figures.optimized;
  return figures.baseline ? &*figures.baseline : nullptr;
}

QString time_of(const PlanFigures& plan) {
  const Latency& latency = plan.latency_ms;
  if (latency.mean <= 0) return {};
  QString text = tr_tries("%1 a batch").arg(views::duration_text(latency.mean));
  if (latency.mean_ci95)
    text += QString(" [%1, %2]")
                .arg(views::duration_text((*latency.mean_ci95)[0]), views::duration_text((*latency.mean_ci95)[1]));
  return text;
}

/// "3 of 60 answers changed", "no bit of any output changed".
QString answers_of(const AnswersChanged& changed) {
  if (changed.outputs.changed == 0)
    return changed.item == kDecodedItem ? tr_tries("no text changed") : tr_tries("no bit of any output changed");
  const auto part = [](const ChangedCount& c, const std::string& noun) {
    QString text =
        tr_tries("%1 of %2 changed").arg(views::count_text(c.changed), views::counted_text(c.of, noun.c_str()));
    if (c.share_ci95)
      text +=
          QString(" [%1, %2]").arg(views::percent_text((*c.share_ci95)[0]), views::percent_text((*c.share_ci95)[1]));
    return text;
  };
  if (changed.first_token && changed.first_item)
    return tr_tries("%1, %2, first token %3 of text %4")
        .arg(part(changed.outputs, changed.item), part(*changed.answers, changed.answer))
        .arg(*changed.first_token)
        .arg(*changed.first_item);
  return changed.answers ? part(*changed.answers, changed.answer) : part(changed.outputs, changed.item);
}

QString quality_of(const RunSummaryFigures& figures) {
  if (!figures.quality) return {};
  const QualityFigures& quality = *figures.quality;
  const auto& plan = quality.optimized && figures.is_verified() ? quality.optimized : quality.baseline;
  return plan ? qt(quality.measure + " " + plan_quality_text(quality, *plan)) : QString();
}

/// Its figures are those of one plan with its settings. An optimisation that was not verified left no plan.
bool is_try(const RunLine& run) {
  if (!run.result || run.status != RunStatus::finished) return false;
  const RunKind kind = run_kind(run.kind);
  return kind == RunKind::run || (kind == RunKind::optimize && run.result->figures.is_verified());
}

QString changed_text(const SessionOverview& session, const RunLine& run, const TrySettings& settings) {
  const RunLine& base = base_of(session, run);
  QStringList words;
  if (const auto before = try_settings(base)) words = changes_between(*before, settings);
  if (!words.isEmpty()) return words.join(", ");
  const auto passes = static_cast<qint64>(settings.passes.size());
  if (const auto chosen = views::chosen_passes(run)) {
    words << tr_tries("optimised: %1 in the plan").arg(views::counted_text(passes, "pass", "passes"));
    QStringList without;
    for (const QString& pass : views::default_passes())
      if (!chosen->enabled.contains(pass)) without << name_of_pass(pass.toStdString());
    without.sort();
    if (!without.isEmpty()) words << tr_tries("without %1").arg(without.join(", "));
    if (const QString options = views::options_text(*chosen); !options.isEmpty()) words << options;
  } else if (passes > 0) {
    words << tr_tries("with %1").arg(views::counted_text(passes, "pass", "passes"));
  }
  TrySettings plain{settings.experiment};
  plain.passes = settings.passes;
  words << changes_between(plain, settings);
  return words.isEmpty() ? tr_tries("the model as it came") : words.join(", ");
}

}  // namespace

std::string configuration_of(const RunLine& run) {
  if (has_configuration(run.config)) return run.config;
  return run.result && has_configuration(run.result->figures.config) ? run.result->figures.config : std::string();
}

std::optional<TrySettings> try_settings(const RunLine& run) {
  auto options = parse_settings(run.settings);
  if (!options) return {};
  leave_out_optimize(*options);
  if (!run.phase.empty()) options->phase = run.phase;
  TrySettings settings{*options};
  const std::string text = configuration_of(run);
  if (text.empty()) return settings;
  try {
    const PlanConfig config = parse_plan_config(text, "the run's configuration");
    settings.intervention = config.intervention, settings.exits = config.exits;
    settings.passes = {config.passes.begin(), config.passes.end()};
    settings.fingerprint = config.fingerprint;
  } catch (const Error&) {
    return {};  // of a later version
  }
  return settings;
}

const RunLine& base_of(const SessionOverview& session, const RunLine& run) {
  if (run.result && run.result->figures.changed)
    for (const RunLine& other : session.runs)
      if (other.id == run.result->figures.changed->run) return other;
  return run;
}

TryRequest try_request(const SessionOverview& session, const RunLine& shown, const TrySettings& wanted) {
  const auto base = try_settings(base_of(session, shown));
  return {base.value_or(wanted), wanted, session.file, base && has_same_items(base->experiment, wanted.experiment)};
}

QString refusal_of(const TrySettings& wanted) {
  if (!wanted.intervention.empty() && work_phase(wanted.experiment.phase) == WorkPhase::both)
    return tr_tries("A change of the routing is one of a single phase: choose a run of one.");
  return {};
}

int64_t run_of_try(const SessionOverview& session, const TrySettings& wanted) {
  for (auto run = session.runs.rbegin(); run != session.runs.rend(); ++run)
    if (is_try(*run) && try_settings(*run) == wanted) return run->id;
  return 0;
}

std::string config_of_try(const TrySettings& settings) {
  if (settings.passes.empty()) return {};
  PlanConfig config;
  config.model = settings.experiment.model, config.fingerprint = settings.fingerprint;
  config.phase = work_phase(settings.experiment.phase);
  config.passes = {settings.passes.begin(), settings.passes.end()};
  config.intervention = settings.intervention, config.exits = settings.exits;
  return to_json(config);
}

QString PassSwitch::value_of(const PassOptionLine& option) const {
  if (found)
    if (const auto at = found->find(option.key); at != found->end()) return qt(at->second);
  return qt(option.standard);
}

std::vector<PassSwitch> pass_switches(const SessionOverview& session, const TrySettings& shown) {
  const auto is_alike = [&](const ExperimentOptions& o) {
    const ExperimentOptions& s = shown.experiment;
    return o.model == s.model && o.device == s.device && o.dtype == s.dtype && o.weight_budget == s.weight_budget &&
           o.phase == s.phase;
  };
  std::vector<PassSwitch> switches;
  for (const PassLine& line : list_passes()) {
    PassSwitch one{line};
    if (const auto at = shown.passes.find(line.id); at != shown.passes.end()) one.on = true, one.found = at->second;
    for (auto run = session.runs.rbegin(); run != session.runs.rend() && !one.found; ++run) {
      const auto settings = try_settings(*run);
      if (!settings || !is_alike(settings->experiment)) continue;
      if (const auto at = settings->passes.find(line.id); at != settings->passes.end()) one.found = at->second;
      if (!run->result || one.found || !one.obstacle.isEmpty()) continue;
      for (const PassReport& report : run->result->figures.passes)
        if (report.name == line.id && (!report.applied || report.left_out))
          one.obstacle = tr_tries("In run #%1: %2").arg(run->id).arg(qt(report.reason));
    }
    if (one.found) one.obstacle.clear();
    switches.push_back(std::move(one));
  }
  return switches;
}

views::PassChoice choice_with(const TrySettings& shown, const std::string& pass, const std::string& option,
                              const QString& value) {
  views::PassChoice choice;
  for (const PassLine& line : list_passes()) {
    const auto at = shown.passes.find(line.id);
    if (at == shown.passes.end() && line.id != pass) continue;
    choice.enabled.insert(qt(line.id));
    for (const PassOptionLine& o : line.options) {
      QString word = qt(o.standard);
      if (at != shown.passes.end())
        if (const auto set = at->second.find(o.key); set != at->second.end()) word = qt(set->second);
      if (line.id == pass && o.key == option) word = value;
      if (word != qt(o.standard)) choice.options[qt(line.id)][qt(o.key)] = word;
    }
  }
  return choice;
}

QString refusal_of_search(const TrySettings& shown) {
  if (shown.intervention.empty() && shown.exits.empty()) return {};
  return tr_tries("A pass is searched for the model as it came: choose a try without changed routing first.");
}

std::string word_of(const Setting& setting, const ExperimentOptions& options) {
  ExperimentOptions one;
  std::visit([&](auto field) { one.*field = options.*field; }, setting.field);
  if (one == ExperimentOptions()) return {};
  std::string all;
  for (const std::string& word : command_words(one, "run"))
    if (!word.empty() && word != setting.option) all += (all.empty() ? "" : " ") + word;
  return all.empty() ? "on" : all;
}

QStringList changes_between(const TrySettings& base, const TrySettings& changed) {
  QStringList words;
  for (const Setting& setting : kSettings) {
    if (!setting.is_of("run")) continue;
    const std::string before = word_of(setting, base.experiment), after = word_of(setting, changed.experiment);
    if (before == after) continue;
    QString name = views::to_qstring(setting.name());
    while (name.startsWith('-')) name.remove(0, 1);
    words << (after.empty() ? tr_tries("%1 at its default").arg(name) : name + " " + qt(after));
  }
  const Intervention &was = base.intervention, &is = changed.intervention;
  const auto has = [](const Intervention& i, const BranchOff& branch) {
    return std::find(i.off.begin(), i.off.end(), branch) != i.off.end();
  };
  const auto name_of = [](const BranchOff& branch) { return qt(branch.router) + "/" + QString::number(branch.branch); };
  for (const BranchOff& branch : is.off)
    if (!has(was, branch)) words << tr_tries("%1 off").arg(name_of(branch));
  for (const BranchOff& branch : was.off)
    if (!has(is, branch)) words << tr_tries("%1 on").arg(name_of(branch));
  for (const auto& [id, parameters] : changed.passes)
    if (!base.passes.contains(id)) words << tr_tries("%1 on").arg(name_of_pass(id));
  for (const auto& [id, parameters] : base.passes)
    if (!changed.passes.contains(id)) words << tr_tries("%1 off").arg(name_of_pass(id));
  if (was.capacities != is.capacities)
    words << (is.capacities.empty() ? tr_tries("the model's own capacity")
                                    : tr_tries("capacity %1").arg(capacities_text(is)));
  if (was.k != is.k) words << (is.k > 0 ? QString("k %1").arg(is.k) : tr_tries("the model's own k"));
  if (was.force != is.force)
    words << (is.force.empty() ? tr_tries("choices of the routers") : tr_tries("choices of %1").arg(qt(is.force)));
  if (base.exits == changed.exits) return words;
  const RouterThresholds& exits = changed.exits;
  if (exits.empty()) return words << tr_tries("the model's own thresholds");
  const bool one = std::all_of(exits.begin(), exits.end(),
                               [&](const RouterThreshold& t) { return t.threshold == exits.front().threshold; });
  QStringList values;
  for (const RouterThreshold& exit : exits) values << QString::number(exit.threshold);
  return words << (one ? tr_tries("threshold %1").arg(values.front())
                       : tr_tries("thresholds %1").arg(values.join(" ")));
}

QString capacities_text(const Intervention& intervention) {
  QStringList words;
  for (const CapacityChange& capacity : intervention.capacities) words << qt(to_text(capacity));
  return words.join(' ');
}

std::vector<CapacityChange> capacities_of(const QString& text) {
  std::vector<CapacityChange> changes;
  for (const QString& word : text.simplified().split(' ', Qt::SkipEmptyParts))
    changes.push_back(parse_capacity_change("Capacity", word.toStdString()));
  return changes;
}

QString TryRow::text() const {
  QString text = title;
  for (const QString& line : {changed, time, operations, answers, quality, memory})
    if (!line.isEmpty()) text += "\n" + line;
  return text;
}

std::vector<TryRow> try_rows(const SessionOverview& session) {
  std::vector<TryRow> rows;
  for (const RunLine& run : session.runs) {
    const auto settings = try_settings(run);
    if (!settings || !run.result || run.status != RunStatus::finished) continue;
    const RunSummaryFigures& figures = run.result->figures;
    TryRow row;
    row.run = run.id;
    row.title = QString("#%1 %2").arg(run.id).arg(qt(run.kind));
    row.changed = changed_text(session, run, *settings);
    if (!figures.is_verified()) row.title += ", " + tr_tries("not verified");
    if (const PlanFigures* plan = plan_of(figures)) {
      row.time = time_of(*plan);
      const auto bytes = static_cast<double>(plan->peak_weight_bytes + plan->peak_activation_bytes);
      if (bytes > 0) row.memory = tr_tries("%1 of weights and activations").arg(views::bytes_text(bytes));
    }
    if (figures.item_costs)
      row.operations =
          tr_tries("%1 operations for each %2")
              .arg(views::count_text(std::llround(figures.item_costs->operations)), qt(figures.item_costs->item));
    if (figures.changed) row.answers = answers_of(*figures.changed);
    row.quality = quality_of(figures);
    rows.push_back(std::move(row));
  }
  return rows;
}

QStringList words_of_change(const Intervention& change) {
  QStringList words;
  for (const BranchOff& branch : change.off)
    words << "--off" << shell_quoted(qt(branch.router) + "/" + QString::number(branch.branch));
  if (change.k > 0) words << "--k" << QString::number(change.k);
  for (const CapacityChange& capacity : change.capacities) words << "--capacity" << shell_quoted(qt(to_text(capacity)));
  if (!change.force.empty()) words << "--force" << shell_quoted(qt(change.force));
  return words;
}

QString command_of_try(const TrySettings& settings, const QString& session, const QString& config) {
  const Intervention& change = settings.intervention;
  // Only a configuration holds thresholds and passes; what-if has no annotations.
  const bool holds = !settings.exits.empty() || !settings.passes.empty();
  const bool plain = !holds && settings.experiment.annotations.empty();
  const char* verb = plain && !change.empty() ? "what-if" : "run";
  QStringList words = {"stormcell", verb};
  for (const std::string& word : command_words(settings.experiment, verb)) words << shell_quoted(qt(word));
  if (plain) {
    words << words_of_change(change);
  } else if (holds || !change.empty()) {
    words << "--config" << shell_quoted(config);
  }
  if (!session.isEmpty()) words << "-o" << shell_quoted(session);
  return words.join(' ');
}

}  // namespace stormcell::studio
