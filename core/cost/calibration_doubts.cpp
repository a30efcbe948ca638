#include <algorithm>
#include <cmath>
#include <map>

#include "core/cost/calibration.h"

namespace stormcell {
namespace {

/// A call this far off what its neighbours say is an outlier.
constexpr double kFarOff = 0.25;
/// Fewest equal times of two tables that raise a doubt, if these are also half of their shared shapes: chance gives
/// few.
constexpr size_t kFewestEqual = 2;

std::string named(const MeasuredCall& c) {
  const std::string size = c.has_weights() ? std::to_string(c.rows) + " rows" : std::to_string(c.ranks) + " ranks";
  return c.op + " of " + c.gpu + ", " + size + " (" + c.id + ")";
}

std::string percent(double share) { return std::to_string(static_cast<int>(std::lround(100 * share))) + " %"; }

std::string listed(const std::vector<std::string>& ids) {
  constexpr size_t kShown = 5;
  std::string list;
  for (size_t i = 0; i < std::min(ids.size(), kShown); ++i) list += (i ? ", " : "") + ids[i];
  return list + (ids.size() > kShown ? " and " + std::to_string(ids.size() - kShown) + " more" : "");
}

void add_one_table_under_two_names(const std::vector<MeasuredCall>& calls, std::vector<std::string>& out) {
  struct Shared {
    size_t shapes = 0;
    std::vector<std::string> equal;
  };
  std::map<std::pair<std::string, std::string>, Shared> pairs;
  for (size_t i = 0; i < calls.size(); ++i)
    for (size_t j = i + 1; j < calls.size(); ++j) {
      const MeasuredCall &a = calls[i], &b = calls[j];
      if (a.gpu == b.gpu || a.op != b.op || a.mode != b.mode || a.dtype != b.dtype || !same_shape(a, b)) continue;
      Shared& s = pairs[std::minmax(a.gpu, b.gpu)];
      ++s.shapes;
      if (a.us == b.us) s.equal.push_back(a.id + " = " + b.id);
    }
  for (const auto& [gpus, s] : pairs)
    if (s.equal.size() >= kFewestEqual && 2 * s.equal.size() >= s.shapes)
      out.push_back(gpus.first + " and " + gpus.second + " have the same times (" + listed(s.equal) +
                    "): one table under two names, so one of them was not measured");
}

/// Neighbours along one thing: more of it with all else equal should take no less time.
void add_falling_times(const std::vector<MeasuredCall>& calls, std::vector<std::string>& out) {
  constexpr size_t kMost = 5;  // of sweeps over many small sizes jitter makes dozens
  size_t found = 0;
  for (const MeasuredCall& a : calls)
    for (const MeasuredCall& b : calls) {
      if (a.is_grouped() || !same_series(a, b) || !(b.us < a.us)) continue;  // more rows of fewer weights may take less
      const bool by_bytes = a.ranks == b.ranks && a.nodes == b.nodes && moved_bytes(a) < moved_bytes(b);
      const bool by_ranks = !a.is_rank_experts() && a.ranks < b.ranks && sent_bytes(a) == sent_bytes(b);
      const bool by_weights = a.is_rank_experts() && a.ranks > b.ranks && moved_bytes(a) < moved_bytes(b);
      if (!by_bytes && !by_ranks && !by_weights) continue;
      const bool neighbours = std::none_of(calls.begin(), calls.end(), [&](const MeasuredCall& c) {
        return same_series(a, c) && (by_ranks ? sent_bytes(c) == sent_bytes(a) && a.ranks < c.ranks && c.ranks < b.ranks
                                              : moved_bytes(a) < moved_bytes(c) && moved_bytes(c) < moved_bytes(b));
      });
      if (neighbours && ++found <= kMost)
        out.push_back(named(b) + " is faster than " + a.id + " with " +
                      (by_ranks         ? "fewer ranks"
                       : a.is_product() ? "fewer rows"
                                        : "fewer bytes") +
                      ": times fall where there is more to do");
    }
  if (found > kMost)
    out.push_back("times fall where there is more to do in " + std::to_string(found - kMost) + " more pairs of calls");
}

/// Adds the worst call of each series, then the next without it: a wrong call makes its neighbours look wrong. Calls
/// over rows are excluded, since a curve may bend: wrong ones there show as falling times.
void add_outliers(const Calibration& calibration, std::vector<std::string>& out) {
  const std::vector<MeasuredCall>& calls = calibration.calls();
  constexpr int kMost = 5;
  std::vector<uint8_t> left_out(calls.size());
  // A grouped call that was timed several times is left out with all of its times: otherwise one would predict the
  // other.
  const auto without = [&](size_t i) {
    std::vector<uint8_t> out = left_out;
    for (size_t j = 0; j < calls.size(); ++j)
      if (j == i || (calls[i].is_grouped() && same_series(calls[i], calls[j]) && same_shape(calls[i], calls[j])))
        out[j] = 1;
    return out;
  };
  for (int found = 0; found < kMost; ++found) {
    size_t worst = calls.size();
    double off = std::log(1 + kFarOff), share = 0;
    for (size_t i = 0; i < calls.size(); ++i) {
      if (left_out[i] || calls[i].is_product()) continue;
      const Prediction p = calibration.predict_without(calls[i], without(i));
      if (p.kind != PredictionKind::interpolated || std::fabs(std::log(*p.us / calls[i].us)) <= off) continue;
      off = std::fabs(std::log(*p.us / calls[i].us)), worst = i, share = calls[i].us / *p.us - 1;
    }
    if (worst == calls.size()) return;
    left_out = without(worst);
    out.push_back(named(calls[worst]) + " is off what its neighbours say by " + (share > 0 ? "+" : "") +
                  percent(share));
  }
}

void add_nameless(const std::vector<MeasuredCall>& calls, std::vector<std::string>& out) {
  std::vector<std::string> ids;
  for (const MeasuredCall& c : calls)
    if (c.source.empty()) ids.push_back(c.id);
  if (!ids.empty())
    out.push_back(listed(ids) + (ids.size() == 1 ? " says" : " say") + " no source, so the times cannot be checked");
}

}  // namespace

std::vector<std::string> doubts_about(const Calibration& calibration) {
  std::vector<std::string> out;
  add_one_table_under_two_names(calibration.calls(), out);
  add_falling_times(calibration.calls(), out);
  add_outliers(calibration, out);
  add_nameless(calibration.calls(), out);
  return out;
}

}  // namespace stormcell
