// Transitions between branches: a matrix of pairs, and ribbons through the graph of routers. Pure: no widget, no
// reading.
#pragma once
#include <QString>
#include <algorithm>
#include <vector>

#include "core/readings/flow_view.h"
#include "views/drawing/branch_colors.h"
#include "views/frame/table.h"

namespace stormcell::views {

enum class PairValue { share, cells, lift };
struct PairText {
  QString name, definition;
};
PairText text_of(PairValue value);

/// A pair beside chance, with regard to the loads of both branches and to how many pairs there are.
enum class PairBeside : uint8_t { not_judged, within, more_often, more_rarely };
/// "more often than by chance"; empty: not judged.
QString text_of(PairBeside beside);

/// A matrix of pairs, ready to be painted.
struct PairMatrix {
  QString title, from, to;  ///< routers; the same one for co-activation
  int rows = 0, columns = 0;
  bool together = false;  ///< branches that one cell got together
  PairValue shown = PairValue::share;
  std::vector<double> count;        ///< [rows, columns]; co-activation: both halves
  std::vector<double> value;        ///< in the unit of `shown`; NaN: undefined
  std::vector<float> tone;          ///< 0..1, or -1..1 where the value has two sides
  std::vector<PairBeside> beside;   ///< [rows, columns]; within chance is drawn in grey; empty: not judged
  std::vector<double> row_sum, column_sum;
  double total = 0, high = 1;
  PairBeside beside_chance(int row, int column) const {
    return beside.empty() ? PairBeside::not_judged : beside[at(row, column)];
  }
  bool is_grey(int row, int column) const { return beside_chance(row, column) == PairBeside::within; }
  bool two_sided() const { return shown == PairValue::lift; }
  /// The count that chance would give; 0: it cannot be.
  double by_chance(int row, int column) const;
  size_t at(int row, int column) const {
    return static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column);
  }
};
PairMatrix make_pairs(const BranchPairs& pairs, const QString& from, const QString& to, PairValue value, bool together);

inline constexpr int kMostRibbons = 200;
/// Chains that have a colour of their own: as many as there are categories.
inline constexpr int kChainsInColour = 8;
/// Ribbons between the branches of routers in succession: a column for each router, a step for each edge of their
/// graph. If there are too many pairs, those of the hottest chains get ribbons: the strongest pairs alone are scattered
/// over the routers and cannot be followed.
struct FlowRibbons {
  struct Step {
    int from = 0, to = 0;  ///< columns, from < to
  };
  struct Ribbon {
    int step = 0;          ///< index into steps
    int from = 0, to = 0;  ///< branches
    int64_t count = 0;
    int chain = -1;  ///< the hottest chain through it, -1: none
    PairBeside beside = PairBeside::not_judged;
  };
  /// Pairs in succession from a router that no edge leads to, to one that no edge leaves. Sessions count pairs, not
  /// whole ways of cells: at each step at least `count` cells took the chain's pair and are in no hotter chain.
  struct Chain {
    std::vector<int> branches;  ///< by column, -1: it passes that router
    int64_t count = 0;
  };
  std::vector<RouterLine> columns;
  std::vector<BranchKey> keys;        ///< by column: the colours of its branches
  std::vector<Step> steps;            ///< by `from`, then `to`
  std::vector<Ribbon> ribbons;        ///< strongest first
  std::vector<Chain> chains;          ///< hottest first; none where every pair has a ribbon
  std::vector<int64_t> merged;        ///< by step: cells of the pairs that have no ribbon
  std::vector<int64_t> merged_pairs;  ///< by step: how many pairs these are
  std::vector<int64_t> total;         ///< by step
  int64_t pairs = 0;                  ///< of all steps
  double drawn() const;               ///< share of all transitions
  /// Chains are in colour, not branches: too many pairs for a ribbon each, and no other colours are asked for.
  bool colours_chains() const { return !chains.empty() && scheme() == BranchScheme::load; }
  BranchScheme scheme() const { return keys.empty() ? BranchScheme::load : keys.front().scheme; }
  bool in_colour(const Ribbon& r) const { return !colours_chains() || (r.chain >= 0 && r.chain < kChainsInColour); }
  /// Chance explains some of the ribbons, which are grey.
  bool has_grey() const {
    return std::any_of(ribbons.begin(), ribbons.end(), [](const Ribbon& r) { return r.beside == PairBeside::within; });
  }
  double merged_share(size_t step) const {
    return static_cast<double>(merged[step]) / (std::max<int64_t>(1, total[step]));
  }
};
/// The routers that edges join with flow.router. Branches are coloured by what their ribbons carry.
FlowRibbons make_ribbons(const RoutingFlow& flow, int most = kMostRibbons);

/// The colours of the whole run's branches in place of those: then a branch has one colour in all views.
void set_keys(FlowRibbons& ribbons, const BranchKeys& keys);

/// HTML about one pair.
QString describe(const PairMatrix& matrix, int row, int column);
Table make_table(const RoutingFlow& flow);

}  // namespace stormcell::views
