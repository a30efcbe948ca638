// A tensor as the header of its file describes it, whatever the format of the file. Nothing of its data is read.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace stormcell {

struct DescribedTensor {
  std::string name;
  std::string format;          ///< its name in the file, without case: "BF16", "Q4_K"
  std::vector<int64_t> shape;  ///< the last extent is that of neighbours; empty: a scalar
  int64_t bytes = 0;           ///< in its file; 0: the header does not say
};
/// Readers of headers hand over one tensor after the other, so that a million of them take no memory.
using SeeTensor = std::function<void(const DescribedTensor&)>;

/// Elements of a shape, at most 2^62.
inline int64_t elements_of(const std::vector<int64_t>& shape) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t all = 1;
  for (const int64_t n : shape) {
    if (n == 0) return 0;
    all = all > kMost / n ? kMost : all * n;
  }
  return all;
}

}  // namespace stormcell
