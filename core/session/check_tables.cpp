// Rules for single rows, one query each: it gives the first row that breaks the rule, in words.
#include <array>

#include "core/session/check_run.h"

namespace stormcell {
namespace {

using sqlite::Statement;

/// Tables whose rows belong to a row of another: `lost` is true of one that does not.
struct Owned {
  const char *table, *lost;
};
constexpr const char *kNoRun = "run IS NULL OR run NOT IN (SELECT id FROM run)",
                     *kNoBatch = "NOT EXISTS(SELECT 1 FROM batch b WHERE b.id = batch)",
                     *kNoRouter = "router IS NULL OR router NOT IN (SELECT id FROM router)";
constexpr Owned kOwned[] = {
    {"space", kNoRun},
    {"router", kNoRun},
    {"edge", kNoRun},
    {"annotation", kNoRun},
    {"step", kNoRun},
    {"batch", kNoRun},
    {"sequence", kNoRun},
    {"picture", kNoRun},
    {"guard", kNoRun},
    {"placement", kNoRun},
    {"batch_item",
     "NOT EXISTS(SELECT 1 FROM batch b WHERE b.id = batch_item.run * 4294967296 + batch_item.batch AND b.items IS NOT "
     "NULL)"},
    {"batch_space", kNoBatch},
    {"event", kNoBatch},
    {"guard_miss", kNoBatch},
    {"decision",
     "NOT EXISTS(SELECT 1 FROM batch b WHERE b.id = decision.id / 4096) OR NOT EXISTS(SELECT 1 FROM router r WHERE "
     "r.id = "
     "decision.id / 17592186044416 * 4096 + decision.id % 4096)"},
    {"load_window", kNoRouter},
    {"pair_window",
     "router NOT IN (SELECT id FROM router) OR next NOT IN (SELECT id FROM router) OR kind NOT IN (0, 1) OR (kind = 1 "
     "AND next <> router) "
     "OR "
     "(kind = 0 AND NOT EXISTS(SELECT 1 FROM edge e WHERE e.run = pair_window.router / 4096 AND e.router = "
     "pair_window.router % 4096 AND "
     "e.next = pair_window.next % 4096))"},
    {"label_load", kNoRouter},
    {"token_load", kNoRouter},
    {"run_load", kNoRouter},
    {"run_margin", kNoRouter},
};

/// Queries whose rows describe faults.
constexpr const char* kRules[] = {
    "SELECT 'its ' || k || ' is missing' FROM (SELECT 'id' AS k UNION SELECT 'created' UNION SELECT 'program') "
    "WHERE k NOT IN (SELECT key FROM meta WHERE value <> '')",
    "SELECT 'the model''s facts are not JSON' FROM model WHERE NOT json_valid(json)",
    "SELECT 'run #' || id || ' is of a model that is not there' FROM run WHERE model NOT IN (SELECT id FROM model)",
    "SELECT 'run #' || id || ' has the state ' || quote(status) FROM run WHERE status NOT IN ('running', 'finished', "
    "'interrupted', "
    "'failed')",
    "SELECT 'config, machine or dataset of run #' || id || ' is not JSON' FROM run "
    "WHERE NOT json_valid(config) OR NOT json_valid(machine) OR NOT json_valid(dataset)",
    "SELECT 'the summary of run #' || id || ' is not JSON' FROM run WHERE summary <> '' AND NOT json_valid(summary)",
    "SELECT 'run #' || run || ' lacks a cell space' FROM space GROUP BY run HAVING min(ordinal) <> 0 OR max(ordinal) "
    "<> count(*) - 1",
    "SELECT 'run #' || run || ' lacks a router' FROM router GROUP BY run HAVING min(ordinal) <> 0 OR max(ordinal) <> "
    "count(*) - 1",
    "SELECT 'run #' || run || ' lacks a step' FROM step GROUP BY run HAVING min(ordinal) <> 0 OR max(ordinal) <> "
    "count(*) - 1",
    "SELECT 'router ' || ordinal || ' of run #' || run || ' is stored under the number of another' FROM router WHERE "
    "id <> "
    "run * 4096 + ordinal",
    "SELECT 'router ' || ordinal || ' of run #' || run || ' is in a branch that its parent does not have' FROM router "
    "WHERE "
    "ifnull(parent_branch, -1) < -1 OR ifnull(parent_branch, -1) >= ifnull((SELECT p.branches FROM router p WHERE p.id "
    "= router.run * 4096 "
    "+ router.parent), 0)",
    "SELECT 'step ' || ordinal || ' of run #' || run || ' is of a router that is not there' FROM step WHERE router < "
    "-1 OR branch < -1 OR "
    "router >= (SELECT count(*) FROM router r WHERE r.run = step.run)",
    "SELECT 'step ' || ordinal || ' of run #' || run || ' has a negative cost' FROM step WHERE NOT (flops >= 0 AND "
    "bytes >= 0)",
    "SELECT 'a note on step ' || step || ' of run #' || run || ' is not JSON' FROM annotation WHERE NOT "
    "json_valid(value)",
    "SELECT 'batch ' || number || ' of run #' || run || ' is stored under the number of another' FROM batch WHERE id "
    "<> run * "
    "4294967296 + number",
    "SELECT 'batch ' || number || ' of run #' || run || ' took ' || latency_ms || ' ms' FROM batch "
    "WHERE typeof(latency_ms) NOT IN ('real', 'integer') OR latency_ms < 0 OR latency_ms > 1e300",
    "SELECT 'batch ' || number || ' of run #' || run || ' is part ' || part || ' of an optimisation' FROM batch WHERE "
    "part NOT BETWEEN 0 "
    "AND 3",
    "SELECT 'batch ' || number || ' of run #' || run || ' lists its items and begins with sequence ' || first_sequence "
    "FROM batch "
    "WHERE items IS NOT NULL AND first_sequence <> -1",
    "SELECT 'the cells of a batch are stored under the number of another' FROM batch_space WHERE id <> batch * 64 + "
    "space",
    "SELECT 'the cells of batch ' || (batch % 4294967296) || ' are of phase ' || phase FROM batch_space WHERE phase "
    "NOT BETWEEN 0 AND 2",
    "SELECT 'an input of run #' || run || ' has the number ' || number FROM sequence WHERE number < 0",
    "SELECT 'the picture of item ' || item || ' of run #' || run || ' is not of its size' FROM picture WHERE item < 0 "
    "OR height NOT "
    "BETWEEN 1 "
    "AND 96 OR width NOT BETWEEN 1 AND 96 OR channels NOT IN (1, 3) OR typeof(pixels) <> 'blob' OR length(pixels) <> "
    "height * width * "
    "channels",
    "SELECT 'placement #' || id || ' has the number of a run' FROM placement WHERE id < 1 OR id IN (SELECT id FROM "
    "run)",
    "SELECT 'placement #' || id || ' is not JSON' FROM placement WHERE NOT json_valid(layout) OR NOT "
    "json_valid(summary)",
    "SELECT 'the piece of token ' || token || ' is not text' FROM piece WHERE token < 0 OR typeof(text) <> 'text'",
};

}  // namespace

void check_tables(const SessionReader::State& s, const Progress& progress) {
  constexpr int64_t kAll = std::size(kOwned) + std::size(kRules);
  int64_t done = 0;
  for (const Owned& owned : kOwned) {
    progress.report("checking tables", done++, kAll);
    const std::string table = owned.table;
    Statement find(s.db, ("SELECT 1 FROM " + table + " WHERE " + owned.lost + " LIMIT 1").c_str());
    if (find.step()) s.damaged("table " + table + " has a row of something that does not exist");
  }
  for (const char* rule : kRules) {
    progress.report("checking tables", done++, kAll);
    Statement find(s.db, (std::string(rule) + " LIMIT 1").c_str());
    if (find.step()) s.damaged(std::string(find.null(0) ? "a row has no value where it needs one" : find.text(0)));
  }
}

}  // namespace stormcell
