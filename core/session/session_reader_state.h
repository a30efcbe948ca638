// State that the sources of SessionReader share: the open file, the layouts read from it, and checks that stop damaged
// numbers.
#pragma once
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/profile/accumulator.h"
#include "core/session/session_reader.h"
#include "core/session/sqlite.h"

namespace stormcell {

/// Limit of stored branches, so that one damaged or hostile row cannot ask for all memory.
inline constexpr int32_t kMostStoredBranches =
    1 << 22;  ///< more than this engine's routers have, because traces of other systems are stored too

/// The number of a run or of a placement, if the selector is one.
std::optional<int64_t> whole_number(std::string_view text);

struct SessionReader::State {
  mutable sqlite::Database db;
  std::string path;
  SessionSummary summary;
  mutable std::map<int64_t, RunLayout> layouts;

  const RunLayout& layout(int64_t run) const;  ///< read once, then kept
  const RouterInfo& router(int64_t run, int32_t router) const;
  /// One past the last batch of a run.
  int64_t batches(int64_t run) const;
  int64_t file_bytes() const { return db.number("PRAGMA page_count") * db.number("PRAGMA page_size"); }

  RunSummary run_of(const sqlite::Statement& row) const;
  std::optional<RouterLoads> window(sqlite::Statement& find, int64_t run, int32_t router, int32_t level, int64_t number,
                                    int64_t batches) const;
  PairTable pairs(PairKind kind, int64_t run, int32_t router, int32_t to, BatchRange of) const;
  /// `branches`: flags of those whose pairs count; empty: all.
  void count_pairs(PairKind kind, int64_t run, int32_t router, int32_t to, std::span<const uint8_t> branches,
                   int64_t batch, std::vector<int32_t>& scratch, PairCounter& counter) const;
  /// The items of a batch if they are listed, else null.
  std::shared_ptr<const std::vector<int64_t>> items(int64_t run, int64_t batch) const;

  [[noreturn]] void damaged(const std::string& what) const;
  int64_t count_of(const sqlite::Statement& row, int column) const;
  void check_count(int64_t count) const;
  void check_counts(const std::vector<int64_t>& counts) const;
  void check_loads(const std::vector<int64_t>& loads, int64_t run, int32_t router) const;
  /// Adds and looks at every sum, so that the next one cannot overflow.
  void add(const RouterLoads& part, RouterLoads& sum) const;
  void add(const PairTable& part, PairTable& sum) const;
};

}  // namespace stormcell
