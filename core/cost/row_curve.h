// Measured time over rows of a product, or of an expert's products together. It gives the cost of a step's experts if
// there are measurements.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace stormcell {

/// Rows of a tile: an expert with fewer rows costs as much as with one, because reading its weights takes the time.
inline constexpr double kRowTile = 64;
/// Limit of extrapolation: bytes or rows may exceed the measured ones by this factor.
inline constexpr double kFarthest = 2;
/// Least ratio of two sizes that give a rate; nearer ones show noise and rounding.
inline constexpr double kApart = 1.25;

struct RowRange {
  double least = 0, most = 0;
};

/// Between two measured numbers of rows, time is linear in rows. This is exact for start-up + rows / rate, and for the
/// flat part where reading the weights takes the time; at a bend between them it is too high. The curve never falls: if
/// measured times do, neighbours take their mean (pooled, so all times x 1.3 give 1.3 x the curve).
class RowCurve {
 public:
  struct Point {
    double rows = 0, us = 0;
    std::vector<size_t> from;  ///< numbers of the calls
  };
  /// Takes points in any order; equal rows become one point, their mean. At least one point.
  explicit RowCurve(std::vector<Point> points);
  struct Term {
    const RowCurve* curve = nullptr;
    double times = 1;
  };
  /// Sums products that follow each other on the same rows. The curve reaches as far as all of them are measured; their
  /// ranges must overlap.
  static RowCurve sum(std::span<const Term> terms);

  /// Microseconds for any number of rows. Fewer than measured take the time of the fewest; more follow the slope of the
  /// last stretch.
  double us(double rows) const;
  /// The calls of the points beside these rows, from which us() is computed: each point has at least one.
  std::vector<size_t> from(double rows) const;

  /// True if us() can be trusted: from 1 row if the fewest measured ones are at most kRowTile, else from half of those,
  /// up to kFarthest times the most measured ones.
  bool reaches(double rows) const { return rows >= least_told() && rows <= most_told(); }
  double least_told() const;
  double most_told() const { return kFarthest * most(); }
  bool holds(double rows) const { return rows >= least() && rows <= most(); }
  double least() const { return points_.front().rows; }
  double most() const { return points_.back().rows; }
  const std::vector<Point>& points() const { return points_; }

 private:
  std::vector<Point> points_;  // by rows, times ascending
};

}  // namespace stormcell
