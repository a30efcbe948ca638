#include "core/difference/weight_causes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "core/base/counted.h"
#include "core/base/quantile.h"

namespace stormcell {
namespace {

constexpr double kAlike = .02;       // twice what bf16 rounds, and a little
constexpr double kSameFactor = .04;  // spread of one factor
constexpr int64_t kFewest = 16;      // cells of a router

std::string figure_text(double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.3g", value);
  return text.data();
}

/// Weights of one cell on both sides, in the order of a's choices.
struct CellWeights {
  std::vector<int32_t> ids;
  std::vector<double> a, b;
  double sum_a = 0, sum_b = 0;
};

/// The cells of a pair whose choices are equal as sets.
std::vector<CellWeights> weights_of(const SampledChoices& sample, const SampledStack& stack, const RouterPair& pair) {
  std::vector<CellWeights> cells;
  for (int64_t c = 0; c < std::ssize(stack.cells); ++c) {
    const auto a = stack.a[pair.a].of(c), b = stack.b[pair.b].of(c);
    const auto wa = sample.store_a->weights(pair.a, stack.cells[c].cell_a),
               wb = sample.store_b->weights(pair.b, stack.cells[c].cell_b);
    if (a.empty() || wa.size() != a.size() || wb.size() != b.size() || a.size() != b.size()) continue;
    CellWeights cell;
    for (size_t i = 0; i < a.size(); ++i) {
      const auto at = std::find(b.begin(), b.end(), a[i]);
      if (at == b.end()) break;
      cell.ids.push_back(a[i]);
      cell.a.push_back(static_cast<double>(wa[i]));
      cell.b.push_back(static_cast<double>(wb[at - b.begin()]));
      cell.sum_a += cell.a.back(), cell.sum_b += cell.b.back();
    }
    if (cell.ids.size() == a.size() && cell.sum_a > 0 && cell.sum_b > 0) cells.push_back(std::move(cell));
  }
  return cells;
}

/// sum |b / sum b - f / sum f|: how far b is from being f up to a factor.
template <class F>
double unlike_up_to_factor(const std::vector<double>& a, const std::vector<double>& b, double sum_b, F f) {
  double sum = 0, distance = 0;
  for (const double x : a) sum += f(x);
  if (!(sum > 0) || !std::isfinite(sum)) return 2;
  for (size_t i = 0; i < a.size(); ++i) distance += std::fabs(b[i] / sum_b - f(a[i]) / sum);
  return distance;
}

double plain_distance(const CellWeights& w) {
  return unlike_up_to_factor(w.a, w.b, w.sum_b, [](double x) { return x; });
}

/// Weights of `from` are s(z) of a sigmoid up to a factor t of the cell, those of `to` e^z up to one. The best t is
/// searched: three choices or more show whether any fits.
double distance_of_odds(const std::vector<double>& from, const std::vector<double>& to, double sum_to) {
  const double largest = *std::max_element(from.begin(), from.end());
  // The largest score is 1 - e^-v: odds grow without limit as it nears 1.
  const auto distance_at = [&](double v) {
    const double t = (1 - std::exp(-v)) / largest;
    return unlike_up_to_factor(from, to, sum_to, [t](double x) { return x * t / (1 - x * t); });
  };
  constexpr int kSteps = 60;
  constexpr double kStep = .2;
  double best_v = kStep, best = distance_at(best_v);
  for (int step = 2; step <= kSteps; ++step)
    if (const double d = distance_at(step * kStep); d < best) best = d, best_v = step * kStep;
  for (double width = kStep / 2; width > kStep / 200; width /= 2)
    for (const double v : {best_v - width, best_v + width})
      if (const double d = v > 0 ? distance_at(v) : best; d < best) best = d, best_v = v;
  return best;
}

struct Spread {
  double middle = 0, width = 0;  ///< width: from the 10th to the 90th percentile, as a part of the middle
};
Spread spread_of(const std::vector<double>& values) {
  const double middle = median(values);
  return {middle, middle != 0 ? (quantile(values, .9) - quantile(values, .1)) / middle : 0};
}

/// How much of the variance within cells a constant of each branch explains, on cells that it was not fitted to.
template <class Value>
double explained_by_branch(const std::vector<CellWeights>& cells, Value value) {
  std::map<int32_t, std::pair<double, int64_t>> sums;
  std::vector<double> values;
  const auto centred = [&](const CellWeights& w) {
    values.clear();
    double mean = 0;
    for (size_t i = 0; i < w.a.size(); ++i) values.push_back(value(w, i)), mean += values.back();
    for (double& v : values) v -= mean / static_cast<double>(w.a.size());
  };
  for (size_t c = 0; c < cells.size(); c += 2) {
    centred(cells[c]);
    for (size_t i = 0; i < values.size(); ++i) {
      auto& [sum, n] = sums[cells[c].ids[i]];
      sum += values[i], ++n;
    }
  }
  double all = 0, rest = 0;
  for (size_t c = 1; c < cells.size(); c += 2) {
    centred(cells[c]);
    double mean = 0;
    std::vector<double> constants;
    for (size_t i = 0; i < values.size(); ++i) {
      const auto at = sums.find(cells[c].ids[i]);
      constants.push_back(at == sums.end() ? 0 : at->second.first / static_cast<double>(at->second.second));
      mean += constants.back();
    }
    mean /= static_cast<double>(std::max<size_t>(values.size(), 1));
    for (size_t i = 0; i < values.size(); ++i) {
      const double left = values[i] - (constants[i] - mean);
      all += values[i] * values[i], rest += left * left;
    }
  }
  return all > 0 ? 1 - rest / all : 0;
}

/// Over at most 400 cells, evenly spread.
template <class Distance>
double median_over(const std::vector<CellWeights>& cells, Distance distance) {
  std::vector<double> values;
  const size_t stride = cells.size() / 400 + 1;
  for (size_t c = 0; c < cells.size(); c += stride) values.push_back(distance(cells[c]));
  return median(std::move(values));
}

std::optional<FoundCause> cause_of_factor(const std::vector<CellWeights>& cells) {
  std::vector<double> factors, sums_a, sums_b;
  for (const CellWeights& w : cells)
    factors.push_back(w.sum_b / w.sum_a), sums_a.push_back(w.sum_a), sums_b.push_back(w.sum_b);
  const Spread factor = spread_of(factors), a = spread_of(sums_a), b = spread_of(sums_b);
  const auto found = [](DiffCause cause, std::string evidence) { return FoundCause{cause, 1, std::move(evidence)}; };
  if (factor.width <= kSameFactor) {
    if (std::fabs(factor.middle - 1) <= kSameFactor) return std::nullopt;
    return found(DiffCause::scale_lost, "weights of b are " + figure_text(factor.middle) + " times those of a");
  }
  const bool constant_a = a.width <= kAlike, constant_b = b.width <= kAlike;
  if (constant_a && !constant_b)
    return found(DiffCause::not_renormalised, "weights of a cell sum up to " + figure_text(a.middle) + " in a and to " +
                                                  figure_text(b.middle) + " (middle) in b, in the same proportions");
  if (constant_b && !constant_a)
    return found(DiffCause::softmax_order,
                 "weights of a cell sum up to " + figure_text(b.middle) + " in b and to " + figure_text(a.middle) +
                     " (middle) in a, in the same proportions: b takes the softmax over the chosen alone, or "
                     "renormalises");
  return std::nullopt;
}

std::optional<FoundCause> cause_of_weights(const std::vector<CellWeights>& cells) {
  if (std::ssize(cells) < kFewest) return std::nullopt;
  const double plain = median_over(cells, plain_distance);
  if (plain <= kAlike) return cause_of_factor(cells);
  const auto fits = [&](double distance) { return distance <= kAlike && distance * 3 <= plain; };
  const auto of_rule = [](const std::string& rule) {
    return FoundCause{DiffCause::softmax_order, 1, "weights of b are those of a " + rule};
  };
  const auto exponential = [](double x) { return std::exp(x); };
  if (fits(median_over(cells,
                       [&](const CellWeights& w) { return unlike_up_to_factor(w.a, w.b, w.sum_b, exponential); })))
    return of_rule("with another softmax over them");
  if (fits(median_over(cells,
                       [&](const CellWeights& w) { return unlike_up_to_factor(w.b, w.a, w.sum_a, exponential); })))
    return of_rule("before a softmax over them");
  if (cells[0].ids.size() >= 3) {
    if (fits(median_over(cells, [](const CellWeights& w) { return distance_of_odds(w.a, w.b, w.sum_b); })))
      return of_rule("with softmax in place of sigmoid");
    if (fits(median_over(cells, [](const CellWeights& w) { return distance_of_odds(w.b, w.a, w.sum_a); })))
      return of_rule("with sigmoid in place of softmax");
  }
  if (cells[0].ids.size() < 2) return std::nullopt;
  const double constant = std::max(
      {explained_by_branch(cells, [](const CellWeights& w, size_t i) { return std::log(w.b[i] / w.a[i]); }),
       explained_by_branch(cells, [](const CellWeights& w, size_t i) { return w.b[i] - w.a[i]; }),
       explained_by_branch(cells, [](const CellWeights& w, size_t i) { return w.b[i] / w.sum_b - w.a[i] / w.sum_a; })});
  constexpr double kMostOfIt = .5;
  if (constant < kMostOfIt) return std::nullopt;
  return FoundCause{DiffCause::bias_in_weights, constant,
                    "a constant of each branch explains " + figure_text(constant * 100) +
                        " % of what differs within cells, on cells that it was not fitted to"};
}

/// Whether all but a few of the values have no digits beyond those of a format with so many bits of mantissa.
bool is_on_grid(std::span<const float> values, int32_t dropped_bits) {
  return std::all_of(values.begin(), values.end(),
                     [&](float v) { return (std::bit_cast<uint32_t>(v) & ((uint32_t{1} << dropped_bits) - 1)) == 0; });
}

float rounded(float value, int32_t dropped_bits) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t half = uint32_t{1} << (dropped_bits - 1), odd = (bits >> dropped_bits) & 1;
  return std::bit_cast<float>((bits + half - 1 + odd) & ~((uint32_t{1} << dropped_bits) - 1));
}

struct ShortFormat {
  const char* name;
  int32_t dropped_bits;  ///< of the mantissa of f32
};
constexpr ShortFormat kShort[] = {{"bf16", 16}, {"f16", 13}};

/// Whether the chosen have the largest scores, read with so few digits.
bool chooses_largest(std::span<const float> scores, std::span<const int32_t> ids, int32_t dropped_bits) {
  float last = std::numeric_limits<float>::infinity(), first = -last;
  for (int32_t b = 0; b < std::ssize(scores); ++b) {
    const float score = dropped_bits > 0 ? rounded(scores[b], dropped_bits) : scores[b];
    std::find(ids.begin(), ids.end(), b) != ids.end() ? last = std::min(last, score) : first = std::max(first, score);
  }
  return last >= first;
}

}  // namespace

