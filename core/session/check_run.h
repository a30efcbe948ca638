// The parts of SessionReader::check(): everything computed while a run was recorded must follow from its records. Each
// throws Error(bad_input) that names the file and the first damage.
#pragma once
#include <map>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/cell/margins.h"
#include "core/profile/pyramid.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

/// A run that is looked at. While it is still being recorded, what its writer replaces as it goes is read, not
/// compared.
struct CheckedRun {
  CheckedRun(const SessionReader& reader, const SessionReader::State& state, const RunSummary& run);

  const SessionReader& reader;
  const SessionReader::State& state;
  const RunSummary summary;
  const RunLayout& layout;
  bool decisions = false, inputs = false;  ///< were recorded
  bool is_running = false;
  bool has_ended = false;        ///< its writer closed the last windows; a killed one did not
  int64_t counted_through = -1;  ///< the last batch in the loads by label and token

  [[noreturn]] void damaged(const std::string& what) const;
  const RouterInfo& router(int32_t router) const { return layout.routers[router]; }
};

/// One batch with its cells.
struct CheckedBatch {
  int64_t number = 0;
  std::vector<BatchSpace> spaces;
  std::map<int64_t, std::string> labels;  ///< by place in the batch; those that have one
  const BatchSpace* find_space(int32_t space) const;
};

/// Checks its cells, items, step events and guards against each other. Empty if the run has no batch of this number.
std::optional<CheckedBatch> check_batch(const CheckedRun& run, int64_t number);
/// A decision speaks of cells that its batch has.
void check_rows_of(const CheckedRun& run, const StoredDecision& decision, int32_t router, const CheckedBatch& batch);
/// Guards of the whole run against those of its batches.
void check_guards(const CheckedRun& run);

/// Checks loads of all windows and of the whole run: against the decisions or, if the run kept none, against its single
/// batches.
class LoadsCheck {
 public:
  explicit LoadsCheck(const CheckedRun& run) : run_(run), routers_(run.layout.routers.size()) {}
  /// Batches in ascending order. `decision` null: none is there.
  void batch(const CheckedBatch& batch, int32_t router, const StoredDecision* decision);
  void finish();
  /// Loads over all batches that came; null: none came.
  const RouterLoads* total(int32_t router) const;

 private:
  struct Router {
    LoadPyramid pyramid;
    std::optional<RouterLoads> total;
    int64_t windows = 0;
  };
  std::optional<RouterLoads> find(int32_t router, int32_t level, int64_t number) const;
  void compare(int32_t router, int32_t level, int64_t number, const RouterLoads& expected);
  void check_total(int32_t router) const;

  const CheckedRun& run_;
  std::vector<Router> routers_;
};

/// Checks loads by label and by token: each stored row must equal the count of the decisions.
class KeyedLoadsCheck {
 public:
  explicit KeyedLoadsCheck(const CheckedRun& run);
  void batch(const CheckedBatch& batch, int32_t router, const StoredDecision& decision);
  /// `loads`: of the run's decisions, or its windows; counts that cannot be repeated are at most these.
  void finish(const LoadsCheck& loads) const;

 private:
  struct Row {
    int64_t cells = 0;
    std::vector<int64_t> load;
  };
  struct Router {
    std::map<std::string, Row> labels;
    std::unordered_map<int32_t, Row> tokens;
  };
  Row* label_row(const CheckedBatch& batch, int32_t router, int64_t sequence);

  const CheckedRun& run_;
  std::vector<Router> routers_;
};

/// Checks loads and margins of the whole run as rows (run_load, run_margin) against its loads and decisions.
class TotalRowsCheck {
 public:
  explicit TotalRowsCheck(const CheckedRun& run) : run_(run) {}
  void batch(const CheckedBatch& batch, int32_t router, const StoredDecision& decision);
  void finish(const LoadsCheck& loads) const;

 private:
  void check_loads(int32_t router, const RouterLoads* total) const;
  void check_margins(int32_t router, const RouterLoads* total) const;

  const CheckedRun& run_;
  std::map<int32_t, MarginBins> margins_;  ///< by router
};

/// Checks transitions along every edge and branches taken together. Windows are compared with the decisions; if the run
/// kept none, with the finer windows that they sum up.
void check_pairs(const CheckedRun& run, const Progress& progress);

/// Checks the rules that hold for single rows, and that each row belongs to an existing one.
void check_tables(const SessionReader::State& state, const Progress& progress);

}  // namespace stormcell
