#include "core/cost/row_curve.h"

#include <algorithm>
#include <cmath>

namespace stormcell {
namespace {

/// Pools neighbours that fall, until none does: the nearest curve that never falls, by least squares.
void make_monotone(std::vector<RowCurve::Point>& points) {
  struct Pool {
    double us;
    size_t count;
  };
  std::vector<Pool> pools;
  for (const RowCurve::Point& p : points) {
    pools.push_back({p.us, 1});
    while (pools.size() > 1 && pools[pools.size() - 2].us > pools.back().us) {
      const Pool last = pools.back();
      pools.pop_back();
      Pool& into = pools.back();
      const auto a = static_cast<double>(into.count), b = static_cast<double>(last.count);
      into = {(into.us * a + last.us * b) / (a + b), into.count + last.count};
    }
  }
  size_t at = 0;
  for (const Pool& pool : pools)
    for (size_t i = 0; i < pool.count; ++i) points[at++].us = pool.us;
}

}  // namespace

RowCurve::RowCurve(std::vector<Point> points) {
  std::stable_sort(points.begin(), points.end(), [](const Point& a, const Point& b) { return a.rows < b.rows; });
  for (Point& p : points) {
    if (points_.empty() || points_.back().rows < p.rows) {
      points_.push_back(std::move(p));
      continue;
    }
    Point& same = points_.back();
    const auto so_far = static_cast<double>(same.from.size()), more = static_cast<double>(p.from.size());
    same.us = (same.us * so_far + p.us * more) / (so_far + more);
    same.from.insert(same.from.end(), p.from.begin(), p.from.end());
  }
  make_monotone(points_);
}

RowCurve RowCurve::sum(std::span<const Term> terms) {
  double least = 0, most = terms[0].curve->most();
  for (const Term& t : terms) least = std::max(least, t.curve->least()), most = std::min(most, t.curve->most());
  std::vector<double> rows;
  for (const Term& t : terms)
    for (const Point& p : t.curve->points())
      if (p.rows >= least && p.rows <= most) rows.push_back(p.rows);
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  std::vector<Point> points;
  for (const double r : rows) {
    Point& p = points.emplace_back(Point{r, 0, {}});
    for (const Term& t : terms) {
      p.us += t.times * t.curve->us(r);
      for (const size_t i : t.curve->from(r))
        if (std::find(p.from.begin(), p.from.end(), i) == p.from.end()) p.from.push_back(i);
    }
  }
  return RowCurve(std::move(points));
}

double RowCurve::us(double rows) const {
  if (!(rows > least())) return points_.front().us;  // what is no number, too
  if (rows > most()) {
    const Point& last = points_.back();
    const auto back =
        std::find_if(points_.rbegin(), points_.rend(), [&](const Point& p) { return p.rows * kApart <= last.rows; });
    return back == points_.rend() ? last.us
                                  : last.us + (last.us - back->us) / (last.rows - back->rows) * (rows - last.rows);
  }
  const auto above =
      std::lower_bound(points_.begin(), points_.end(), rows, [](const Point& p, double r) { return p.rows < r; });
  const auto below = std::prev(above);
  return std::lerp(below->us, above->us, (rows - below->rows) / (above->rows - below->rows));
}

std::vector<size_t> RowCurve::from(double rows) const {
  const auto above =
      std::lower_bound(points_.begin(), points_.end(), rows, [](const Point& p, double r) { return p.rows < r; });
  if (above == points_.begin()) return above->from;
  const auto below = std::prev(above);
  if (above == points_.end()) return below->from;
  if (above->rows == rows) return above->from;
  std::vector<size_t> out = below->from;
  out.insert(out.end(), above->from.begin(), above->from.end());
  return out;
}

double RowCurve::least_told() const { return least() <= kRowTile ? std::min(1., least()) : least() / kFarthest; }

}  // namespace stormcell