WeightFigures compare_weights(const SampledChoices& sample) {
  WeightFigures figures;
  std::map<DiffCause, std::pair<FoundCause, int64_t>> found;
  std::vector<double> differences, unexplained;
  int64_t routers = 0;
  for (const SampledStack& stack : sample.stacks)
    for (const RouterPair& pair : stack.pairs) {
      const std::vector<CellWeights> cells = weights_of(sample, stack, pair);
      if (cells.empty()) continue;
      ++routers;
      for (const CellWeights& w : cells) {
        double difference = 0;
        for (size_t i = 0; i < w.a.size(); ++i) difference += std::fabs(w.b[i] - w.a[i]);
        differences.push_back(difference / w.sum_a), unexplained.push_back(plain_distance(w));
        figures.mean_sum_a += w.sum_a, figures.mean_sum_b += w.sum_b;
      }
      if (std::optional<FoundCause> cause = cause_of_weights(cells)) {
        auto& [kept, count] = found[cause->cause];
        if (count++ == 0) kept = *std::move(cause);
      }
    }
  figures.compared = std::ssize(differences);
  if (figures.compared == 0) return figures;
  figures.mean_sum_a /= static_cast<double>(figures.compared),
      figures.mean_sum_b /= static_cast<double>(figures.compared);
  figures.median_difference = median(std::move(differences));
  figures.median_unexplained = median(std::move(unexplained));
  std::vector<std::pair<int64_t, FoundCause>> order;
  for (auto& [cause, counted_cause] : found) {
    FoundCause& one = counted_cause.first;
    one.evidence =
        "in " + std::to_string(counted_cause.second) + " of " + counted(routers, "router") + " " + one.evidence;
    order.emplace_back(counted_cause.second, std::move(one));
  }
  std::stable_sort(order.begin(), order.end(), [](const auto& x, const auto& y) { return x.first > y.first; });
  for (auto& [count, cause] : order) figures.causes.push_back(std::move(cause));
  return figures;
}

