// Figures of loads that an even router gives by chance.
//
// An even router gives each cell k of its branches, all sets of k equally likely, each cell by itself. Its loads are
// drawn with a fixed seed. With few cells each choice is drawn. From kExactMean cells a branch on, loads are normal
// with the covariance of such sets, and with the skewness and kurtosis of a binomial, which the largest load shows.
#pragma once
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "core/chance/chance_figure.h"

namespace stormcell {

/// The facts that the loads of an even router depend on.
struct EvenRouter {
  int64_t choices = 0;
  int32_t branches = 1, k = 1;
};

/// The figures of one router's loads beside chance.
struct LoadsBesideChance {
  ChanceFigure imbalance, entropy_bits, gini;
  /// The smallest of the three p-values times three: one call for the router. At most 1.
  double p_value = 1;
};

class EvenLoads {
 public:
  /// Draws the loads of as many even routers as fit `verdicts` calls, each at its part of kFalseCalls.
  EvenLoads(const EvenRouter& router, int64_t verdicts);

  /// `choices`: of the router that is judged, near those that were drawn. The figures are scaled to it.
  LoadsBesideChance judge(int64_t choices, double imbalance, double entropy_bits, double gini) const;
  int64_t draws() const { return std::ssize(imbalance_); }

 private:
  EvenRouter router_;
  std::vector<double> imbalance_, missing_bits_, gini_;  ///< ascending; bits missing to log2(branches)
};

/// Draws for many routers, kept for those that are alike.
class EvenRouters {
 public:
  /// `routers`: number of routers that one verdict is about. `most_drawn`: loads that may be drawn; 2^23 take half a
  /// second.
  explicit EvenRouters(int64_t routers, int64_t most_drawn = INT64_MAX) : routers_(routers), left_(most_drawn) {}
  /// Judges loads without padding; a router without load is within chance, with empty ranges. So is one whose draws
  /// would be too many.
  LoadsBesideChance judge(std::span<const int64_t> load, int32_t k);

 private:
  int64_t routers_, left_;
  std::map<std::tuple<int64_t, int32_t, int32_t>, EvenLoads> drawn_;
};

}  // namespace stormcell
