// Tries: runs of a session, each with its changes from the run that it is compared with. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <QStringList>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/configuration/plan_config.h"
#include "core/readings/session_view.h"
#include "core/summary/settings.h"
#include "views/optimisations/optimisations_model.h"

namespace stormcell::studio {

/// By pass, as PlanConfig::passes has them: options that were set, and what the pass found.
using PlanPasses = std::map<std::string, std::map<std::string, std::string>>;

/// Settings that a run was made with, as far as a try can change it.
struct TrySettings {
  ExperimentOptions experiment;
  Intervention intervention = {};
  RouterThresholds exits = {};   ///< in the place of the model's own; empty: those
  PlanPasses passes = {};        ///< of the plan that ran; empty: the model as it came
  std::string fingerprint = {};  ///< of the model, for a configuration; empty: not known
  /// The same run: what is found out about the model is no part of it.
  bool operator==(const TrySettings& other) const {
    return experiment == other.experiment && intervention == other.intervention && exits == other.exits &&
           passes == other.passes;
  }
};
/// The configuration that replays a run: a session keeps it beside an optimisation, and in what a run said when it
/// ended. Empty: there is none.
std::string configuration_of(const RunLine& run);
/// Nothing: the run does not say, as an imported one.
std::optional<TrySettings> try_settings(const RunLine& run);

/// A further run of a session: its settings, and the run whose answers it is compared with.
struct TryRequest {
  TrySettings base, changed;
  std::string session;
  bool is_comparable = false;  ///< both run the same items
};
TryRequest try_request(const SessionOverview& session, const RunLine& shown, const TrySettings& wanted);
/// stormcell.config/1 of what no option says; empty: options say all.
std::string config_of_try(const TrySettings& settings);
/// Why it cannot be run, in one line; empty: it can.
QString refusal_of(const TrySettings& wanted);
/// The newest run with exactly these settings that can be compared with others; 0: none.
int64_t run_of_try(const SessionOverview& session, const TrySettings& wanted);

/// One pass of this version, as a try can switch it.
struct PassSwitch {
  PassLine line;
  bool on = false;  ///< in the plan of the run on show
  /// As a run of the session with the same model, device, number format and budget found it; it can be switched on
  /// without another search. Nothing: no run did.
  std::optional<std::map<std::string, std::string>> found;
  QString obstacle;  ///< why it is in no plan although it was tried, in a sentence; empty: it is, or was never tried
  /// The value of an option of `line`.
  QString value_of(const PassOptionLine& option) const;
};
std::vector<PassSwitch> pass_switches(const SessionOverview& session, const TrySettings& shown);
/// The choice for a search: the passes of the plan, with one more or one option of another value.
views::PassChoice choice_with(const TrySettings& shown, const std::string& pass, const std::string& option = {},
                              const QString& value = {});
/// Why such a search cannot be made with what was changed; empty: it can.
QString refusal_of_search(const TrySettings& shown);

/// The run that `run` is compared with: itself where it was compared with none.
const RunLine& base_of(const SessionOverview& session, const RunLine& run);
/// Changed settings, a phrase each: "encoder.block.1.mlp/3 off", "dtype bf16". Empty: none.
QStringList changes_between(const TrySettings& base, const TrySettings& changed);
/// The word of an option as the command line takes it; empty: it is at its default.
std::string word_of(const Setting& setting, const ExperimentOptions& options);

/// Capacities as the panel has them, with blanks between: "8", "a.router=1.25x". Empty: the model's own.
QString capacities_text(const Intervention& intervention);
/// Throws Error(bad_input).
std::vector<CapacityChange> capacities_of(const QString& text);

/// One run in the list; a text is empty if the run has no such figure.
struct TryRow {
  int64_t run = 0;
  QString title, changed, time, operations, answers, quality, memory;
  /// All of it, a line each.
  QString text() const;
};
/// Finished runs of the session whose settings are known, oldest first.
std::vector<TryRow> try_rows(const SessionOverview& session);

/// Options of what-if that make the change, quoted for a shell.
QStringList words_of_change(const Intervention& change);
/// The command that repeats a try; `config`: the name of its configuration's file, for settings without an option.
QString command_of_try(const TrySettings& settings, const QString& session, const QString& config);

}  // namespace stormcell::studio
