// Tries of a recording: its choices are changed as far as it tells them, and nothing is computed. Pure: no widget, no
// reading.
#pragma once
#include <QString>
#include <optional>
#include <string>
#include <vector>

#include "core/exports/replay_file.h"
#include "core/readings/session_view.h"

namespace stormcell::studio {

/// One change of the choices, and what it does to them.
struct RecordedTry {
  Intervention change;    ///< empty: as it was recorded
  ReplayFigures figures;  ///< without a file
};
/// Tries of one run. They are kept while the window is open: a changed recording is no run of the session.
struct RecordedTries {
  std::vector<RecordedTry> all = {RecordedTry()};  ///< first the recording as it is
  size_t shown = 0;
  /// The number of the try with this change, whatever the order of its branches; nothing: there is none yet.
  std::optional<size_t> find(const Intervention& change) const;
};

/// "S.storm#3"
std::string name_of_recording(const SessionOverview& session, int64_t run);
/// Why no choice of the run can be changed, in a sentence; empty: choices can.
QString refusal_of_recording(const RunLine& run);
/// The largest load as a multiple of the even share; 0: there is no load.
double largest_share(const std::vector<int64_t>& load);
/// The row of a try: its change, and below it what it does, a line each.
QString text_of(const RecordedTry& one);
/// "choices.safetensors"
QString file_of(const ReplayFormat& format);
/// The command line that writes the changed choices. `recording`: name_of_recording().
QString command_of_recording(const std::string& recording, const Intervention& change, const ReplayFormat& format);
/// stormcell.config/1 that makes the same change in a run of the model itself.
std::string config_of_recording(const std::string& model, const Intervention& change);

}  // namespace stormcell::studio
