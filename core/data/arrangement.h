// Which items of a dataset lie in which batch.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace stormcell {

/// Cells of an item, as it is fed: of its token ids, and of the decoder's.
struct ItemLength {
  int32_t ids = 0, target = 0;
};

/// Batch after batch of `batch` items, as the data has them or of like length.
class Arrangement {
 public:
  Arrangement() = default;
  static Arrangement as_given(int64_t items, int64_t batch) { return Arrangement(items, batch); }
  /// Items sorted by length (ids, then the decoder's; those alike stay in their order) and cut into batches. The batches come in
  /// spread_order(): those that an optimisation profiles, those that it measures and the first ones are of all lengths.
  static Arrangement by_length(std::span<const ItemLength> lengths, int64_t batch);

  int64_t batches() const { return (items_ + batch_ - 1) / batch_; }
  /// In the order of the batch's rows.
  std::vector<int64_t> items_of(int64_t batch) const;
  /// True if every batch holds what it would hold as the data has it.
  bool is_as_given() const;

 private:
  Arrangement(int64_t items, int64_t batch) : items_(items), batch_(batch) {}
  int64_t items_ = 0, batch_ = 1;
  std::vector<int64_t> sorted_, part_of_;  // items by length; by batch: which part of them. Both empty: as given
};

/// A fixed order of 0 to count - 1 of which the first so many, and every n-th, lie evenly over all: multiples of the golden ratio, ranked.
std::vector<int64_t> spread_order(int64_t count);

}  // namespace stormcell
