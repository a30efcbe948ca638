#include "core/difference/difference_counter.h"

#include <algorithm>
#include <cmath>

#include "core/cell/decision.h"
#include "core/difference/named_cells.h"

namespace stormcell {
namespace {

constexpr double kNormal = 1.959964;  // two-sided 95 %

/// Wilson 1927. of > 0.
std::array<double, 2> wilson(double hits, double of) {
  const double p = hits / of, z2 = kNormal * kNormal / of;
  const double centre = (p + z2 / 2) / (1 + z2),
               half = kNormal / (1 + z2) * std::sqrt(p * (1 - p) / of + z2 / (4 * of));
  return {hits == 0 ? 0.0 : std::max(0.0, centre - half), hits == of ? 1.0 : std::min(1.0, centre + half)};
}

int32_t stack_end(const CellIndex& index) {
  int32_t end = 1;
  for (const CellIndex::Stack& stack : index.stacks())
    for (const auto& [request, cells] : stack.requests) end = std::max(end, cells.end());
  return end;
}

}  // namespace

PositionGroups::PositionGroups(int32_t end) {
  while ((end - 1) / width >= kMost) width *= 2;
  groups = (end - 1) / width + 1;
}

DifferenceCounter::DifferenceCounter(const CounterInput& input)
    : in_(input),
      groups_(stack_end(*input.b)),
      pair_of_b_(input.b->header().routers.size(), -1),
      stack_of_b_(input.b->header().stacks.size(), -1),
      layers_(input.routers->pairs.size()),
      sample_(input.b->header(), input.b->parts()),
      sampled_(input.b->header().stacks.size()) {
  const std::vector<RouterPair>& pairs = input.routers->pairs;
  for (int32_t p = 0; p < std::ssize(pairs); ++p) {
    const TraceRouter &a = input.a->header().routers[pairs[p].a], &b = input.b->header().routers[pairs[p].b];
    pair_of_b_[pairs[p].b] = p;
    if (stack_of_b_[b.stack] < 0) stack_of_b_[b.stack] = a.stack;
    const int32_t branches = std::max(a.branches, b.branches);
    layers_[p].gained.assign(branches, 0), layers_[p].lost.assign(branches, 0);
    layers_[p].cells_at.assign(groups_.groups, 0), layers_[p].differing_at.assign(groups_.groups, 0);
  }
  for (const RequestPair& pair : input.requests->pairs) {
    request_of_b_.emplace(pair.b, static_cast<int32_t>(sequences_.size()));
    sequences_.push_back({pair.a});
  }
  constexpr size_t kMostCounts = size_t{1} << 23;  // 64 MiB; beyond, intervals take cells for independent
  if (sequences_.size() * pairs.size() <= kMostCounts)
    met_.assign(sequences_.size() * pairs.size(), 0), differs_ = met_;
}

void DifferenceCounter::batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) {
  order_.clear();
  for (size_t d = 0; d < decisions.size(); ++d)
    if (const int32_t pair = pair_of_b_[decisions[d].router]; pair >= 0) order_.emplace_back(pair, d);
  std::sort(order_.begin(), order_.end());
  for (const TraceCells& table : cells) {
    if (stack_of_b_[table.stack] < 0) continue;
    place_rows(table);
    for (const auto& [pair, d] : order_)
      if (in_.b->header().routers[decisions[d].router].stack == table.stack) count(table, decisions[d], pair);
    for (const Row& row : rows_) {
      cells_ += row.cell_a >= 0;
      differing_cells_ += row.first >= 0;
    }
  }
}

void DifferenceCounter::place_rows(const TraceCells& table) {
  const int64_t per = table.cells.per_sequence;
  rows_.assign(table.cells.cells(), {});
  const auto& requests = in_.a->stacks()[stack_of_b_[table.stack]].requests;
  auto at = request_of_b_.end();
  auto in_a = requests.end();
  for (int64_t s = 0; s < table.cells.sequences; ++s) {
    if (s == 0 || table.cells.sequence(s) != table.cells.sequence(s - 1)) {
      at = request_of_b_.find(table.cells.sequence(s));
      if (at != request_of_b_.end()) in_a = requests.find(sequences_[at->second].request);
    }
    if (at == request_of_b_.end() || in_a == requests.end()) continue;
    const int64_t request = in_a->first;
    for (int64_t i = s * per; i < (s + 1) * per; ++i) {
      if (!table.mask.empty() && table.mask[i] == 0) continue;
      Row& row = rows_[i];
      row.request = at->second, row.position = table.cells.position(i);
      row.cell_a = find_cell(in_a->second.runs, row.position);
      if (row.cell_a < 0 || !in_.sample.holds(request, row.position)) continue;
      row.sampled = sample_.add(table.stack, 1);
      sample_.keep_details(table.stack, row.sampled, in_.score_sample.holds(request, row.position));
      sampled_[table.stack].push_back(
          {request, row.position, table.cells.phase == Phase::decode, row.cell_a, row.sampled});
    }
  }
}

