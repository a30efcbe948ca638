#include "core/cell/margins.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/cell/decision.h"

namespace stormcell {

void MarginBins::add(double margin) {
  if (std::isnan(margin)) return;
  const double power = margin > 0 ? std::log2(margin) : kFirstPower;
  const auto bin = static_cast<size_t>(std::clamp((power - kFirstPower) * 4, 0.0, kBins - 1.0));
  ++count[bin];
}
int64_t MarginBins::total() const {
  int64_t sum = 0;
  for (const int64_t n : count) sum += n;
  return sum;
}
double MarginBins::begin_of(int32_t bin) { return std::exp2(kFirstPower + bin / 4.0); }
double MarginBins::quantile(double share) const {
  const double wanted = share * static_cast<double>(total());
  int64_t sum = 0;
  for (int32_t bin = 0; bin < kBins; ++bin) {
    sum += count[bin];
    if (sum > 0 && static_cast<double>(sum) >= wanted) return begin_of(bin + 1);
  }
  return 0;
}
int64_t MarginBins::up_to(double margin) const {
  int64_t sum = 0;
  for (int32_t bin = 0; bin < kBins && begin_of(bin + 1) <= margin * 1.0000001; ++bin) sum += count[bin];
  return sum;
}

float margin_of_cell(const DecisionRecord& d, int64_t i, int32_t branches, int32_t fan_out) {
  if (!d.margin.empty()) return d.margin[i];
  constexpr float kUnknown = std::numeric_limits<float>::quiet_NaN();
  if (d.scores.empty() || (d.score_columns > 0 && d.score_columns != branches)) return kUnknown;
  const std::span<const float> scores = d.scores.subspan(i * branches, branches);
  const std::span<const int32_t> chosen = d.choice.subspan(i * fan_out, fan_out);
  float last = std::numeric_limits<float>::infinity(), first = -last;
  for (int32_t b = 0; b < branches; ++b) {
    const bool is_chosen = std::any_of(chosen.begin(), chosen.end(), [b](int32_t c) { return branch_of(c) == b; });
    is_chosen ? last = std::min(last, scores[b]) : first = std::max(first, scores[b]);
  }
  // The scores alone do not tell the distance to the cut if a bias or groups of branches chose, too.
  return std::isfinite(last) && std::isfinite(first) && last >= first ? last - first : kUnknown;
}

void count_margins(const DecisionRecord& d, int32_t branches, int32_t fan_out, std::span<const uint8_t> mask,
                   MarginBins& bins) {
  if (d.margin.empty() && d.scores.empty()) return;
  const int64_t cells = std::ssize(d.choice) / fan_out;
  for (int64_t i = 0; i < cells; ++i) {
    const int64_t row = d.ancestor.empty() ? i : d.ancestor[i];
    if (mask.empty() || mask[row] != 0) bins.add(static_cast<double>(margin_of_cell(d, i, branches, fan_out)));
  }
}

}  // namespace stormcell
