#include "core/profile/loads.h"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace stormcell {
namespace {

/// Adds each list by itself: in one loop over five lists, too many might overlap for the compiler to use vectors.
template <class T>
void add_each(const std::vector<T>& more, std::vector<T>& sum) {
  for (size_t i = 0; i < sum.size(); ++i) sum[i] += more[i];
}

int64_t sum_of(const std::vector<int64_t>& counts) { return std::accumulate(counts.begin(), counts.end(), int64_t{0}); }

}  // namespace

RouterLoads::RouterLoads(int32_t branches) {
  const size_t n = branches;
  for (auto* counts : {&load, &padding, &dropped, &padded}) counts->assign(n, 0);
  weight.assign(n, 0);
}

std::vector<int64_t> RouterLoads::real() const {
  std::vector<int64_t> cells = load;
  for (size_t b = 0; b < cells.size(); ++b) cells[b] -= padding[b];
  return cells;
}

int64_t RouterLoads::cells_without_padding(int32_t fan_out) const {
  const int64_t padded_cells = sum_of(padding);
  if (padded_cells <= 0) return cells;
  return std::min(cells, (sum_of(load) - padded_cells + sum_of(dropped)) / std::max(1, fan_out));
}

void RouterLoads::add(const RouterLoads& other) {
  batches += other.batches;
  cells += other.cells;
  add_each(other.load, load), add_each(other.padding, padding), add_each(other.dropped, dropped),
      add_each(other.padded, padded);
  add_each(other.weight, weight);
}

void RouterLoads::clear() {
  batches = cells = 0;
  for (auto* counts : {&load, &padding, &dropped, &padded}) std::fill(counts->begin(), counts->end(), 0);
  std::fill(weight.begin(), weight.end(), 0);
}

int64_t PairTable::total() const {
  int64_t sum = 0;
  for (const PairCount& e : entries) sum += e.count;
  return sum;
}

std::vector<int64_t> PairTable::dense() const {
  std::vector<int64_t> out(int64_t{rows} * columns);
  for (const PairCount& e : entries) out[int64_t{e.from} * columns + e.to] = e.count;
  return out;
}

void PairTable::add(const PairTable& other) {
  if (entries.empty()) {
    entries = other.entries;
    return;
  }
  std::vector<PairCount> sum;
  sum.reserve(entries.size() + other.entries.size());
  const auto before = [](const PairCount& a, const PairCount& b) {
    return a.from != b.from ? a.from < b.from : a.to < b.to;
  };
  auto a = entries.begin();
  auto b = other.entries.begin();
  while (a != entries.end() && b != other.entries.end()) {
    if (before(*a, *b))
      sum.push_back(*a++);
    else if (before(*b, *a))
      sum.push_back(*b++);
    else
      sum.push_back({a->from, a->to, a++->count + b++->count});
  }
  sum.insert(sum.end(), a, entries.end());
  sum.insert(sum.end(), b, other.entries.end());
  entries = std::move(sum);
}

}  // namespace stormcell
