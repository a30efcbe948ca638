// Facts that a session itself has about one run, whatever its summary says: also about runs that were interrupted,
// imported, or are still going on.
#pragma once
#include "core/readings/session_view.h"
#include "core/summary/results.h"

namespace stormcell {

struct RunFacts {
  RunLine line;
  std::string model, family, device;
  bool inputs = false, labels = false;  ///< texts, token ids or pictures, and labels, are recorded
  bool pictures = false;                ///< its data are pictures
  Latency latency_ms;                   ///< times of the recorded batches, recording included; runs 0: no times are
                                        ///< there
  int64_t guard_hits = 0, guard_misses = 0;
  std::vector<RoutingLoads::Row> routers;
  bool random_tokens = false;          ///< it looks like random tokens: such recordings overstate skew
  int64_t cells = 0;                   ///< cells of the router that most came to, padding left out
  std::vector<int64_t> cells_by_exit;  ///< the end is an exit too; empty: the model has none
  int64_t newest_result = 0;           ///< the newest run of this session that was measured and not imported; 0: none
};
/// `run` 0: the newest. Reads one row a batch where the run has no summary, else a few rows altogether.
std::shared_ptr<const RunFacts> read_run_facts(const std::string& file, int64_t run, const Progress& progress = {});

}  // namespace stormcell
