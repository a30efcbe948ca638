#include "core/data/arrangement.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace stormcell {

std::vector<int64_t> spread_order(int64_t count) {
  // 2^64 / 1.618...: multiples modulo 2^64 are spread evenly, however many
  constexpr uint64_t kGoldenRatio = 0x9e3779b97f4a7c15u;
  std::vector<int64_t> by_place(count), order(by_place.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::sort(by_place.begin(), by_place.end(), [](int64_t a, int64_t b) {
    return static_cast<uint64_t>(a + 1) * kGoldenRatio < static_cast<uint64_t>(b + 1) * kGoldenRatio;
  });
  for (size_t rank = 0; rank < by_place.size(); ++rank) order[by_place[rank]] = static_cast<int64_t>(rank);
  return order;
}

Arrangement Arrangement::sorted(std::span<const ItemLength> lengths, int64_t batch, const Before& before) {
  Arrangement a(std::ssize(lengths), batch);
  const auto length = [&](int64_t item) -> const ItemLength& { return lengths[item]; };
  a.sorted_.resize(lengths.size());
  std::iota(a.sorted_.begin(), a.sorted_.end(), 0);
  std::stable_sort(a.sorted_.begin(), a.sorted_.end(),
                   [&](int64_t x, int64_t y) { return before(length(x), length(y)); });
  for (size_t i = 0; i < a.sorted_.size(); ++i) {
    const bool is_full = !a.begin_.empty() && static_cast<int64_t>(i) - a.begin_.back() == batch;
    if (i == 0 || is_full || length(a.sorted_[i]).picture != length(a.sorted_[i - 1]).picture)
      a.begin_.push_back(static_cast<int64_t>(i));
  }
  const bool one_size = lengths.empty() || length(a.sorted_.front()).picture == length(a.sorted_.back()).picture;
  // All alike: nothing is gained by another order.
  if (one_size && std::is_sorted(a.sorted_.begin(), a.sorted_.end())) return as_given(a.items_, batch);
  a.batches_ = std::ssize(a.begin_);
  a.begin_.push_back(a.items_);
  a.part_of_ = spread_order(a.batches_);
  return a;
}

Arrangement Arrangement::by_size(std::span<const ItemLength> lengths, int64_t batch) {
  return sorted(lengths, batch, [](const ItemLength& x, const ItemLength& y) { return x.picture < y.picture; });
}

Arrangement Arrangement::by_length(std::span<const ItemLength> lengths, int64_t batch) {
  return sorted(lengths, batch, [](const ItemLength& x, const ItemLength& y) {
    return std::tie(x.picture, x.ids, x.target) < std::tie(y.picture, y.ids, y.target);
  });
}

std::vector<int64_t> Arrangement::items_of(int64_t batch) const {
  if (sorted_.empty()) {
    const int64_t first = batch * batch_;
    std::vector<int64_t> items(std::min(first + batch_, items_) - first);
    std::iota(items.begin(), items.end(), first);
    return items;
  }
  const size_t part = part_of_[batch];
  return {sorted_.begin() + begin_[part], sorted_.begin() + begin_[part + 1]};
}

void Arrangement::keep(int64_t most) { batches_ = std::min(batches_, most); }

bool Arrangement::is_as_given() const { return sorted_.empty(); }

}  // namespace stormcell
