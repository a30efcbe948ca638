#include "core/cost/calibration.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "core/cost/call_curve.h"

namespace stormcell {
namespace {

/// Null: there are fewer than two numbers of rows.
std::optional<RowCurve> row_curve_of(const std::vector<MeasuredCall>& calls, const std::vector<size_t>& of) {
  std::vector<RowCurve::Point> points;
  for (const size_t i : of) points.push_back({static_cast<double>(calls[i].rows), calls[i].us, {i}});
  if (points.empty()) return {};
  RowCurve curve(std::move(points));
  return curve.points().size() < 2 ? std::nullopt : std::optional(std::move(curve));
}

/// Predicts one call from those that are not left out.
class Predictor {
 public:
  Predictor(const std::vector<MeasuredCall>& calls, const std::vector<uint8_t>& left_out, const MeasuredCall& call)
      : calls_(calls), left_out_(left_out), call_(call) {}

  Prediction predict() {
    const std::vector<size_t> own = find([&](const MeasuredCall& c) { return same_series(c, call_); });
    if (std::vector<size_t> same = among(own, [&](const MeasuredCall& c) { return same_shape(c, call_); });
        !same.empty()) {
      double sum = 0;
      for (const size_t i : same) sum += calls_[i].us;
      const double mean = sum / static_cast<double>(same.size());
      return of(PredictionKind::measured, mean, std::move(same));
    }
    if (call_.is_grouped()) return grouped();
    if (call_.leaves_node()) return over_network(own);
    // Within a node, and for products, another GPU predicts nothing, and another laboratory with the same GPU predicts
    // worse.
    Prediction mine = by_own(own);
    if (mine.us) return mine;
    const std::string why_not = mine.why_not;
    for (const size_t i : find([&](const MeasuredCall& c) {
           return same_network(c, call_) && c.gpu == call_.gpu && c.laboratory != call_.laboratory;
         })) {
      const std::vector<size_t> other = find([&](const MeasuredCall& c) { return same_series(c, calls_[i]); });
      Prediction theirs = by_own(other);
      if (!theirs.us) continue;
      theirs.kind = PredictionKind::borrowed;
      return theirs;
    }
    return none(own.empty() ? "no such call of this GPU was measured" : why_not);
  }

 private:
  template <class Is>
  std::vector<size_t> find(Is&& is) const {
    std::vector<size_t> list;
    for (size_t i = 0; i < calls_.size(); ++i)
      if ((left_out_.empty() || !left_out_[i]) && is(calls_[i])) list.push_back(i);
    return list;
  }
  template <class Is>
  std::vector<size_t> among(const std::vector<size_t>& of, Is&& is) const {
    std::vector<size_t> list;
    for (const size_t i : of)
      if (is(calls_[i])) list.push_back(i);
    return list;
  }
  static Prediction of(PredictionKind kind, double us, std::vector<size_t> from) {
    Prediction p;
    p.kind = kind, p.us = us, p.from = std::move(from), p.low_us = p.high_us = us;
    return p;
  }
  static Prediction none(std::string why_not) {
    Prediction p;
    p.why_not = std::move(why_not);
    return p;
  }
  static int64_t most_ranks(const std::vector<MeasuredCall>& calls, const std::vector<size_t>& of) {
    int64_t most = 0;
    for (const size_t i : of) most = std::max(most, calls[i].ranks);
    return most;
  }

