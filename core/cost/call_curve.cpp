#include "core/cost/call_curve.h"

#include <algorithm>
#include <cmath>

namespace stormcell {
namespace {

/// Bytes are products of whole numbers and shares: what differs by less is the same.
bool same_bytes(double a, double b) { return std::fabs(a - b) <= 1e-9 * std::max(a, b); }

}  // namespace

void CallCurve::add(double bytes, double us, size_t number) {
  auto at = std::lower_bound(points_.begin(), points_.end(), bytes,
                             [](const Point& p, double b) { return p.bytes < b && !same_bytes(p.bytes, b); });
  if (at == points_.end() || !same_bytes(at->bytes, bytes)) at = points_.insert(at, {bytes, 0, {}});
  const double so_far = at->from.size();
  at->us = (at->us * so_far + us) / (so_far + 1);
  at->from.push_back(number);
}

std::optional<CallCurve::Answer> CallCurve::at(double bytes) const {
  for (size_t i = 0; i < points_.size(); ++i) {
    if (same_bytes(points_[i].bytes, bytes)) return Answer{points_[i].us, points_[i].from};
    if (i + 1 == points_.size() || bytes < points_[i].bytes || bytes >= points_[i + 1].bytes) continue;
    const Point &a = points_[i], &b = points_[i + 1];
    if (same_bytes(b.bytes, bytes)) continue;
    Answer out{std::lerp(a.us, b.us, (bytes - a.bytes) / (b.bytes - a.bytes)), a.from};
    out.from.insert(out.from.end(), b.from.begin(), b.from.end());
    return out;
  }
  return {};
}

std::optional<CallCurve::Answer> CallCurve::beyond(double bytes, double farthest) const {
  const auto fit = line();
  if (!fit || at(bytes) || bytes > fit->most * farthest || bytes < fit->least / farthest) return {};
  const Point& end = bytes > fit->most ? points_.back() : points_.front();
  const double us = end.us + fit->us_per_byte * (bytes - end.bytes);
  if (!(us > 0)) return {};
  Answer out{us, {}};
  for (const Point& p : points_) out.from.insert(out.from.end(), p.from.begin(), p.from.end());
  return out;
}

std::optional<CallCurve::Line> CallCurve::line() const {
  if (points_.size() < 2) return {};
  double w = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (const Point& p : points_) {
    const double weight = 1 / (p.us * p.us);
    w += weight, x += weight * p.bytes, y += weight * p.us, xx += weight * p.bytes * p.bytes,
        xy += weight * p.bytes * p.us;
  }
  const double slope = (w * xy - x * y) / (w * xx - x * x);
  return Line{(y - slope * x) / w, slope, points_.front().bytes, points_.back().bytes};
}

}  // namespace stormcell
