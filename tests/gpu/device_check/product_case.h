// A grouped product on the card with numbers of its own.
#pragma once
#include <string>
#include <vector>

#include "gpu/grouped/grouped.h"
#include "tests/gpu/device_check/data.h"

namespace stormcell::device_check {

struct ProductCase {
  int32_t n, k;
  std::vector<int32_t> rows;  // of each expert
  gpu::Format format = gpu::Format::bf16;
  bool gated = false, gathered = false;
  gpu::Activation activation = gpu::Activation::none;
  /// Small whole numbers, whose sums f32 holds exactly: each result must be the reference's, rounded. Takes an
  /// activation that keeps them whole.
  bool whole = false;
  bool may_be_many = false;  ///< as far as the host can tell, some expert has more rows than swapped takes
  bool bias = true;

  std::string name() const;
};

class ProductOnCard {
 public:
  ProductOnCard(const ProductCase& product, const gpu::RegimeLimits& limits, const Queue& queue);
  const gpu::GroupedCall& call() const { return call_; }
  int64_t slots() const { return slots_; }
  int64_t x_rows() const { return x_rows_; }
  int64_t y_bytes() const { return slots_ * call_.n * gpu::bytes_of(call_.format); }
  /// Bytes before and behind y that were written.
  int64_t written_past() const {
    return written_bytes(y_.as<char>(), kShift) + written_bytes(y_.as<char>() + kShift + y_bytes(), kGuardBytes);
  }
  /// Those that run() launches.
  std::string kernels() const;
  /// Queues the map, once before the product, and the product.
  void make_map();
  void run() const;
  /// Waits; refuses where an expert has more rows than the product was told of.
  gpu::Status check_rows() const { return gpu::check_most_rows(map_, call_.most_rows, queue_.stream()); }

 private:
  /// x, w and y begin so far within what is allocated: aligned to sixteen bytes and no more, as callers may have them.
  static constexpr int64_t kShift = 16;
  const Queue& queue_;
  int64_t slots_, x_rows_;
  std::vector<Memory> inputs_;  // what the call points to
  Memory map_memory_, x_, w_, y_;
  gpu::TileMap map_;
  gpu::GroupedCall call_;
};

}  // namespace stormcell::device_check
