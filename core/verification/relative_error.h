// Differences of things of unlike size (outputs of items, scores of cells), each as a share of a size. So a large one
// does not hide a fault in the others, and one that is small by chance is not held to less than rounding.
#pragma once
#include <cmath>
#include <cstdint>
#include <map>

namespace stormcell {

/// 0 if `value` is not finite: it measures nothing.
inline double size_of(double value) { return std::isfinite(value) ? std::fabs(value) : 0; }

/// The median of an even number of sizes is one of two.
enum class Median : uint8_t {
  lower,
  upper,  ///< for sizes that are often small by chance: margins
};

/// Differences as shares of the size of what differs, or of the usual size if that is larger. The usual size is the
/// largest near the median: at most four to eight times the median, since powers of two are counted. So one outlier, or
/// many that are at most half of all, do not set the scale for the others. Keeps some numbers for each power of two,
/// however much it is shown.
class RelativeError {
 public:
  explicit RelativeError(Median median = Median::lower) : median_(median) {}

  /// Counts `size` for the usual one; 0 says nothing.
  void add_size(double size);
  /// Adds the difference of something of this size; NaN: infinite.
  void add_difference(double difference, double size);

  double usual_size() const;
  /// The size by which a difference of something of `size` is divided; 1 if that and the usual size are 0.
  static double scale(double size, double usual);
  double scale(double size) const { return scale(size, usual_size()); }
  /// The largest share; 0 if nothing differs, infinite if a difference is.
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