  CallCurve curve(const std::vector<size_t>& of, double (*bytes)(const MeasuredCall&)) const {
    CallCurve out;
    for (const size_t i : of) out.add(bytes(calls_[i]), calls_[i].us, i);
    return out;
  }
  Prediction on(const CallCurve& curve, double bytes) const {
    const auto at = curve.at(bytes);
    if (at) return of(PredictionKind::interpolated, at->us, at->from);
    const auto beyond = curve.beyond(bytes, kFarthest);
    if (beyond) return of(PredictionKind::extrapolated, beyond->us, beyond->from);
    return none("too far from what was measured");
  }
  /// Predicts a call within one node from calls of its own series.
  Prediction by_own(const std::vector<size_t>& own) const {
    return call_.is_product() ? over_rows(own) : call_.is_rank_experts() ? of_curve(own) : within_fabric(own);
  }
  Prediction over_rows(const std::vector<size_t>& own) const {
    const std::optional<RowCurve> curve = row_curve_of(calls_, own);
    if (!curve) return none("only one number of rows was measured");
    const double rows = call_.rows;
    if (!curve->reaches(rows)) return none("too far from the rows that were measured");
    return of(curve->holds(rows) ? PredictionKind::interpolated : PredictionKind::extrapolated, curve->us(rows),
              curve->from(rows));
  }
  /// Predicts products with unlike rows from those with like rows. If series differ in their number of weights, the one
  /// nearest to the number of weights with rows counts.
  Prediction grouped() const {
    const std::vector<AlikeRows> rows = alike_rows(call_.rows_each).value_or(std::vector<AlikeRows>());
    double active = 0, nearest = 0;
    for (const AlikeRows& r : rows)
      if (r.rows > 0) active += static_cast<double>(r.weights);
    Prediction best = none("no product over rows with such weights was measured on this GPU");
    const auto is_like = [&](const MeasuredCall& c) {
      return c.is_product() && c.gpu == call_.gpu && same_weight(c, call_);
    };
    std::vector<uint8_t> seen(calls_.size());
    for (const size_t i : find(is_like)) {
      if (seen[i]) continue;
      const std::vector<size_t> series = find([&](const MeasuredCall& c) { return same_series(c, calls_[i]); });
      for (const size_t s : series) seen[s] = 1;
      const std::optional<RowCurve> curve = row_curve_of(calls_, series);
      const std::optional<SummedRows> sum = curve ? sum_over_rows(*curve, calls_[i].experts, rows) : std::nullopt;
      if (!sum) {
        if (!best.us)
          best.why_not = curve ? "too far from the rows that were measured" : "only one number of rows was measured";
        continue;
      }
      const PredictionKind kind = calls_[i].laboratory != call_.laboratory ? PredictionKind::borrowed
                                  : sum->within                            ? PredictionKind::interpolated
                                                                           : PredictionKind::extrapolated;
      const double far = std::fabs(std::log(static_cast<double>(calls_[i].experts) / active));
      if (best.us && (kind > best.kind || (kind == best.kind && far >= nearest))) continue;
      best = of(kind, sum->us, {}), nearest = far;
      for (const AlikeRows& r : rows)
        for (const size_t f : r.rows > 0 ? curve->from(static_cast<double>(r.rows)) : std::vector<size_t>())
          if (std::find(best.from.begin(), best.from.end(), f) == best.from.end()) best.from.push_back(f);
    }
    return best;
  }
  /// Interpolates over the moved bytes only.
  Prediction of_curve(const std::vector<size_t>& own) const {
    if (call_.is_rank_experts()) {
      const double rows = static_cast<double>(call_.tokens_total * call_.top_k) / call_.experts;
      if (rows > kRowTile &&
          std::none_of(own.begin(), own.end(), [&](size_t i) { return calls_[i].tokens_total >= call_.tokens_total; }))
        return none("experts get more than 64 rows, which is not measured");
    }
    return on(curve(own, moved_bytes), moved_bytes(call_));
  }

  // Calls that leave the node
  // ---------------------------------------------------------------------------------------------------------

  /// Interpolates along one quantity at a time, if possible: the number of nodes, else the bytes a rank sends, else the
  /// bytes over the network card.
  Prediction within_series(const std::vector<size_t>& series) const {
    if (call_.ranks > most_ranks(calls_, series)) return none("more ranks than were measured");
    const double sent = sent_bytes(call_);
    const auto alike = among(series, [&](const MeasuredCall& c) { return sent_bytes(c) == sent; });
    if (Prediction p = on(curve(alike, moved_bytes), moved_bytes(call_)); p.kind == PredictionKind::interpolated)
      return p;
    const auto nodes =
        among(series, [&](const MeasuredCall& c) { return c.nodes == call_.nodes && c.ranks == call_.ranks; });
    if (Prediction p = on(curve(nodes, sent_bytes), sent); p.kind == PredictionKind::interpolated) return p;
    return on(curve(series, moved_bytes), moved_bytes(call_));
  }

  /// Applies the ratio or difference found in other series on such a network to this laboratory's nearest call. It is
  /// not known which of the two is right, so the result is their mean, with both as ends.
  Prediction borrowed() const {
    const std::vector<size_t> all = find([&](const MeasuredCall& c) { return same_network(c, call_); });
    if (call_.ranks > most_ranks(calls_, all)) return none("more ranks than were measured on such a network");
    std::vector<size_t> anchors = among(all, [&](const MeasuredCall& c) { return c.laboratory == call_.laboratory; });
    if (anchors.empty()) return none("no such call of this laboratory was measured, and laboratories differ");
    std::stable_sort(anchors.begin(), anchors.end(), [&](size_t a, size_t b) {
      return shape_distance(calls_[a], call_) < shape_distance(calls_[b], call_);
    });
    for (const size_t anchor : anchors)
      if (const Prediction p = borrowed_at(anchor, all); p.us) return p;
    return none("no other series holds both this call and the laboratory's own");
  }