std::optional<FoundCause> find_router_precision(const SampledChoices& sample) {
  int64_t cells = 0;
  std::array<int64_t, 2> grid_a{}, grid_b{};
  // By side and format: only rounded scores give the choices; neither give them, where a bias or groups choose.
  std::array<std::array<int64_t, 2>, 2> rounds{}, unknown{};
  for (const SampledStack& stack : sample.stacks)
    for (const RouterPair& pair : stack.pairs)
      for (int64_t c = 0; c < std::ssize(stack.cells); ++c) {
        const auto a = sample.store_a->scores(pair.a, stack.cells[c].cell_a),
                   b = sample.store_b->scores(pair.b, stack.cells[c].cell_b);
        if (a.empty() || b.empty()) continue;
        ++cells;
        for (size_t f = 0; f < std::size(kShort); ++f) {
          const int32_t bits = kShort[f].dropped_bits;
          grid_a[f] += is_on_grid(a, bits), grid_b[f] += is_on_grid(b, bits);
          const auto look = [&](std::span<const float> scores, std::span<const int32_t> ids, int32_t branches,
                                size_t side) {
            if (std::ssize(scores) != branches || ids.empty() || chooses_largest(scores, ids, 0)) return;
            ++(chooses_largest(scores, ids, bits) ? rounds : unknown)[side][f];
          };
          look(a, stack.a[pair.a].of(c), sample.store_a->router(pair.a).branches, 0);
          look(b, stack.b[pair.b].of(c), sample.store_b->router(pair.b).branches, 1);
        }
      }
  if (cells < kFewest) return std::nullopt;
  const auto mostly = [&](int64_t n) { return n * 10 >= cells * 9; };
  for (size_t f = 0; f < std::size(kShort); ++f)
    if (mostly(grid_a[f]) != mostly(grid_b[f]))
      return FoundCause{DiffCause::router_precision, 1,
                        "scores of " + std::string(mostly(grid_b[f]) ? "b" : "a") + " have no more digits than " +
                            kShort[f].name + ", those of the other recording have"};
  for (size_t f = 0; f < std::size(kShort); ++f)
    for (const size_t side : {size_t{1}, size_t{0}})
      if (rounds[side][f] >= 3 && unknown[side][f] == 0 && rounds[1 - side][f] == 0)
        return FoundCause{DiffCause::router_precision, 1,
                          counted(rounds[side][f], "choice") + " of " + (side == 1 ? "b" : "a") +
                              " follow from its scores only after rounding to " + kShort[f].name};
  return std::nullopt;
}

