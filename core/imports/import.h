// Routing traces of other systems into a session: a run a file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/imports/import_options.h"
#include "core/imports/traced_shape.h"
#include "core/traces/traced_exits.h"

namespace stormcell {

struct ImportFormat {
  std::string_view id, summary;
  std::string_view suffix;  ///< usual end of such files' names
};
/// The visible list.
std::vector<ImportFormat> import_formats();

/// The result for one session; a session holds one model.
struct ImportedSession {
  std::string session;
  TracedShape model;                ///< set if anything was read
  std::vector<int64_t> runs;        ///< numbers of the runs, in the order of the files
  std::vector<int64_t> runs_known;  ///< of each file that the session had already, the run that holds it
};

struct ImportFigures {
  std::string format;     ///< of all files, or "mixed"
  int64_t rows_read = 0;  ///< a row is one choice of one cell at one router; for counts, that of one branch in one step
  int64_t choices = 0;    ///< choices of all cells at all routers; for counts their sum, as the loads of analyze
  int64_t rows_skipped = 0;  ///< of layers without branches
  int64_t rows_masked = 0;   ///< rows that name no branch
  int64_t rows_shared = 0;   ///< of fused shared experts, left out: every cell goes there
  int64_t empty_lines = 0;   ///< empty lines in texts, which are left out
  TracedShape model;
  /// "complete", or the recorders' omissions in words; empty: a trace does not say
  std::string recorded;
  std::vector<TracedExits> exits;  ///< of each trace of a network with exits
  std::vector<std::string> lacks;  ///< contents that the traces do not have
  /// for each of them, the option of the recorder or of the import that adds it; empty: not known
  std::vector<std::string> lacks_how;
  std::string session;                    ///< the session that -o names; model, runs and runs_known belong to it
  std::vector<int64_t> runs;              ///< numbers of the runs in that session, in the order of the files
  std::vector<int64_t> runs_known;        ///< of each file that the session had already, the run that holds it
  int64_t files_known = 0;                ///< number over all sessions
  std::vector<ImportedSession> sessions;  ///< one for each model
  double seconds = 0;
  std::vector<std::string> warnings;
};

/// Files of several models go into one session for each model: S.storm, S-2.storm and so on. If one of these names
/// holds the model already, it is used. Bad input leaves the session unchanged, and creates none. Interrupted, it keeps
/// the batches that were read and marks the run so.
ImportFigures import_traces(const ImportOptions& options, const Progress& progress = {});
/// stormcell.import/1
std::string to_json(const ImportFigures& figures);

}  // namespace stormcell
