#include "core/verification/relative_error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stormcell {
namespace {

constexpr int kNeighbourhood = 2;                       // powers of two above that of the median
constexpr int kZero = std::numeric_limits<int>::min();  // the power of two of nothing

int power_of(double size) { return size > 0 && std::isfinite(size) ? std::ilogb(size) : kZero; }

}  // namespace

void RelativeError::add_size(double size) {
  const int power = power_of(size);
  if (power == kZero) return;
  Sizes& sizes = sizes_[power];
  ++sizes.count;
  sizes.largest = std::max(sizes.largest, size);
}

void RelativeError::add_difference(double difference, double size) {
  if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();  // a maximum would pass it over
  most_ = std::max(most_, difference);
  const int power = power_of(size);
  Differences& differences = differences_[power];
  differences.most = std::max(differences.most, difference);
  if (power != kZero) differences.share = std::max(differences.share, difference / size);
}

double RelativeError::usual_size() const {
  int64_t below = 0, all = 0;
  for (const auto& [power, sizes] : sizes_) all += sizes.count;
  const int64_t median = median_ == Median::lower ? (all - 1) / 2 : all / 2;
  double usual = 0;
  int most = std::numeric_limits<int>::max();
  for (const auto& [power, sizes] : sizes_) {
    if (power > most) break;
    usual = sizes.largest;
    if (below <= median && median < below + sizes.count) most = power + kNeighbourhood;
    below += sizes.count;
  }
  return usual;
}

double RelativeError::scale(double size, double usual) {
  const double larger = std::max(std::isfinite(size) ? size : 0, usual);
  return larger > 0 ? larger : 1;
}

double RelativeError::largest(double usual) const {
  double most = 0;
  for (const auto& [power, d] : differences_) {
    // The largest difference and share of one power may belong to two things: the smaller quotient bounds both.
    const double of_usual = d.most / scale(0, usual);
    const double share = power == kZero ? of_usual : usual > 0 ? std::min(of_usual, d.share) : d.share;
    most = std::max(most, share);
  }
  return most;
}

}  // namespace stormcell
