#include "simulator/network/filling.h"

#include <algorithm>
#include <limits>

namespace stormcell {
namespace {

/// Messages that end so close to the first one end with it: rounding separates equal times.
constexpr double kSameEnd = 1e-12;
constexpr double kNever = std::numeric_limits<double>::infinity();

/// Rates at one moment after the other, as flows end.
class FairRates {
 public:
  FairRates(std::span<const Link> links, std::span<const NetworkFlow> flows)
      : links_(links),
        flows_(flows),
        rates_(flows.size()),
        of_link_(links.size()),
        left_(links.size()),
        rising_(links.size()) {
    for (size_t f = 0; f < flows.size(); ++f)
      for (const size_t l : flows[f].links) of_link_[l].push_back(f);
  }

  /// [flows] of those that wait; the others' are 0.
  const std::vector<double>& of(std::span<const size_t> waiting) {
    std::fill(rates_.begin(), rates_.end(), 0.);
    std::fill(rising_.begin(), rising_.end(), size_t{0});
    rises_.assign(flows_.size(), false);
    for (const size_t f : waiting) {
      rises_[f] = true;
      for (const size_t l : flows_[f].links) ++rising_[l];
    }
    for (size_t l = 0; l < links_.size(); ++l) left_[l] = links_[l].per_s;
    level_ = 0;
    for (size_t open = waiting.size(); open > 0;) open -= fill_one_link();
    return rates_;
  }

 private:
  /// All rates rise alike until a link is full. Flows that it stopped.
  size_t fill_one_link() {
    double rise = kNever;
    size_t full = 0;
    for (size_t l = 0; l < links_.size(); ++l)
      if (rising_[l] > 0 && left_[l] < rise * static_cast<double>(rising_[l]))
        rise = left_[l] / static_cast<double>(rising_[l]), full = l;
    level_ += rise;
    for (size_t l = 0; l < links_.size(); ++l)
      left_[l] = std::max(left_[l] - rise * static_cast<double>(rising_[l]), 0.);
    size_t stopped = 0;
    // Another link that is full now stops its flows in the next round, with a rise of 0.
    for (const size_t f : of_link_[full]) {
      if (!rises_[f]) continue;
      rises_[f] = false, rates_[f] = level_;
      ++stopped;
      for (const size_t l : flows_[f].links) --rising_[l];
    }
    return stopped;
  }

  std::span<const Link> links_;
  std::span<const NetworkFlow> flows_;
  std::vector<double> rates_;
  std::vector<std::vector<size_t>> of_link_;
  // State at the current moment.
  std::vector<double> left_;    // [links] rate that is still free
  std::vector<size_t> rising_;  // [links] flows on them whose rates still rise
  std::vector<bool> rises_;     // [flows]
  double level_ = 0;
};

}  // namespace

std::vector<double> fair_rates(std::span<const Link> links, std::span<const NetworkFlow> flows,
                               std::span<const size_t> waiting) {
  return FairRates(links, flows).of(waiting);
}

Filling fill(std::span<const Link> links, std::span<const NetworkFlow> flows, const Progress& progress) {
  Filling out;
  out.end_s.resize(flows.size()), out.link_load.resize(links.size());
  std::vector<double> left;
  std::vector<size_t> waiting;
  for (size_t f = 0; f < flows.size(); ++f) {
    left.push_back(flows[f].load);
    if (flows[f].load > 0) waiting.push_back(f);
  }
  FairRates fair(links, flows);
  const auto all = std::ssize(waiting);
  while (!waiting.empty()) {
    progress.report("filling links", all - std::ssize(waiting), all);
    const std::vector<double>& rates = fair.of(waiting);
    double next = kNever;
    for (const size_t f : waiting) next = std::min(next, left[f] / rates[f]);
    FillingInterval interval{out.seconds, out.seconds + next, std::vector<double>(links.size())};
    for (const size_t f : waiting)
      for (const size_t l : flows[f].links) {
        interval.link_share[l] += rates[f] / links[l].per_s;
        out.link_load[l] += rates[f] * next;
      }
    out.seconds = interval.end_s;
    out.intervals.push_back(std::move(interval));
    const auto ends = [&](size_t f) {
      const bool last = left[f] / rates[f] <= next * (1 + kSameEnd);
      left[f] -= rates[f] * next;
      if (last) out.end_s[f] = out.seconds;
      return last;
    };
    waiting.erase(std::remove_if(waiting.begin(), waiting.end(), ends), waiting.end());
  }
  return out;
}

}  // namespace stormcell
