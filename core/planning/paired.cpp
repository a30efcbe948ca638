#include "core/planning/paired.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <unordered_map>

#include "core/base/student_t.h"
#include "core/placement/traffic.h"
#include "core/planning/layout_figures.h"

namespace stormcell {
namespace {

constexpr size_t kStepsOfBlock = 8;
constexpr int kDraws = 400;

/// Sums of one part under one placement, from which its figures are made.
struct PartSums {
  std::vector<double> of_rank;  // [layers, ranks] loads
  TrafficSums traffic;
};

PartSums sums_of(const Placement& p, const DataSlice& data) {
  PartSums out;
  for (const std::vector<double>& layer : rank_loads(p, data))
    out.of_rank.insert(out.of_rank.end(), layer.begin(), layer.end());
  if (data.routes) out.traffic = sum_traffic(*data.routes, data.tokens, p, data.way);
  return out;
}

struct Figures {
  double imbalance = 0;
  Traffic traffic;
};

Figures figures_of(const std::vector<PartSums>& parts, const std::vector<size_t>& drawn, size_t ranks) {
  std::vector<double> loads(parts[0].of_rank.size());
  TrafficSums sums;
  for (const size_t i : drawn) {
    for (size_t r = 0; r < loads.size(); ++r) loads[r] += parts[i].of_rank[r];
    const TrafficSums& t = parts[i].traffic;
    sums.same += t.same, sums.pairs += t.pairs, sums.distinct += t.distinct, sums.visits += t.visits;
  }
  Figures f{0, sums.traffic()};
  const size_t layers = loads.size() / ranks;
  for (size_t l = 0; l < layers; ++l)
    f.imbalance += imbalance_of_ranks(std::span(loads).subspan(l * ranks, ranks)) / static_cast<double>(layers);
  return f;
}

}  // namespace

size_t block_of_step(size_t step, size_t steps) {
  return std::min(step / kStepsOfBlock, std::max(steps / kStepsOfBlock, size_t{1}) - 1);
}

PairedDifference interval_of_parts(size_t parts, const std::function<double(const std::vector<size_t>&)>& difference) {
  std::mt19937 random(1);
  std::vector<size_t> drawn(parts);
  std::iota(drawn.begin(), drawn.end(), size_t{0});
  const double value = difference(drawn);
  double sum = 0, squares = 0;  // how far draws are off: largest loads of parts drawn again lean, and the interval is
                                // about the value
  for (int d = 0; d < kDraws; ++d) {
    for (size_t& i : drawn) i = random() % parts;
    const double off = difference(drawn) - value;
    sum += off, squares += off * off;
  }
  // Parts drawn again vary by n - 1 where the data varies by n.
  const double n = parts;
  const double variance = std::max(squares / kDraws - sum / kDraws * sum / kDraws, 0.) * n / (n - 1);
  const double wide = student_t_95(n - 1) * std::sqrt(variance);
  return {value, value - wide, value + wide};
}

PairedBootstrap::PairedBootstrap(const PlaceTask& task, const Progress& progress) : task_(task), progress_(progress) {
  const bool by_request = task.routes && task.routes->parts.requests_fit > 0;
  parts_.unit = by_request ? "requests" : "blocks of " + std::to_string(kStepsOfBlock) + " steps";
  if (task.routes) {
    const TokenRoutes& routes = task.routes->routes;
    std::map<int64_t, std::vector<size_t>> parts;
    const std::vector<size_t>& held_out = task.routes->parts.held_out;
    const auto begins_step = [&](size_t i) {
      return i == 0 || routes.tokens[held_out[i]].step != routes.tokens[held_out[i - 1]].step;
    };
    size_t steps = 0, begun = 0;
    for (size_t i = 0; i < held_out.size(); ++i) steps += begins_step(i);
    for (size_t i = 0; i < held_out.size(); ++i) {
      begun += begins_step(i);
      const int64_t part =
          by_request ? routes.tokens[held_out[i]].item : static_cast<int64_t>(block_of_step(begun - 1, steps));
      parts[part].push_back(held_out[i]);
    }
    for (auto& [part, tokens] : parts) {
      loads_.push_back(loads_of_tokens(routes, tokens));
      tokens_.push_back(std::move(tokens));
    }
  } else if (task.loads.held_out_units ==
             std::ssize(task.loads.held_out_steps)) {  // else these do not follow each other
    for (size_t s = 0; s < task.loads.held_out_steps.size(); ++s) {
      if (block_of_step(s, task.loads.held_out_steps.size()) == loads_.size())
        loads_.emplace_back(task.loads.held_out.size(), std::vector<double>(task.branches));
      for (size_t l = 0; l < loads_.back().size(); ++l)
        for (size_t b = 0; b < loads_.back()[l].size(); ++b) loads_.back()[l][b] += task.loads.held_out_steps[s][l][b];
    }
  }
  parts_.count = std::ssize(loads_);
}

PairedFigures PairedBootstrap::compare(LayoutRole one, const Placement& a, LayoutRole other, const Placement& b) const {
  PairedFigures out{one, other, {}, {}, {}, {}};
  const TokenRoutes* routes = task_.routes ? &task_.routes->routes : nullptr;
  const size_t ranks = a.ranks;
  std::vector<PartSums> of_a, of_b;
  for (size_t i = 0; i < loads_.size(); ++i) {
    progress_.report("comparing", static_cast<int64_t>(i), std::ssize(loads_));
    const std::span<const size_t> tokens = routes ? std::span<const size_t>(tokens_[i]) : std::span<const size_t>();
    const DataSlice data{loads_[i], routes, tokens, task_.way()};
    of_a.push_back(sums_of(a, data)), of_b.push_back(sums_of(b, data));
  }
  const auto difference = [&](const std::function<double(const Figures&)>& figure) {
    return interval_of_parts(loads_.size(), [&](const std::vector<size_t>& drawn) {
      progress_.cancel.check();
      return figure(figures_of(of_a, drawn, ranks)) - figure(figures_of(of_b, drawn, ranks));
    });
  };
  out.imbalance = difference([](const Figures& f) { return f.imbalance; });
  if (routes) {
    out.cross_pairs = difference([](const Figures& f) { return f.traffic.cross_pairs; });
    out.ranks_per_token = difference([](const Figures& f) { return f.traffic.ranks_per_token; });
  }
  out.objective_ms = compare_steps(a, b);
  return out;
}

std::vector<size_t> PairedBootstrap::parts_of_steps() const {
  if (!task_.objective || task_.objective->is_drawn()) return {};
  const size_t steps = task_.objective->count(DataPart::held_out);
  std::vector<size_t> parts;
  if (!task_.routes) {
    for (size_t s = 0; s < steps; ++s) parts.push_back(block_of_step(s, steps));
    return parts;
  }
  std::unordered_map<size_t, size_t> part_of;  // by token
  for (size_t i = 0; i < tokens_.size(); ++i)
    for (const size_t t : tokens_[i]) part_of.emplace(t, i);
  for (const std::vector<size_t>& step : task_.objective->tokens(DataPart::held_out)) {
    const size_t part = part_of.at(step[0]);
    if (std::any_of(step.begin(), step.end(), [&](size_t t) { return part_of.at(t) != part; })) return {};
    parts.push_back(part);
  }
  return parts;
}

std::optional<PairedDifference> PairedBootstrap::compare_steps(const Placement& a, const Placement& b) const {
  const std::vector<size_t> part = parts_of_steps();
  if (part.empty() || task_.objective->by_p95()) return {};  // it is the interval of a mean
  const std::vector<double> a_s = task_.objective->step_s(a, DataPart::held_out, progress_),
                            b_s = task_.objective->step_s(b, DataPart::held_out, progress_);
  std::vector<double> seconds(loads_.size()), steps(loads_.size());
  for (size_t s = 0; s < a_s.size(); ++s) seconds[part[s]] += a_s[s] - b_s[s], ++steps[part[s]];
  const double moves_ms =
      task_.move_ms * static_cast<double>(moved_slots(task_.before, a) - moved_slots(task_.before, b));
  return interval_of_parts(seconds.size(), [&](const std::vector<size_t>& drawn) {
    double sum = 0, count = 0;
    for (const size_t i : drawn) sum += seconds[i], count += steps[i];
    // Very many steps are not all costed, and a draw may hit none of the costed ones.
    return (count > 0 ? 1e3 * sum / count : 0) + moves_ms;
  });
}

}  // namespace stormcell
