// Times of calls over their bytes: between two measured points a line, and one line through all.
#pragma once
#include <cstddef>
#include <optional>
#include <vector>

namespace stormcell {

/// Points may come in any order; those of equal bytes count as their mean.
class CallCurve {
 public:
  /// `number`: of the call, returned in answers.
  void add(double bytes, double us, size_t number);

  struct Answer {
    double us = 0;
    std::vector<size_t> from;
  };
  /// The time at or between measured bytes; null elsewhere.
  std::optional<Answer> at(double bytes) const;
  /// Beyond them, up to so many times as many or as few: by the slope of all points through the nearest one. Null:
  /// between them, too far, one point, or no time above 0.
  std::optional<Answer> beyond(double bytes, double farthest) const;

  struct Line {
    double t0_us = 0, us_per_byte = 0, least = 0, most = 0;  ///< the bytes that it was fitted to
  };
  /// The line with the least sum of squared relative errors, so that small calls count as much as large ones. Null:
  /// fewer than two numbers of bytes.
  std::optional<Line> line() const;

 private:
  struct Point {
    double bytes = 0, us = 0;
    std::vector<size_t> from;
  };
  std::vector<Point> points_;  // by bytes, each number of them once
};

}  // namespace stormcell
