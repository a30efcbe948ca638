// Tries: runs of a session, each with its changes from the run that it is compared with. Pure: no widget, no reading.
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

/// Settings of a run, as far as a try can change them.
struct TrySettings {
  ExperimentOptions experiment;
  Intervention intervention = {};
  RouterThresholds exits = {};  ///< replace the model's own; empty: the model's own
  bool operator==(const TrySettings&) const = default;
};
/// Empty: the run has no settings, as an imported one.
std::optional<TrySettings> try_settings(const RunLine& run);

/// A further run of a session: its settings, and the run whose answers it is compared with.
struct TryRequest {
  TrySettings base, changed;
  std::string session;
  bool is_comparable = false;  ///< both run the same items
};
TryRequest try_request(const SessionOverview& session, const RunLine& shown, const TrySettings& wanted);
/// The reason why it cannot be run, in one line; empty: it can.
QString refusal_of(const TrySettings& wanted);
/// The newest run with exactly these settings that can be compared with others; 0: none.
int64_t run_of_try(const SessionOverview& session, const TrySettings& wanted);

/// The run that `run` is compared with; itself if it was compared with none.
const RunLine& base_of(const SessionOverview& session, const RunLine& run);
/// Changed settings, a phrase each: "encoder.block.1.mlp/3 off", "dtype bf16". Empty: none.
QStringList changes_between(const TrySettings& base, const TrySettings& changed);
/// The word of an option as the command line takes it; empty: it is at its default.
std::string word_of(const Setting& setting, const ExperimentOptions& options);

/// One run in the list; a text is empty if the run has no such figure.
struct TryRow {
  int64_t run = 0;
  QString title, changed, time, operations, answers, quality, memory;
  /// All of it, a line each.
  QString text() const;
};
/// Finished runs of the session whose settings are known, oldest first.
std::vector<TryRow> try_rows(const SessionOverview& session);

/// The command that repeats a try; `config`: the name of its configuration's file, for settings without an option.
QString command_of_try(const TrySettings& settings, const QString& session, const QString& config);

}  // namespace stormcell::studio
