// Parts of a run that a person may narrow views to: a phase, a label.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/readings/session_view.h"

namespace stormcell {

/// The choices for a selection. Reads one row a label.
struct SelectionChoices {
  int64_t run = 0, batches = 0;     ///< run 0: nothing was read
  std::vector<RouterLine> routers;  ///< in the order in which cells meet them
  std::vector<std::string> phases;  ///< "forward", "prefill", "decode": those that have cells
  std::vector<std::string> labels;  ///< in alphabetical order
};
SelectionChoices read_selection_choices(const std::string& file, int64_t run);

/// The windows of read_load_windows() for the batches of one phase. A batch has a phase for each cell space, so each
/// router has batches of its own. Reads the loads of every batch of the phase if the run has several.
std::shared_ptr<const LoadWindows> read_phase_windows(const std::string& file, int64_t run, const std::string& phase,
                                                      BatchRange range, int64_t most_windows,
                                                      const Progress& progress = {});

/// Loads of the sequences with one label: one window over the whole run, padding left out. Drops and weights are not
/// kept by label, so these are empty.
std::shared_ptr<const LoadWindows> read_label_window(const std::string& file, int64_t run, const std::string& label,
                                                     const Progress& progress = {});

/// The first sequence from `from` on that has the label; -1: none.
int64_t find_sequence(const std::string& file, int64_t run, const std::string& label, int64_t from,
                      const Progress& progress = {});

class SessionReader;
/// Those of these batches that are of a phase, by cell space. Only for the implementation of views.
std::vector<std::vector<BatchRange>> batches_of_phase(const SessionReader& reader, int64_t run,
                                                      const std::string& phase, BatchRange batches,
                                                      const Progress& progress);

}  // namespace stormcell
