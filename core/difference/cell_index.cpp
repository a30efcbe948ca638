#include "core/difference/cell_index.h"

#include <algorithm>

namespace stormcell {
namespace {

constexpr int32_t kTokenUnknown = -1;

void add_cell(std::vector<CellRun>& runs, int32_t position, int64_t cell) {
  if (!runs.empty() && runs.back().end() == position && runs.back().cell + runs.back().count == cell)
    ++runs.back().count;
  else
    runs.push_back({position, 1, cell});
}

/// Sorts by position; of cells at one position the first of the recording stays. Returns how many others there were.
int64_t sort_runs(std::vector<CellRun>& runs) {
  std::stable_sort(runs.begin(), runs.end(), [](const CellRun& x, const CellRun& y) {
    return x.position != y.position ? x.position < y.position : x.cell < y.cell;
  });
  int64_t dropped = 0;
  std::vector<CellRun> kept;
  for (CellRun run : runs) {
    if (!kept.empty() && run.position < kept.back().end()) {
      const int32_t twice = std::min(run.end(), kept.back().end()) - run.position;
      dropped += twice;
      run.position += twice, run.count -= twice, run.cell += twice;
    }
    if (run.count > 0) kept.push_back(run);
  }
  kept.shrink_to_fit();
  runs = std::move(kept);
  return dropped;
}

}  // namespace

int64_t RequestCells::cells() const {
  int64_t sum = 0;
  for (const CellRun& run : runs) sum += run.count;
  return sum;
}

int64_t CellIndex::Stack::real_cells() const {
  int64_t sum = 0;
  for (const auto& [request, cells] : requests) sum += cells.cells();
  return sum;
}

int64_t find_cell(const std::vector<CellRun>& runs, int32_t position) {
  auto after = std::upper_bound(runs.begin(), runs.end(), position,
                                [](int32_t p, const CellRun& run) { return p < run.position; });
  if (after == runs.begin()) return -1;
  const CellRun& run = *--after;
  return position < run.end() ? run.cell + (position - run.position) : -1;
}

void CellIndex::begin(const TraceHeader& header) {
  header_ = header;
  stacks_.assign(header.stacks.size(), {});
  parts_.assign(header.routers.size(), {});
}

void CellIndex::batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) {
  for (const TraceCells& table : cells) add_table(table);
  for (const DecisionRecord& d : decisions) {
    RouterParts& parts = parts_[d.router];
    parts.weights |= !d.weight.empty();
    parts.margins |= !d.margin.empty();
    if (d.scores.empty()) continue;
    parts.scores = true;
    parts.score_columns = d.score_columns > 0 ? d.score_columns : header_.routers[d.router].branches;
  }
}

void CellIndex::add_table(const TraceCells& table) {
  Stack& stack = stacks_[table.stack];
  const int64_t cells = table.cells.cells(), per = table.cells.per_sequence;
  for (int64_t s = 0; s < table.cells.sequences; ++s) {
    RequestCells& request = stack.requests[table.cells.sequence(s)];
    const int32_t start = table.cells.start(s);
    for (int64_t i = 0; i < per; ++i) {
      const int64_t row = s * per + i;
      const bool real = table.mask.empty() || table.mask[row] != 0;
      add_cell(real ? request.runs : request.padding, start + static_cast<int32_t>(i), stack.cells + row);
    }
  }
  if (!table.tokens.empty()) {
    stack.tokens.resize(stack.cells, kTokenUnknown);
    stack.tokens.insert(stack.tokens.end(), table.tokens.begin(), table.tokens.end());
  }
  stack.cells += cells;
}

void CellIndex::finish() {
  repeated_ = 0;
  for (Stack& stack : stacks_) {
    for (auto& [request, cells] : stack.requests) repeated_ += sort_runs(cells.runs), sort_runs(cells.padding);
    if (!stack.tokens.empty()) stack.tokens.resize(stack.cells, kTokenUnknown);
  }
}

bool CellIndex::lacks(std::string_view fact) const {
  return std::find(header_.lacks.begin(), header_.lacks.end(), fact) != header_.lacks.end();
}

int32_t CellIndex::token(int32_t stack, int64_t cell) const {
  const std::vector<int32_t>& tokens = stacks_[stack].tokens;
  return tokens.empty() ? kTokenUnknown : tokens[cell];
}

int64_t CellIndex::find(int32_t stack, int64_t request, int32_t position) const {
  const auto& requests = stacks_[stack].requests;
  const auto at = requests.find(request);
  return at == requests.end() ? -1 : find_cell(at->second.runs, position);
}

}  // namespace stormcell
