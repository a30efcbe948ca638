// Counts pairs of branches: a dense table while that is small, a hash table otherwise.
#pragma once
#include <cstdint>
#include <vector>

#include "core/profile/loads.h"

namespace stormcell {

/// add() costs about 1 ns in a dense table (up to 256 x 256 pairs: 256 KB stay in the L2 cache), about 10 ns in the
/// hash table.
class PairCounter {
 public:
  PairCounter(int32_t rows, int32_t columns);
  void add(int32_t from, int32_t to) {
    const uint64_t key = static_cast<uint64_t>(from) * static_cast<uint64_t>(columns_) + static_cast<uint64_t>(to);
    if (!dense_.empty()) {
      used_ += dense_[key]++ == 0;
    } else {
      add_sparse(key);
    }
  }
  int32_t rows() const { return rows_; }
  int32_t columns() const { return columns_; }
  bool empty() const { return used_ == 0; }
  /// The counts, sorted; the counter is empty afterwards.
  PairTable take();

 private:
  struct Entry {
    uint64_t key = UINT64_MAX;
    int64_t count = 0;
  };
  void add_sparse(uint64_t key);
  void grow();

  int32_t rows_, columns_;
  size_t used_ = 0;
  std::vector<uint32_t> dense_;
  std::vector<Entry> sparse_;
};

}  // namespace stormcell