  Prediction borrowed_at(size_t anchor, const std::vector<size_t>& all) const {
    const MeasuredCall& at = calls_[anchor];
    std::vector<size_t> from = {anchor};
    double low = 0, high = 0, many = 0;
    std::vector<size_t> seen;  // one of each series
    for (const size_t i : all) {
      const auto of_seen = [&](size_t s) { return same_series(calls_[s], calls_[i]); };
      if (std::any_of(seen.begin(), seen.end(), of_seen)) continue;
      seen.push_back(i);
      if (same_series(calls_[i], at) && same_series(at, call_)) continue;  // own series could not say it
      const std::vector<size_t> series = among(all, [&](const MeasuredCall& c) { return same_series(c, calls_[i]); });
      const Prediction there = Predictor(calls_, left_out_, call_).at_most_interpolated(series),
                       here = Predictor(calls_, left_out_, at).at_most_interpolated(series);
      if (!there.us || !here.us) continue;
      const double added = at.us + *there.us - *here.us, scaled = at.us * *there.us / *here.us;
      if (!(added > 0)) continue;
      low += std::min(added, scaled), high += std::max(added, scaled), ++many;
      for (const Prediction* p : {&there, &here})
        for (const size_t f : p->from)
          if (std::find(from.begin(), from.end(), f) == from.end()) from.push_back(f);
    }
    if (many == 0) return none("");
    Prediction p = of(PredictionKind::borrowed, (low + high) / 2 / many, std::move(from));
    p.low_us = low / many, p.high_us = high / many, p.laboratories = spread(all);
    return p;
  }

  Prediction at_most_interpolated(const std::vector<size_t>& series) const {
    Prediction p = within_series(series);
    return p.kind == PredictionKind::extrapolated ? none("") : p;
  }

  /// Spread between laboratories at the nearest shape that several of them measured.
  std::optional<double> spread(const std::vector<size_t>& all) const {
    std::optional<double> out;
    double nearest = 0;
    for (const size_t i : all) {
      double least = calls_[i].us, most = least;
      bool several = false;
      for (const size_t j : all)
        if (same_shape(calls_[i], calls_[j])) {
          several = several || calls_[i].laboratory != calls_[j].laboratory;
          least = std::min(least, calls_[j].us), most = std::max(most, calls_[j].us);
        }
      const double far = shape_distance(calls_[i], call_);
      if (several && (!out || far < nearest)) out = most / least - 1, nearest = far;
    }
    return out;
  }

  Prediction over_network(const std::vector<size_t>& own) const {
    Prediction mine = within_series(own);
    if (mine.kind == PredictionKind::interpolated) return mine;
    Prediction theirs = borrowed();
    return theirs.us ? theirs : mine.us ? mine : theirs;
  }

  // Calls within a fabric
  // -------------------------------------------------------------------------------------------------------------

  /// Time as a line of the bytes a rank sends, start-up and slope linear in log2(ranks) between two numbers of ranks.
  struct Line {
    double t0 = 0, slope = 0, least = 0, most = 0;  // bytes that it was measured at
    std::vector<size_t> from;
  };
  std::optional<Line> line_at(const std::vector<size_t>& of, int64_t ranks) const {
    std::map<int64_t, Line> lines;
    std::map<int64_t, std::vector<size_t>> worlds;
    for (const size_t i : of) worlds[calls_[i].ranks].push_back(i);
    for (const auto& [world, members] : worlds)
      if (const auto fit = curve(members, sent_bytes).line())
        lines[world] = {fit->t0_us, fit->us_per_byte, fit->least, fit->most, members};
    const auto above = lines.lower_bound(ranks);
    if (above == lines.end()) return {};
    if (above->first == ranks) return above->second;
    if (above == lines.begin()) return {};
    const auto below = std::prev(above);
    const double share = between(below->first, above->first, ranks);
    const Line &a = below->second, &b = above->second;
    Line out{std::lerp(a.t0, b.t0, share), std::lerp(a.slope, b.slope, share), std::max(a.least, b.least),
             std::min(a.most, b.most), a.from};
    out.from.insert(out.from.end(), b.from.begin(), b.from.end());
    return out;
  }
  static double between(int64_t low, int64_t high, int64_t ranks) {
    return std::log2(static_cast<double>(ranks) / low) / std::log2(static_cast<double>(high) / low);
  }

