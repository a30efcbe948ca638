// Numbers that look random and are the same on every machine.
#pragma once
#include <cstdint>

namespace stormcell {

/// splitmix64 (Steele et al., OOPSLA'14).
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t x = state_ += 0x9e3779b97f4a7c15ull;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
    return x ^ (x >> 31);
  }
  /// 0 to n - 1; 0 where n is below 2.
  int64_t below(int64_t n) { return n < 2 ? 0 : static_cast<int64_t>(next() % static_cast<uint64_t>(n)); }

 private:
  uint64_t state_;
};

}  // namespace stormcell