std::optional<FoundCause> find_other_scores(const SampledChoices& sample) {
  // Scores of all branches, as weights are of the chosen: the same rules relate them.
  std::map<DiffCause, int64_t> found;
  FoundCause first;
  for (const SampledStack& stack : sample.stacks)
    for (const RouterPair& pair : stack.pairs) {
      std::vector<CellWeights> cells;
      for (int64_t c = 0; c < std::ssize(stack.cells); ++c) {
        const auto a = sample.store_a->scores(pair.a, stack.cells[c].cell_a),
                   b = sample.store_b->scores(pair.b, stack.cells[c].cell_b);
        if (a.empty() || a.size() != b.size()) continue;
        // Logits may be negative, and are no weights.
        if (std::any_of(a.begin(), a.end(), [](float v) { return !(v > 0 && v < 1); }) ||
            std::any_of(b.begin(), b.end(), [](float v) { return !(v > 0 && v < 1); }))
          continue;
        CellWeights cell;
        for (size_t i = 0; i < a.size(); ++i) {
          cell.ids.push_back(static_cast<int32_t>(i));
          cell.a.push_back(static_cast<double>(a[i])), cell.b.push_back(static_cast<double>(b[i]));
          cell.sum_a += cell.a.back(), cell.sum_b += cell.b.back();
        }
        cells.push_back(std::move(cell));
      }
      if (std::optional<FoundCause> cause = cause_of_weights(cells);
          cause && cause->cause == DiffCause::softmax_order && found[cause->cause]++ == 0)
        first = *std::move(cause);
    }
  if (found.empty()) return std::nullopt;
  first.evidence = "scores: " + first.evidence;
  return first;
}

}  // namespace stormcell