  /// The time at this call's number of ranks, from calls that send equally many bytes.
  Prediction at_ranks(const std::vector<size_t>& own, double sent) const {
    std::map<int64_t, size_t> worlds;
    for (const size_t i : own)
      if (sent_bytes(calls_[i]) == sent) worlds.emplace(calls_[i].ranks, i);
    const auto above = worlds.lower_bound(call_.ranks);
    if (above == worlds.end()) return none("");
    if (above->first == call_.ranks) return of(PredictionKind::measured, calls_[above->second].us, {above->second});
    if (above == worlds.begin()) return none("");
    const auto below = std::prev(above);
    return of(
        PredictionKind::interpolated,
        std::lerp(calls_[below->second].us, calls_[above->second].us, between(below->first, above->first, call_.ranks)),
        {below->second, above->second});
  }

  Prediction within_fabric(const std::vector<size_t>& own) const {
    if (own.empty()) return none("no such call of this GPU was measured");
    if (call_.ranks > most_ranks(calls_, own)) return none("more ranks than were measured");
    const double sent = sent_bytes(call_);
    if (Prediction p = at_ranks(own, sent); p.us) {
      p.kind = PredictionKind::interpolated;
      return p;
    }
    const auto world = among(own, [&](const MeasuredCall& c) { return c.ranks == call_.ranks; });
    if (Prediction p = on(curve(world, sent_bytes), sent); p.us) return p;
    if (const auto line = line_at(own, call_.ranks)) return on_line(*line, own, sent);
    return other_direction(own, sent);
  }

  /// The line through the nearest measured calls with as many ranks.
  Prediction on_line(const Line& line, const std::vector<size_t>& own, double sent) const {
    const double plain = line.t0 + line.slope * sent;
    if (sent > kFarthest * line.most || sent < line.least / kFarthest || !(plain > 0))
      return none("too far from what was measured");
    Prediction p =
        of(sent < line.least || sent > line.most ? PredictionKind::extrapolated : PredictionKind::interpolated, plain,
           line.from);
    if (const auto anchor = nearest(own, sent)) {
      *p.us *= calls_[*anchor].us / (line.t0 + line.slope * sent_bytes(calls_[*anchor]));
      p.from.push_back(*anchor), p.low_us = p.high_us = *p.us;
    }
    return p;
  }
  /// The nearest call with this call's number of ranks.
  std::optional<size_t> nearest(const std::vector<size_t>& own, double sent) const {
    std::optional<size_t> best;
    const auto far = [&](size_t i) { return std::fabs(std::log2(sent_bytes(calls_[i]) / sent)); };
    for (const size_t i : own)
      if (calls_[i].ranks == call_.ranks && (!best || far(i) < far(*best))) best = i;
    return best;
  }

  /// A single message size gives no rate; the other direction on the same GPUs may, if the operation has one.
  Prediction other_direction(const std::vector<size_t>& own, double sent) const {
    if (!call_.is(CallKind::dispatch) && !call_.is(CallKind::combine))
      return none("no two sizes were measured with as many ranks");
    MeasuredCall back = calls_[own[0]];
    back.op = to_text(back.is(CallKind::dispatch) ? CallKind::combine : CallKind::dispatch);
    const auto reverse = find([&](const MeasuredCall& c) { return same_series(c, back); });
    const auto line = line_at(reverse, call_.ranks);
    if (!line || sent > kFarthest * line->most || sent < line->least / kFarthest)
      return none("too far from what was measured");
    double far = 0;
    Prediction p;
    for (const size_t i : own) {
      Prediction here = at_ranks(own, sent_bytes(calls_[i]));
      const double away = std::fabs(std::log2(sent_bytes(calls_[i]) / sent));
      if (!here.us || (p.us && away >= far)) continue;
      p = here, far = away, *p.us += (sent - sent_bytes(calls_[i])) * line->slope;
    }
    if (!p.us || !(*p.us > 0)) return none("no call of as many ranks to begin at");
    p.kind = PredictionKind::borrowed, p.low_us = p.high_us = *p.us;
    p.from.insert(p.from.end(), line->from.begin(), line->from.end());
    return p;
  }

