// Which branch follows which: a matrix of pairs, and ribbons through all routers of a stack. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <vector>

#include "core/experiment/flow_view.h"
#include "views/kit/table.h"

namespace stormcell::views {

enum class PairValue { share, cells, lift };
struct PairText {
  QString name, definition;
};
PairText text_of(PairValue value);

/// A matrix of pairs, ready to be painted.
struct PairMatrix {
  QString title, from, to;  ///< routers; the same one for co-activation
  int rows = 0, columns = 0;
  bool together = false;  ///< branches that one cell got together
  PairValue shown = PairValue::share;
  std::vector<double> count;  ///< [rows, columns]; co-activation: both halves
  std::vector<double> value;  ///< in the unit of `shown`; NaN: says nothing
  std::vector<float> tone;    ///< 0..1, or -1..1 where the value has two sides
  std::vector<double> row_sum, column_sum;
  double total = 0, high = 1;
  bool two_sided() const { return shown == PairValue::lift; }
  size_t at(int row, int column) const { return static_cast<size_t>(row) * static_cast<size_t>(columns) + static_cast<size_t>(column); }
};
PairMatrix make_pairs(const BranchPairs& pairs, const QString& from, const QString& to, PairValue value, bool together);

inline constexpr int kMostRibbons = 200;
/// Ribbons between the branches of consecutive routers of one stack.
struct FlowRibbons {
  struct Ribbon {
    int step = 0;          ///< from column `step` to the next
    int from = 0, to = 0;  ///< branches
    int64_t count = 0;
  };
  std::vector<RouterLine> columns;
  std::vector<Ribbon> ribbons;  ///< strongest first
  std::vector<int64_t> merged;  ///< by step: cells of the pairs that have no ribbon
  std::vector<int64_t> total;   ///< by step
  int64_t pairs = 0;            ///< of all steps
  double drawn() const;         ///< share of all transitions
};
/// The stack of flow.router.
FlowRibbons make_ribbons(const RoutingFlow& flow, int most = kMostRibbons);

/// HTML about one pair.
QString describe(const PairMatrix& matrix, int row, int column);
Table make_table(const RoutingFlow& flow);

}  // namespace stormcell::views
