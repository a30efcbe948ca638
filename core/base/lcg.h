// Numbers that look random and are the same each time, for draws that only have to be unrelated to what they order.
#pragma once
#include <cstdint>

namespace stormcell {

/// A linear congruential generator, Knuth's MMIX.
class Lcg {
 public:
  /// 31 bits.
  uint64_t next() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return state_ >> 33;
  }

 private:
  uint64_t state_ = 1;
};

}  // namespace stormcell
