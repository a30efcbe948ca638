// Assigns the items of a dataset to batches.
#pragma once
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "core/cell/picture_size.h"

namespace stormcell {

/// Lengths of an item as the model gets it: its token ids, the decoder's ids, the size of its picture.
struct ItemLength {
  int32_t ids = 0, target = 0;
  PictureSize picture = {};
};

/// Batches of at most `batch` items: in the data's order, of one size of picture, or of like length.
class Arrangement {
 public:
  Arrangement() = default;
  static Arrangement as_given(int64_t items, int64_t batch) { return Arrangement(items, batch); }
  /// Pictures of one size in each batch, in the data's order among themselves; the data's batches if all have one size.
  /// With several sizes the batches come in spread_order(), sizes ascending: thus the batches that an optimisation
  /// profiles, those that it measures, and the first ones are of all sizes.
  static Arrangement by_size(std::span<const ItemLength> lengths, int64_t batch);
  /// Items sorted by size of picture, then by length (ids, then the decoder's; those alike stay in their order), and
  /// cut into batches of one size. The batches come in spread_order(): those that an optimisation profiles, those that
  /// it measures and the first ones are of all lengths.
  static Arrangement by_length(std::span<const ItemLength> lengths, int64_t batch);

  int64_t batches() const { return batches_; }
  /// Items in the order of the batch's rows.
  std::vector<int64_t> items_of(int64_t batch) const;
  /// True if every batch holds the same items as in the data's order.
  bool is_as_given() const;
  /// Leaves the first so many batches; those behind them are not there any more.
  void keep(int64_t most);

 private:
  Arrangement(int64_t items, int64_t batch) : items_(items), batch_(batch), batches_((items + batch - 1) / batch) {}
  using Before = std::function<bool(const ItemLength&, const ItemLength&)>;
  static Arrangement sorted(std::span<const ItemLength> lengths, int64_t batch, const Before& before);

  int64_t items_ = 0, batch_ = 1, batches_ = 0;
  // Items part after part; the beginning of each part and the end of the last; the part of each batch. All empty: as
  // given.
  std::vector<int64_t> sorted_, begin_, part_of_;
};

/// A fixed order of 0 to count - 1 whose first n numbers, and every n-th number, are evenly spread: multiples of the
/// golden ratio, ranked.
std::vector<int64_t> spread_order(int64_t count);

}  // namespace stormcell
