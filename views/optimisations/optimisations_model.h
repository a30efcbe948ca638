// Passes as switches, with the results of this choice in earlier runs of the session. Pure: no widget, no reading.
#pragma once
#include <QMap>
#include <QSet>
#include <QString>
#include <array>
#include <optional>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/experiment/pass_list.h"
#include "core/readings/session_view.h"
#include "views/frame/table.h"

namespace stormcell::views {

using Interval = std::array<double, 2>;
struct Gain {
  double value = 1;
  std::optional<Interval> ci95;
};

using PassOptions = QMap<QString, QString>;

/// The passes of the next run, and their options that are not the standard, by pass and option.
struct PassChoice {
  QSet<QString> enabled;
  QMap<QString, PassOptions> options = {};
  bool operator==(const PassChoice&) const = default;
};

struct OptionRow {
  PassOptionLine line;
  QString value;
  bool is_standard() const { return value == QString::fromStdString(line.standard); }
};

struct PassRow {
  QString id, name, summary;
  bool lossy = false, enabled = false;
  std::vector<OptionRow> options;
  /// The rest comes from a run; null or empty if no run has it.
  std::optional<bool> applied;
  QString reason;
  bool left_out = false;  ///< it could be applied, but was slower
  std::optional<Gain> alone, cumulative;
  QString withheld;  ///< why the run with this choice does not state its gains; empty: it does, or did not measure them
  int64_t alone_run = 0;  ///< run that `alone` comes from; it may differ from the rest
  qlonglong guard_hits = 0, guard_misses = 0;
  std::vector<std::pair<QString, QString>> parameters;
};

struct Optimisations {
  std::vector<PassRow> rows;
  int64_t run = 0;              ///< the run that measured exactly this choice; 0: none
  std::optional<Gain> speedup;  ///< of that run, only where it was verified
  QString withheld;             ///< why a measured speed-up is not stated; empty: none was withheld
  std::optional<double> baseline_ms, optimised_ms;
  QString verified;    ///< in words; empty: not verified
  QString equality;    ///< exactly and numerically, in words; empty: an older run, or nothing to compare
  std::string config;  ///< stormcell.config/1 of that run
};

/// The choice of a run; empty unless it was an optimize run.
std::optional<PassChoice> chosen_passes(const RunLine& run);
/// The same choice without options of passes that are off, as a run sees it.
PassChoice effective(const PassChoice& choice);
/// The choice with one option set; the standard value is not stored.
PassChoice with_option(const PassChoice& choice, const QString& pass, const OptionRow& option, const QString& value);
/// "dead-path max-share=0.02, vertical-fusion norms=off"; empty if no pass that runs has an option set.
QString options_text(const PassChoice& choice);
/// Results for a choice from all runs of the session with the same settings as `settings_of`: from the newest run with
/// exactly this choice; without one, reasons come from other runs.
Optimisations look_up(const SessionOverview& session, int64_t settings_of, const PassChoice& choice);
/// The selection for Experiment::optimize().
PassSelection selection_of(const PassChoice& choice);
/// All passes that run by default: lossy ones run only by name.
QSet<QString> default_passes();
Table make_table(const Optimisations& state);
/// "1.05x [0.99, 1.08]"
QString to_text(const Gain& gain);

}  // namespace stormcell::views
