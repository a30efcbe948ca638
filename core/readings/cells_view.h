// The input cell by cell, as plain values for views: what was fed in, and which branches each cell got. Read page by
// page.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cell/cell_space.h"
#include "core/cell/thumbnail.h"
#include "core/readings/session_view.h"

namespace stormcell {

/// The data that a run keeps of its cells. Reads kilobytes, whatever the run's size; for a range of batches one row
/// each.
struct CellsOverview {
  int64_t run = 0;
  int64_t sequences = 0;                         ///< sequences of the whole run
  int64_t first_sequence = 0, end_sequence = 0;  ///< range of the batches that were asked for
  bool scattered = false;  ///< the range holds sequences from anywhere: first and end are those of the whole run
  std::vector<RouterLine> routers;  ///< in the order in which cells meet them
  bool decisions = false;           ///< every decision is stored
  bool tokens = false, texts = false, labels = false, pieces = false, margins = false;
  bool weights = false;
  int64_t thumbnails = 0;         ///< number of sequences with a kept picture
  std::vector<int64_t> pictured;  ///< these sequences, ascending
  /// Phases that cells have, by space, as kPhaseNames; from the first batches, where a decoding run begins with its
  /// prompts.
  std::map<std::string, std::set<std::string>> phases;
  bool has_phase(const std::string& space, const std::string& phase) const {
    const auto at = phases.find(space);
    return at != phases.end() && at->second.contains(phase);
  }
};
/// Batches [first, end); end < 0: to the run's end. `run` 0: the newest.
std::shared_ptr<const CellsOverview> read_cells_overview(const std::string& file, int64_t run, int64_t first_batch = 0,
                                                         int64_t end_batch = -1);

/// The cells of one sequence in one cell space, in order of their places.
struct CellLine {
  int64_t sequence = 0;
  std::string label, text;
  Thumbnail picture;              ///< empty: none is kept
  int64_t cells = 0;              ///< cells of the sequence; more than are listed if it is long
  int32_t columns = 0;            ///< > 0: position p lies in row p / columns of a grid; 0: in a sequence
  std::vector<int32_t> position;  ///< [listed]
  std::vector<int32_t> token;     ///< [listed], or empty where no inputs were recorded, or cells are no tokens
  std::vector<uint8_t> real;      ///< [listed] 0: padding
  /// [listed] 0: no router got it, as padding that a plan leaves out; 1 where no decision is stored
  std::vector<uint8_t> seen;
  std::vector<uint8_t> phase;  ///< [listed] index into kPhaseNames
  struct Routed {
    /// [listed, fan_out] a branch, ~branch where its capacity dropped the cell, or kNoChoice
    std::vector<int32_t> choice;
    std::vector<float> weight;  ///< [listed, fan_out] or empty
    std::vector<float> margin;  ///< [listed] or empty
  };
  std::vector<Routed> routed;  ///< by CellPage::routers
};
inline constexpr int32_t kNoChoice = INT32_MIN;

/// Consecutive sequences.
struct CellPage {
  int64_t run = 0, first_sequence = 0;
  std::string space;
  std::vector<RouterLine> routers;  ///< those of this space, in the order in which cells meet them
  std::vector<CellLine> lines;      ///< lines of first_sequence, first_sequence + 1, ...
  std::map<int32_t, std::string> pieces;
  int64_t end_sequence() const { return first_sequence + std::ssize(lines); }
};
/// Asks for at most `count` sequences, fewer if they would hold more than `most_choices` choices of routers; at least
/// one. A sequence's cells beyond `most_cells` are counted, not listed.
struct CellPageRequest {
  std::string space;
  int64_t first_sequence = 0, count = 1;
  int64_t most_cells = 16384, most_choices = 4'000'000;
};
std::shared_ptr<const CellPage> read_cell_page(const std::string& file, int64_t run, const CellPageRequest& request,
                                               const Progress& progress = {});

/// The tokens that a branch got over the whole run, against their share of everything.
struct BranchDictionary {
  std::string router;
  int32_t branch = 0;
  int64_t cells = 0, all = 0;  ///< real cells that the branch got, and all branches of the router together
  bool complete = false;       ///< every token of the run is in it
  struct Entry {
    int32_t token = 0;
    std::string piece;
    int64_t count = 0, everywhere = 0;  ///< cells with this token: of the branch, of all branches
    double lift = 0;                    ///< (count / cells) / (everywhere / all)
  };
  std::vector<Entry> entries;  ///< most cells first
};
std::shared_ptr<const BranchDictionary> read_branch_dictionary(const std::string& file, int64_t run,
                                                               const std::string& router, int32_t branch,
                                                               const Progress& progress = {});

}  // namespace stormcell
