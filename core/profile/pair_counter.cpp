#include "core/profile/pair_counter.h"

#include <algorithm>

namespace stormcell {
namespace {
constexpr uint64_t kMostDense = 1 << 16;
uint64_t place(uint64_t key, size_t size) { return (key * 0x9e3779b97f4a7c15ull >> 32) & (size - 1); }
}  // namespace

PairCounter::PairCounter(int32_t rows, int32_t columns) : rows_(rows), columns_(columns) {
  const uint64_t pairs = static_cast<uint64_t>(rows) * static_cast<uint64_t>(columns);
  if (pairs <= kMostDense) dense_.assign(std::max<uint64_t>(pairs, 1), 0);
}

void PairCounter::add_sparse(uint64_t key) {
  if (used_ * 2 >= sparse_.size()) grow();
  uint64_t at = place(key, sparse_.size());
  while (sparse_[at].key != key && sparse_[at].key != UINT64_MAX) at = (at + 1) & (sparse_.size() - 1);
  used_ += sparse_[at].key == UINT64_MAX;
  sparse_[at].key = key;
  ++sparse_[at].count;
}

void PairCounter::grow() {
  std::vector<Entry> old(std::max<size_t>(1024, sparse_.size() * 2));
  old.swap(sparse_);
  for (const Entry& e : old) {
    if (e.key == UINT64_MAX) continue;
    uint64_t at = place(e.key, sparse_.size());
    while (sparse_[at].key != UINT64_MAX) at = (at + 1) & (sparse_.size() - 1);
    sparse_[at] = e;
  }
}

PairTable PairCounter::take() {
  PairTable table{rows_, columns_, {}};
  table.entries.reserve(used_);
  const uint64_t columns = columns_;
  if (!dense_.empty()) {
    for (size_t i = 0; i < dense_.size() && used_ > 0; ++i)
      if (dense_[i]) {
        table.entries.push_back({static_cast<int32_t>(i / columns), static_cast<int32_t>(i % columns), dense_[i]});
        dense_[i] = 0;
        --used_;
      }
  } else {
    std::erase_if(sparse_, [](const Entry& e) { return e.key == UINT64_MAX; });
    std::sort(sparse_.begin(), sparse_.end(), [](const Entry& a, const Entry& b) { return a.key < b.key; });
    for (const Entry& e : sparse_)
      table.entries.push_back({static_cast<int32_t>(e.key / columns), static_cast<int32_t>(e.key % columns), e.count});
    sparse_.clear();
  }
  used_ = 0;
  return table;
}

}  // namespace stormcell
