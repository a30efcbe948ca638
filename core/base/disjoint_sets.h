// Sets of numbers that are joined and never parted.
#pragma once
#include <algorithm>
#include <cstddef>
#include <numeric>
#include <vector>

namespace stormcell {

/// Numbers 0 to size - 1, each in a set of its own until join() unites two. The lowest number represents a set.
class DisjointSets {
 public:
  explicit DisjointSets(size_t size = 0) : above_(size) { std::iota(above_.begin(), above_.end(), size_t{0}); }
  /// Adds a number in a set of its own.
  size_t add() {
    above_.push_back(above_.size());
    return above_.size() - 1;
  }
  void join(size_t a, size_t b) {
    a = lowest_with(a), b = lowest_with(b);
    above_[std::max(a, b)] = std::min(a, b);
  }
  size_t lowest_with(size_t number) const {
    while (above_[number] != number) number = above_[number];
    return number;
  }

 private:
  std::vector<size_t> above_;  // another number of the set, itself for the lowest
};

}  // namespace stormcell
