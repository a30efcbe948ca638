// Time over rows of a product, or of an expert's products together, as it was measured: what a step's experts cost
// where somebody did.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace stormcell {

/// Products compute whole tiles of rows: so many of an expert cost as much as one, reading its weights takes the time.
inline constexpr double kRowTile = 64;
/// Beyond what was measured, bytes or rows may be this many times as many.
inline constexpr double kFarthest = 2;
/// Two sizes nearer than this say more of noise and of rounding than of a rate.
inline constexpr double kApart = 1.25;

struct RowRange {
  double least = 0, most = 0;
};

/// Between two measured numbers of rows time is linear in rows: exact for start-up + rows / rate, and for the flat part
/// in which reading the weights takes the time; through a bend between them it lies above. It never falls: where
/// measured times do, neighbours take their mean (pooled, so all times x 1.3 give 1.3 x the curve).
class RowCurve {
 public:
  struct Point {
    double rows = 0, us = 0;
    std::vector<size_t> from;  ///< numbers of the calls
  };
  /// In any order; equal rows are one point, their mean. At least one point.
  explicit RowCurve(std::vector<Point> points);
  struct Term {
    const RowCurve* curve = nullptr;
    double times = 1;
  };
  /// Of products that follow each other on the same rows: as far as all of them are measured, which is somewhere.
  static RowCurve sum(std::span<const Term> terms);

  /// Of any number of rows: fewer than measured take the time of the fewest, more go on with the slope of the last
  /// stretch.
  double us(double rows) const;
  /// The calls of the points beside these rows, of which us() is made: each point has at least one.
  std::vector<size_t> from(double rows) const;

  /// How far us() may be believed. Below the fewest measured rows as far as 1 row if these are at most kRowTile, else
  /// half of them; beyond the most to kFarthest times as many.
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
