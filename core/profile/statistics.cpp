#include "core/profile/statistics.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/base/error.h"

namespace stormcell {
namespace {
bool is_real(std::span<const uint8_t> mask, size_t row) { return mask.empty() || mask[row] != 0; }
size_t row_of(const DecisionRecord& d, size_t cell) {
  return d.ancestor.empty() ? cell : static_cast<size_t>(d.ancestor[cell]);
}
}  // namespace

double mutual_information_bits(std::span<const int64_t> table, int64_t rows, int64_t columns) {
  std::vector<double> row(rows), column(columns);
  double all = 0;
  for (size_t r = 0; r < row.size(); ++r)
    for (size_t c = 0; c < column.size(); ++c) {
      const double count = table[r * column.size() + c];
      row[r] += count;
      column[c] += count;
      all += count;
    }
  double bits = 0;
  for (size_t r = 0; r < row.size(); ++r)
    for (size_t c = 0; c < column.size(); ++c) {
      const double count = table[r * column.size() + c];
      if (count > 0) bits += count / all * std::log2(count * all / (row[r] * column[c]));
    }
  return std::max(0.0, bits);
}

int64_t add_loads(const DecisionRecord& d, int32_t fan_out, std::span<const uint8_t> mask, RouterLoads& loads) {
  const int32_t branches = loads.branches();
  const size_t k = fan_out;
  const size_t cells = d.choice.size() / k;
  int64_t real = 0;
  for (size_t c = 0; c < cells; ++c) {
    const bool padding = !is_real(mask, row_of(d, c));
    real += !padding;
    for (size_t i = c * k; i < (c + 1) * k; ++i) {
      const int32_t choice = d.choice[i];
      if (choice == kNoBranch) continue;
      const int32_t branch = branch_of(choice);
      if (branch >= branches)
        failed("recorder", "router " + std::to_string(d.router) + " chose branch " + std::to_string(branch) + " of " +
                               std::to_string(branches));
      const size_t b = branch;
      if (!is_kept(choice)) {
        ++loads.dropped[b];
        continue;
      }
      ++loads.load[b];
      loads.padding[b] += padding;
      if (!d.weight.empty()) loads.weight[b] += d.weight[i];
      if (d.padded.empty()) ++loads.padded[b];
    }
  }
  for (size_t b = 0; b < d.padded.size(); ++b) loads.padded[b] += d.padded[b];
  loads.cells += static_cast<int64_t>(cells);
  ++loads.batches;
  return real;
}

namespace {

/// Calls visit(cell of `from`, cell of `to`) for each real cell that both decisions got.
template <class Visit>
void for_each_common_cell(const DecisionOfRouter& from, const DecisionOfRouter& to, std::span<const uint8_t> mask,
                          std::vector<int32_t>& scratch, Visit visit) {
  const size_t from_cells = from.decision.choice.size() / static_cast<size_t>(from.fan_out),
               to_cells = to.decision.choice.size() / static_cast<size_t>(to.fan_out);
  // If the first decision got only some cells: its cell for each row, -1 for rows that it did not get.
  const bool partial = !from.decision.ancestor.empty();
  if (partial) {
    scratch.clear();
    for (size_t c = 0; c < from_cells; ++c) {
      const size_t row = row_of(from.decision, c);
      if (row >= scratch.size()) scratch.resize(row + 1, -1);
      scratch[row] = static_cast<int32_t>(c);
    }
  }
  for (size_t c = 0; c < to_cells; ++c) {
    const size_t row = row_of(to.decision, c);
    if (!is_real(mask, row)) continue;
    size_t source = row;
    if (partial) {
      if (row >= scratch.size() || scratch[row] < 0) continue;
      source = static_cast<size_t>(scratch[row]);
    } else if (row >= from_cells) {
      continue;
    }
    visit(source, c);
  }
}

void count_together(int32_t a, int32_t b, PairCounter& counts) {
  if (is_kept(a) && is_kept(b)) counts.add(std::min(a, b), std::max(a, b));
}

}  // namespace

void add_transitions(DecisionOfRouter from, DecisionOfRouter to, std::span<const uint8_t> branches,
                     std::span<const uint8_t> mask, std::vector<int32_t>& scratch, PairCounter& counts) {
  const auto from_k = static_cast<size_t>(from.fan_out), to_k = static_cast<size_t>(to.fan_out);
  for_each_common_cell(from, to, mask, scratch, [&](size_t source, size_t c) {
    for (size_t i = 0; i < from_k; ++i) {
      const int32_t a = from.decision.choice[source * from_k + i];
      if (!is_kept(a) || (!branches.empty() && !branches[a])) continue;
      for (size_t j = 0; j < to_k; ++j) {
        const int32_t b = to.decision.choice[c * to_k + j];
        if (is_kept(b)) counts.add(a, b);
      }
    }
  });
}

void add_equal_ranks(DecisionOfRouter from, DecisionOfRouter to, std::span<const uint8_t> mask,
                     std::vector<int32_t>& scratch, PairCounter& counts) {
  const auto from_k = static_cast<size_t>(from.fan_out), to_k = static_cast<size_t>(to.fan_out);
  for_each_common_cell(from, to, mask, scratch, [&](size_t source, size_t c) {
    for (size_t i = 0; i < std::min(from_k, to_k); ++i) {
      const int32_t a = from.decision.choice[source * from_k + i], b = to.decision.choice[c * to_k + i];
      if (is_kept(a) && is_kept(b)) counts.add(a, b);
    }
  });
}

void add_coactivation(DecisionOfRouter d, std::span<const uint8_t> mask, PairCounter& counts) {
  const size_t k = d.fan_out;
  const size_t cells = d.decision.choice.size() / k;
  for (size_t c = 0; c < cells; ++c) {
    if (!is_real(mask, row_of(d.decision, c))) continue;
    const int32_t* choice = d.decision.choice.data() + c * k;
    for (size_t i = 0; i < k; ++i)
      for (size_t j = i + 1; j < k; ++j) count_together(choice[i], choice[j], counts);
  }
}

void add_rank_neighbours(DecisionOfRouter d, std::span<const uint8_t> mask, PairCounter& counts) {
  const size_t k = d.fan_out;
  const size_t cells = d.decision.choice.size() / k;
  for (size_t c = 0; c < cells; ++c) {
    if (!is_real(mask, row_of(d.decision, c))) continue;
    const int32_t* choice = d.decision.choice.data() + c * k;
    for (size_t i = 0; i + 1 < k; ++i) count_together(choice[i], choice[i + 1], counts);
  }
}

int32_t coarsest_level(int64_t batches) {
  int32_t level = 0;
  while (window_count(batches, level) > kMostCoarseWindows) ++level;
  return level;
}

}  // namespace stormcell