  const std::vector<MeasuredCall>& calls_;
  const std::vector<uint8_t>& left_out_;
  const MeasuredCall& call_;
};

}  // namespace

std::optional<SummedRows> sum_over_rows(const RowCurve& curve, int64_t experts, std::span<const AlikeRows> rows) {
  SummedRows out;
  for (const AlikeRows& r : rows) {
    const double of_each = r.rows;
    if (r.rows == 0) continue;
    if (!curve.reaches(of_each)) return {};
    out.us += static_cast<double>(r.weights) * curve.us(of_each) / static_cast<double>(experts);
    out.within = out.within && curve.holds(of_each);
  }
  return out;
}

Calibration::Calibration(std::vector<MeasuredCall> calls) : calls_(std::move(calls)) {}

Prediction Calibration::predict_without(const MeasuredCall& call, const std::vector<uint8_t>& left_out) const {
  return Predictor(calls_, left_out, call).predict();
}

Prediction Calibration::predict(const MeasuredCall& call) const {
  Prediction p = predict_without(call, {});
  if (p.us) p.held_out = error_held_out(call, p.from);
  return p;
}

std::optional<double> Calibration::error_held_out(const MeasuredCall& call, std::span<const size_t> from) const {
  std::vector<size_t> near;
  // Only grouped calls show whether a sum over weights is right.
  const auto is_near = [&](const MeasuredCall& c) {
    return call.is_grouped()
               ? same_series(c, call)
               : std::any_of(from.begin(), from.end(), [&](size_t f) { return same_series(calls_[f], c); });
  };
  for (size_t i = 0; i < calls_.size(); ++i)
    if (is_near(calls_[i])) near.push_back(i);
  std::stable_sort(near.begin(), near.end(), [&](size_t a, size_t b) {
    return shape_distance(calls_[a], call) < shape_distance(calls_[b], call);
  });
  constexpr size_t kMostTried = 8;
  std::vector<uint8_t> left_out(calls_.size());
  for (size_t i = 0; i < std::min(near.size(), kMostTried); ++i) {
    const auto leave_out = [&](uint8_t out) {
      left_out[near[i]] = out;
      // A product that was timed several times is left out with all of its times: otherwise one would predict the
      // other.
      for (const size_t same : near)
        if (call.has_weights() && same_shape(calls_[same], calls_[near[i]])) left_out[same] = out;
    };
    leave_out(1);
    const Prediction p = predict_without(calls_[near[i]], left_out);
    leave_out(0);
    if (p.us) return *p.us / calls_[near[i]].us - 1;
  }
  return {};
}

std::vector<CallFit> Calibration::fits() const {
  std::vector<CallFit> out;
  std::vector<CallCurve> curves;
  for (size_t i = 0; i < calls_.size(); ++i) {
    const MeasuredCall& c = calls_[i];
    if (c.has_weights()) continue;
    const int64_t ranks = c.is_rank_experts() || c.leaves_node() ? 0 : c.ranks;
    size_t at = 0;
    while (at < out.size() && !(same_series(*out[at].like, c) && out[at].ranks == ranks)) ++at;
    if (at == out.size()) out.push_back({&c, ranks, 0, {}, {}, 0}), curves.emplace_back();
    curves[at].add(moved_bytes(c), c.us, i), ++out[at].rows;
  }
  std::vector<CallFit> fitted;
  for (size_t i = 0; i < out.size(); ++i) {
    const auto line = curves[i].line();
    if (!line) continue;
    out[i].t0_us = line->t0_us;
    if (line->us_per_byte > 0) out[i].bytes_per_s = 1e6 / line->us_per_byte;
    if (line->us_per_byte > 0 && line->t0_us > 0) out[i].half_bytes = line->t0_us / line->us_per_byte;
    fitted.push_back(out[i]);
  }
  return fitted;
}

std::vector<CallRows> Calibration::over_rows() const {
  std::vector<CallRows> out;
  std::vector<uint8_t> seen(calls_.size());
  for (size_t i = 0; i < calls_.size(); ++i) {
    if (!calls_[i].is_product() || seen[i]) continue;
    std::vector<size_t> series;
    for (size_t j = i; j < calls_.size(); ++j)
      if (same_series(calls_[i], calls_[j])) series.push_back(j), seen[j] = 1;
    if (auto curve = row_curve_of(calls_, series)) out.push_back({&calls_[i], std::move(*curve), std::ssize(series)});
  }
  return out;
}

}  // namespace stormcell
