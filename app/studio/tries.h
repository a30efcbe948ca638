// Tries: runs of a session, each with what was changed of the run that it is compared with. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <QStringList>
#include <optional>
#include <string>
#include <vector>

#include "core/configuration/plan_config.h"
#include "core/readings/session_view.h"
#include "core/summary/settings.h"

namespace stormcell::studio {

/// What a run was made with, as far as a try can change it.
struct TrySettings {
  ExperimentOptions experiment;
  Intervention intervention = {};
  RouterThresholds exits = {};  ///< in the place of the model's own; empty: those
  bool operator==(const TrySettings&) const = default;
};
/// Nothing: the run does not say, as an imported one.
std::optional<TrySettings> try_settings(const RunLine& run);

/// One run more of a session: what is run, and the run whose answers it is compared with.
struct TryRequest {
  TrySettings base, changed;
  std::string session;
  bool is_comparable = false;  ///< both run the same items
};
TryRequest try_request(const SessionOverview& session, const RunLine& shown, const TrySettings& wanted);
/// Why it cannot be run, in one line; empty: it can.
QString refusal_of(const TrySettings& wanted);
/// The newest run that was made with just these settings and can be compared with others; 0: none.
int64_t run_of_try(const SessionOverview& session, const TrySettings& wanted);

/// The run that `run` is compared with: itself where it was compared with none.
const RunLine& base_of(const SessionOverview& session, const RunLine& run);
/// What differs, a phrase each: "encoder.block.1.mlp/3 off", "dtype bf16". Empty: nothing does.
QStringList changes_between(const TrySettings& base, const TrySettings& changed);
/// The word of an option as the command line takes it; empty: it is at its default.
std::string word_of(const Setting& setting, const ExperimentOptions& options);

/// One run as the list shows it; a text is empty where the run does not tell.
struct TryRow {
  int64_t run = 0;
  QString title, changed, time, operations, answers, quality, memory;
  /// All of it, a line each.
  QString text() const;
};
/// Finished runs of the session whose settings are known, oldest first.
std::vector<TryRow> try_rows(const SessionOverview& session);

/// The command that does what a try did; `config`: the name of its configuration's file, for what has no option.
QString command_of_try(const TrySettings& settings, const QString& session, const QString& config);

}  // namespace stormcell::studio
