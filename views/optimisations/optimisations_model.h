// Passes as switches, with what earlier runs of the same session say of this choice. Pure: no widget, no reading.
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

/// Which passes the next run uses, and what is set of them: by pass and option, where it is not the standard.
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
  /// The rest: from a run; null or empty where none tells.
  std::optional<bool> applied;
  QString reason;
  bool left_out = false;  ///< it could be applied, and lost
  std::optional<Gain> alone, cumulative;
  QString withheld;  ///< why the run that measured this choice does not state them; empty: it states them or did not
                     ///< measure them
  int64_t alone_run = 0;  ///< where `alone` comes from: maybe another run than the rest
  qlonglong guard_hits = 0, guard_misses = 0;
  std::vector<std::pair<QString, QString>> parameters;
};

struct Optimisations {
  std::vector<PassRow> rows;
  int64_t run = 0;              ///< the run that measured exactly this choice; 0: none
  std::optional<Gain> speedup;  ///< of that run, only where it was verified
  QString withheld;             ///< why it is not stated although it was measured; empty: nothing was withheld
  std::optional<double> baseline_ms, optimised_ms;
  QString verified;    ///< in words; empty: not verified
  std::string config;  ///< stormcell.config/1 of that run
};

/// What a run chose; nothing where it was no optimize run.
std::optional<PassChoice> chosen_passes(const RunLine& run);
/// The same choice as a run would see it: without what is set of passes that are off.
PassChoice effective(const PassChoice& choice);
/// The choice with one option set; the standard is not kept.
PassChoice with_option(const PassChoice& choice, const QString& pass, const OptionRow& option, const QString& value);
/// "dead-path max-share=0.02, vertical-fusion norms=off"; empty where nothing is set of the passes that run.
QString options_text(const PassChoice& choice);
/// What is known of a choice from all runs of the session with the same settings as `settings_of`: the newest run with
/// exactly this choice; reasons also from others where that one is missing.
Optimisations look_up(const SessionOverview& session, int64_t settings_of, const PassChoice& choice);
/// For Experiment::optimize().
PassSelection selection_of(const PassChoice& choice);
/// All that run by default: the lossy ones only by name.
QSet<QString> default_passes();
Table make_table(const Optimisations& state);
/// "1.05x [0.99, 1.08]"
QString to_text(const Gain& gain);

}  // namespace stormcell::views
