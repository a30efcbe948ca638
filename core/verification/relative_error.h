// Differences of things of unlike size (outputs of items, scores of cells), each as a share of a size, so that neither
// a large one hides what is wrong with the others nor a small one by chance is held to what rounding cannot give.
#pragma once
#include <cmath>
#include <cstdint>
#include <map>

namespace stormcell {

/// 0 of what is not finite: that measures nothing.
inline double size_of(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

/// Of an even number of sizes the median is one of two.
enum class Median : uint8_t {
  lower,
  upper,  ///< of what is small by chance as often as not: margins
};

/// A difference is a share of the own size of what differs, or of the usual size where that is larger. The usual size
/// is the largest of those in the neighbourhood of the median: of at most four to eight times the median (powers of two
/// are what is counted). One outlier, or many of up to half of all, is no measure of the others. Keeps some numbers for
/// each power of two, however much it is shown.
class RelativeError {
 public:
  explicit RelativeError(Median median = Median::lower) : median_(median) {}

  /// `size` counts for the usual one; 0 says nothing.
  void add_size(double size);
  /// Something of this size differs by so much; NaN: infinitely.
  void add_difference(double difference, double size);

  double usual_size() const;
  /// What the difference of something of `size` is a share of; 1 where that and the usual size are 0.
  static double scale(double size, double usual);
  double scale(double size) const { return scale(size, usual_size()); }
  /// The largest share; 0 where nothing differs, infinite where a difference is.
  double largest() const { return largest(usual_size()); }
  double largest(double usual) const;
  double largest_difference() const { return most_; }

 private:
  struct Sizes {
    int64_t count = 0;
    double largest = 0;
  };
  struct Differences {
    double most = 0, share = 0;  ///< the largest, and the largest share of the own size
  };
  Median median_;
  std::map<int, Sizes> sizes_;  // both by power of two
  std::map<int, Differences> differences_;
  double most_ = 0;
};

}  // namespace stormcell
