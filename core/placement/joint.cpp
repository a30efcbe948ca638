#include "core/placement/joint.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/placement/traffic.h"

namespace stormcell {
namespace {

class Search {
 public:
  Search(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& start, const JointOptions& options)
      : placement_(start),
        options_(options),
        random_(options.seed),
        layers_(start.layers.size()),
        branches_(static_cast<size_t>(start.branches)),
        ranks_(static_cast<size_t>(start.ranks)),
        load_(loads_of_tokens(routes, tokens)) {
    count_pairs(routes, tokens);
    find_ranks();
    find_caps();
    sum_up();
  }

  Placement run(const Progress& progress) {
    // Pairs are counts, so a swap gains or loses a few: from where most are taken to where none is that loses.
    constexpr double kHot = 3, kCold = 0.1;
    constexpr int32_t kRelabelEvery = 10;
    for (int32_t sweep = 0; sweep < options_.sweeps; ++sweep) {
      progress.report("placing", sweep, options_.sweeps);
      const double done = static_cast<double>(sweep) / std::max(options_.sweeps - 1, 1);
      const double heat = sweep + 1 == options_.sweeps ? 0 : kHot * std::pow(kCold / kHot, done);
      for (size_t l = 0; l < layers_; ++l)
        for (size_t i = 0; i < branches_; ++i) propose(l, i, random_() % branches_, heat);
      if (sweep % kRelabelEvery == 0) relabel();
    }
    relabel();
    while (descend()) progress.cancel.check();
    return placement_;
  }

 private:
  float& together(size_t l, size_t a, size_t b) { return together_[(l * branches_ + a) * branches_ + b]; }
  /// Of layer l - 1 to layer l.
  float& follows(size_t l, size_t a, size_t b) { return follows_[(l * branches_ + a) * branches_ + b]; }
  float& sum(size_t l, size_t b, size_t rank) { return sums_[(l * branches_ + b) * ranks_ + rank]; }

  void count_pairs(const TokenRoutes& routes, std::span<const size_t> tokens) {
    together_.assign(layers_ * branches_ * branches_, 0), follows_ = together_;
    const auto weight = static_cast<float>(options_.together);
    for (const size_t t : tokens)
      for (size_t l = 0; l < layers_; ++l)
        for (const int32_t a : routes.at(t, static_cast<int32_t>(l))) {
          if (a < 0) continue;
          for (const int32_t b : routes.at(t, static_cast<int32_t>(l)))
            if (b >= 0 && a != b) together(l, static_cast<size_t>(a), static_cast<size_t>(b)) += weight;
          if (l + 1 == layers_) continue;
          for (const int32_t b : routes.at(t, static_cast<int32_t>(l + 1)))
            if (b >= 0) ++follows(l + 1, static_cast<size_t>(a), static_cast<size_t>(b));
        }
  }

  void find_ranks() {
    const auto each = static_cast<size_t>(placement_.slots_of_rank());
    slot_.assign(layers_, std::vector<size_t>(branches_));
    rank_ = slot_;
    of_rank_.assign(layers_, std::vector<double>(ranks_));
    for (size_t l = 0; l < layers_; ++l) {
      for (size_t s = 0; s < placement_.layers[l].size(); ++s) {
        const auto b = static_cast<size_t>(placement_.layers[l][s]);
        slot_[l][b] = s, rank_[l][b] = s / each;
        of_rank_[l][s / each] += load_[l][b];
      }
    }
  }

  void find_caps() {
    for (const std::vector<double>& loads : of_rank_) {
      double all = 0, most = 0;
      for (const double load : loads) all += load, most = std::max(most, load);
      cap_.push_back(std::max(most, all / static_cast<double>(ranks_) * (1 + options_.slack)));
    }
  }

  // Layers that are right in themselves may hold each other's ranks crossed, which no swap of two branches mends. Two ranks changed in all
  // layers from one on leave everything as it is but the pairs across that border.
  void relabel() {
    const auto each = static_cast<std::ptrdiff_t>(placement_.slots_of_rank());
    bool changed = false;
    for (size_t l = 1; l < layers_; ++l) {
      std::vector<double> between(ranks_ * ranks_);
      for (size_t a = 0; a < branches_; ++a)
        for (size_t b = 0; b < branches_; ++b) between[rank_[l - 1][a] * ranks_ + rank_[l][b]] += follows(l, a, b);
      const auto at = [&](size_t x, size_t y) -> double& { return between[x * ranks_ + y]; };
      for (size_t x = 0; x < ranks_; ++x)
        for (size_t y = x + 1; y < ranks_; ++y) {
          if (at(x, y) + at(y, x) <= at(x, x) + at(y, y) + 1e-3) continue;
          for (size_t r = 0; r < ranks_; ++r) std::swap(at(r, x), at(r, y));
          for (size_t later = l; later < layers_; ++later) {
            const auto begin = placement_.layers[later].begin();
            std::swap_ranges(begin + static_cast<std::ptrdiff_t>(x) * each, begin + static_cast<std::ptrdiff_t>(x + 1) * each,
                             begin + static_cast<std::ptrdiff_t>(y) * each);
          }
          changed = true;
        }
      if (changed) find_ranks();
    }
    if (changed) sum_up();
  }

