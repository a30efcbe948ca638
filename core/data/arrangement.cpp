#include "core/data/arrangement.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stormcell {

std::vector<int64_t> spread_order(int64_t count) {
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;  // 2^64 / 1.618...: multiples modulo 2^64 are spread evenly, however many
  std::vector<int64_t> by_place(static_cast<size_t>(count)), order(by_place.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::sort(by_place.begin(), by_place.end(),
            [](int64_t a, int64_t b) { return static_cast<uint64_t>(a + 1) * kGoldenRatio < static_cast<uint64_t>(b + 1) * kGoldenRatio; });
  for (size_t rank = 0; rank < by_place.size(); ++rank) order[static_cast<size_t>(by_place[rank])] = static_cast<int64_t>(rank);
  return order;
}

Arrangement Arrangement::by_length(std::span<const ItemLength> lengths, int64_t batch) {
  Arrangement a(static_cast<int64_t>(lengths.size()), batch);
  a.sorted_.resize(lengths.size());
  std::iota(a.sorted_.begin(), a.sorted_.end(), 0);
  const auto length = [&](int64_t item) {
    const ItemLength& l = lengths[static_cast<size_t>(item)];
    return std::tuple(l.ids, l.target);
  };
  std::stable_sort(a.sorted_.begin(), a.sorted_.end(), [&](int64_t x, int64_t y) { return length(x) < length(y); });
  // All alike: nothing is gained by another order.
  if (std::is_sorted(a.sorted_.begin(), a.sorted_.end())) {
    a.sorted_.clear();
  } else {
    a.part_of_ = spread_order(a.batches());
  }
  return a;
}

std::vector<int64_t> Arrangement::items_of(int64_t batch) const {
  const int64_t part = part_of_.empty() ? batch : part_of_[static_cast<size_t>(batch)];
  const int64_t first = part * batch_, end = std::min(first + batch_, items_);
  std::vector<int64_t> items(static_cast<size_t>(end - first));
  if (sorted_.empty())
    std::iota(items.begin(), items.end(), first);
  else
    std::copy(sorted_.begin() + first, sorted_.begin() + end, items.begin());
  return items;
}

bool Arrangement::is_as_given() const { return sorted_.empty(); }

}  // namespace stormcell
