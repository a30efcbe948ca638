// Which cells a recording has: requests, positions, token ids. What two recordings are matched by.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/traces/trace.h"

namespace stormcell {

/// Consecutive positions of one request.
struct CellRun {
  int32_t position = 0, count = 0;
  int64_t cell = 0;  ///< number of the first one in its stack, in the order of the recording
  int32_t end() const { return position + count; }
};

struct RequestCells {
  std::vector<CellRun> runs;     ///< real cells, ascending by position
  std::vector<CellRun> padding;  ///< cells that the recording marks as padding
  int64_t cells() const;
  int32_t end() const { return runs.empty() ? 0 : runs.back().end(); }
  int32_t begin() const { return runs.empty() ? 0 : runs.front().position; }
};

/// Number of the cell at a position; -1: there is none.
int64_t find_cell(const std::vector<CellRun>& runs, int32_t position);

/// Parts that the decisions of a router hold beside choices.
struct RouterParts {
  bool weights = false, scores = false, margins = false;
  int32_t score_columns = 0;
};

class CellIndex : public TraceSink {
 public:
  struct Stack {
    std::map<int64_t, RequestCells> requests;
    int64_t cells = 0;            ///< padding included
    std::vector<int32_t> tokens;  ///< [cells] -1: not known; empty: none is
    int64_t real_cells() const;
  };

  void begin(const TraceHeader& header) override;
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override;
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}
  /// Call it after the last batch: sorts, and drops cells that came twice.
  void finish();

  const TraceHeader& header() const { return header_; }
  const std::vector<Stack>& stacks() const { return stacks_; }
  const std::vector<RouterParts>& parts() const { return parts_; }
  bool lacks(std::string_view fact) const;
  int64_t repeated() const { return repeated_; }  ///< cells that came again, of which the first counts
  int32_t token(int32_t stack, int64_t cell) const;
  /// Number of a real cell in its stack; -1: there is none.
  int64_t find(int32_t stack, int64_t request, int32_t position) const;

 private:
  void add_table(const TraceCells& table);
  TraceHeader header_;
  std::vector<Stack> stacks_;
  std::vector<RouterParts> parts_;
  int64_t repeated_ = 0;
};

}  // namespace stormcell