void DifferenceCounter::count(const TraceCells& table, const DecisionRecord& d, int32_t pair) {
  const TraceRouter& router = in_.b->header().routers[d.router];
  const bool has_margins = in_.b->parts()[d.router].margins || in_.b->parts()[d.router].scores;
  const int64_t k = router.fan_out;
  for (int64_t i = 0; i < std::ssize(d.choice) / k; ++i) {
    const int64_t at = row_of_cell(d, i);
    if (at >= std::ssize(rows_) || rows_[at].cell_a < 0) continue;
    Row& row = rows_[at];
    if (row.sampled >= 0) keep(row, d, i);
    const float margin = has_margins ? margin_of_cell(d, i, router.branches, router.fan_out)
                                     : in_.choices->margin(in_.routers->pairs[pair].a, row.cell_a);
    const size_t listed = listed_.size();
    compare(row, pair, d.choice.subspan(i * k, k), margin);
    if (listed_.size() > listed) add_scores(d, i, router.branches, listed_.back());
  }
  (void)table;
}

void DifferenceCounter::add_scores(const DecisionRecord& d, int64_t i, int32_t branches, ListedCell& cell) {
  DiffSample both;
  both.a = cell.a, both.b = cell.b;
  cell.scores = scores_of(d, i, branches, both.either());
}

void DifferenceCounter::compare(Row& row, int32_t pair, std::span<const int32_t> choice, float margin) {
  LayerCounts& layer = layers_[pair];
  in_.choices->ids(in_.routers->pairs[pair].a, row.cell_a, ids_);
  other_.clear();
  for (const int32_t c : choice)
    if (const int32_t branch = branch_of(c); branch >= 0) other_.push_back(branch);
  if (ids_.empty() || other_.empty()) {
    layer.met_once += ids_.empty() != other_.empty();
    return;
  }
  ++layer.cells;
  const int32_t group = std::min(groups_.group(row.position), groups_.groups - 1);
  ++layer.cells_at[group];
  layer.margins.add(static_cast<double>(margin));
  const size_t of_request = static_cast<size_t>(row.request) * layers_.size() + static_cast<size_t>(pair);
  if (!met_.empty()) ++met_[of_request];
  if (ids_ == other_) {
    layer.common += 1;
    return;
  }
  int64_t common = 0;
  for (const int32_t b : other_) {
    const bool both = std::find(ids_.begin(), ids_.end(), b) != ids_.end();
    common += both;
    if (!both) ++layer.gained[b];
  }
  for (const int32_t b : ids_)
    if (std::find(other_.begin(), other_.end(), b) == other_.end()) ++layer.lost[b];
  layer.common += static_cast<double>(common) / static_cast<double>(std::max(ids_.size(), other_.size()));
  if (common == std::ssize(ids_) && common == std::ssize(other_)) {
    ++layer.reordered;
    return;
  }
  ++layer.differing;
  ++layer.differing_at[group];
  if (layer.differing_at[group] <= in_.listed_each && std::ssize(listed_) < kMostListed)
    listed_.push_back(
        {pair, group, sequences_[row.request].request, row.position, row.first >= 0, margin, ids_, other_, {}});
  if (!differs_.empty()) ++differs_[of_request];
  if (row.first >= 0) {
    ++consequences_;
    return;
  }
  row.first = pair;
  ++origins_;
  ++layer.first_here;
  layer.margins_first.add(static_cast<double>(margin));
  FirstDifference& first = sequences_[row.request];
  if (first.position < 0 || row.position < first.position || (row.position == first.position && pair < first.pair))
    first.position = row.position, first.pair = pair;
}

void DifferenceCounter::keep(const Row& row, const DecisionRecord& d, int64_t i) {
  const TraceRouter& router = in_.b->header().routers[d.router];
  const auto k = static_cast<size_t>(router.fan_out);
  const auto columns = static_cast<size_t>(d.score_columns > 0 ? d.score_columns : router.branches);
  const auto at = static_cast<size_t>(i);
  sample_.set(d.router, row.sampled, d.choice.subspan(at * k, k));
  sample_.set_details(d.router, row.sampled, d.weight.empty() ? d.weight : d.weight.subspan(at * k, k),
                      d.scores.empty() ? d.scores : d.scores.subspan(at * columns, columns));
}

void DifferenceCounter::finish() {
  for (size_t p = 0; p < layers_.size(); ++p) {
    LayerCounts& layer = layers_[p];
    if (layer.cells == 0) continue;
    const double n = static_cast<double>(layer.cells), share = static_cast<double>(layer.differing) / n;
    layer.ci95 = wilson(static_cast<double>(layer.differing), n);
    // Cells of one request are alike: their spread between requests counts where it is the larger one.
    double squares = 0;
    int64_t requests = 0;
    for (size_t r = 0; r < sequences_.size() && !met_.empty(); ++r) {
      const double met = met_[r * layers_.size() + p], differs = differs_[r * layers_.size() + p];
      if (met == 0) continue;
      ++requests;
      squares += (differs - share * met) * (differs - share * met);
    }
    if (requests >= 2) {
      const double r = static_cast<double>(requests), half = kNormal * std::sqrt(squares * r / (r - 1)) / n;
      layer.ci95 = {std::max(0.0, std::min(layer.ci95[0], share - half)),
                    std::min(1.0, std::max(layer.ci95[1], share + half))};
    }
    if (layer.margins_first.total() == layer.first_here && layer.margins.total() > 0)
      layer.near_ties = layer.margins_first.up_to(kNearTiePart * layer.margins.quantile(.5));
  }
}

}  // namespace stormcell