  // What each branch has in common with all that stand on a rank.
  void sum_up() {
    sums_.assign(layers_ * branches_ * ranks_, 0);
    for (size_t l = 0; l < layers_; ++l)
      for (size_t a = 0; a < branches_; ++a)
        for (size_t b = 0; b < branches_; ++b) {
          sum(l, a, rank_[l][b]) += together(l, a, b);
          if (l > 0) sum(l, b, rank_[l - 1][a]) += follows(l, a, b);
          if (l > 0) sum(l - 1, a, rank_[l][b]) += follows(l, a, b);
        }
  }

  double gain(size_t l, size_t a, size_t b) {
    const size_t x = rank_[l][a], y = rank_[l][b];
    return sum(l, a, y) - sum(l, a, x) + sum(l, b, x) - sum(l, b, y) - 2 * together(l, a, b);
  }

  /// No rank comes above its cap.
  bool fits(size_t l, size_t a, size_t b) const {
    const double more = load_[l][b] - load_[l][a];  // for the rank of a
    return of_rank_[l][rank_[l][a]] + more <= cap_[l] && of_rank_[l][rank_[l][b]] - more <= cap_[l];
  }

  bool propose(size_t l, size_t a, size_t b, double heat) {
    if (rank_[l][a] == rank_[l][b] || !fits(l, a, b)) return false;
    const double g = gain(l, a, b);
    if (heat > 0 ? g <= 0 && std::exp(g / heat) * 4294967296. < static_cast<double>(random_()) : g <= 1e-3) return false;
    swap(l, a, b);
    return true;
  }

  void swap(size_t l, size_t a, size_t b) {
    const size_t x = rank_[l][a], y = rank_[l][b];
    for (size_t g = 0; g < branches_; ++g) {
      const float inside = together(l, g, b) - together(l, g, a);
      sum(l, g, x) += inside, sum(l, g, y) -= inside;
      if (l + 1 < layers_) {
        const float next = follows(l + 1, b, g) - follows(l + 1, a, g);
        sum(l + 1, g, x) += next, sum(l + 1, g, y) -= next;
      }
      if (l > 0) {
        const float last = follows(l, g, b) - follows(l, g, a);
        sum(l - 1, g, x) += last, sum(l - 1, g, y) -= last;
      }
    }
    of_rank_[l][x] += load_[l][b] - load_[l][a], of_rank_[l][y] += load_[l][a] - load_[l][b];
    std::swap(placement_.layers[l][slot_[l][a]], placement_.layers[l][slot_[l][b]]);
    std::swap(slot_[l][a], slot_[l][b]), std::swap(rank_[l][a], rank_[l][b]);
  }

  /// One pass over all pairs; false: nothing was gained.
  bool descend() {
    bool gained = false;
    for (size_t l = 0; l < layers_; ++l)
      for (size_t a = 0; a < branches_; ++a)
        for (size_t b = a + 1; b < branches_; ++b) gained |= propose(l, a, b, 0);
    return gained;
  }

  Placement placement_;
  const JointOptions options_;
  std::mt19937 random_;
  const size_t layers_, branches_, ranks_;
  const std::vector<std::vector<double>> load_;  // [layers][branches]
  std::vector<float> together_, follows_;        // [layers, branches, branches] tokens that took both
  std::vector<float> sums_;                      // [layers, branches, ranks]
  std::vector<std::vector<size_t>> slot_, rank_;
  std::vector<std::vector<double>> of_rank_;
  std::vector<double> cap_;
};

}  // namespace

Placement joint_placement(const TokenRoutes& routes, std::span<const size_t> tokens, const Placement& start, const JointOptions& options,
                          const Progress& progress) {
  return Search(routes, tokens, start, options).run(progress);
}

}  // namespace stormcell
