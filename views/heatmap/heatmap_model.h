// Model of the heatmap: one figure for each (router, branch), from windows of loads. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <memory>
#include <vector>

#include "core/readings/session_view.h"
#include "views/frame/table.h"
#include "views/words/glossary.h"

namespace stormcell::views {

enum class HeatMetric { load, share, weight, drops, imbalance };
/// `readable`: common if the median branch is visible on it, else logarithmic.
enum class HeatScale { readable, common, per_router, logarithmic };
enum class HeatOrder { index, load, clustered };
/// Two runs: side by side, or the first minus the second.
enum class HeatPair { single, beside, difference };

struct HeatOptions {
  HeatMetric metric = HeatMetric::share;
  HeatScale scale = HeatScale::common;
  HeatOrder order = HeatOrder::index;
  HeatPair pair = HeatPair::single;
  bool padding = false;  ///< padding counts
  bool operator==(const HeatOptions&) const = default;
};

/// The metric's entry in the glossary.
const Term& term_of(HeatMetric metric);

struct HeatRow {
  QString router, protocol;
  std::vector<int> branch;    ///< [columns] the branch of each column
  std::vector<double> value;  ///< [columns] in the metric's unit
  std::vector<float> tone;    ///< [columns] 0..1, or -1..1 if the metric has two sides
  double load = 0;            ///< cells of all branches in the range
  double imbalance = 0, entropy = 0;
  bool within_chance = false;  ///< even routers with as many cells have such loads, too: drawn in grey
  int column_of(int branch_number) const;
};

/// A matrix of tones, ready to be painted.
struct HeatMatrix {
  std::vector<HeatRow> rows;
  int columns = 0;  ///< most branches of a row
  bool two_sided = false;
  double low = 0, high = 1;  ///< values at the ends of the scale; per router: shares of the router's largest
  HeatOptions options;
  int64_t first_batch = 0, end_batch = 0;
};

/// Sums of one router over windows [from, to).
struct BranchSums {
  std::vector<int64_t> load;
  std::vector<int64_t> dropped;  ///< empty if they are not kept
  std::vector<double> weight;    ///< empty if it is not kept
  double total = 0;              ///< of load
};
/// Drops and weight mass always include padding: sessions do not keep them apart.
BranchSums sum_windows(const LoadWindows::Router& router, int64_t from, int64_t to, bool padding);
double metric_of(HeatMetric metric, const BranchSums& sums, size_t branch);

/// The windows of `data` that batches [first, end) touch, as indices into data; end < 0: to the end.
struct WindowRange {
  int64_t from = 0, to = 0;
};
WindowRange windows_of(const LoadWindows& data, int64_t first_batch, int64_t end_batch);

/// `high` > 0: the upper end of the scale, else the largest figure is. `order_by`: the data that give the order of
/// columns, null: data itself.
HeatMatrix make_matrix(const LoadWindows& data, WindowRange range, const HeatOptions& options, double high = 0,
                       const LoadWindows* order_by = nullptr);
/// Marks the rows whose loads are within chance, if the metric shows loads. `matrix`: of the whole run.
void mark_within_chance(const LoadChances& chances, HeatMatrix& matrix);
/// `common` if the median tone of branches with load is visible, else `logarithmic`. Always `common` for a metric with
/// two sides.
HeatScale readable_scale(const LoadWindows& data, WindowRange range, const HeatOptions& options, double high);
/// A mark on the scale: its place, from 0 to 1, and its value.
struct ScaleTick {
  double at = 0, value = 0;
};
/// The ends, and round figures or decades between them. Per router: shares of the router's largest figure.
std::vector<ScaleTick> scale_ticks(const HeatMatrix& matrix, int most);
/// True if the lower half of a scale ends at -1: an unused branch has imbalance -1, whatever the busiest one has.
bool ends_at_minus_one(const HeatOptions& options);
/// True if make_difference() can subtract: there are routers of the same name with as many branches.
bool have_a_router_in_common(const LoadWindows& a, const LoadWindows& b);
/// Figures of `a` minus those of `b`, for routers of the same name.
HeatMatrix make_difference(const LoadWindows& a, WindowRange range_a, const LoadWindows& b, WindowRange range_b,
                           const HeatOptions& options, double high = 0);

/// Branches so that neighbours are used at the same times: a chain of nearest neighbours of their normalised profiles
/// over the windows, from the branch with the largest load on. [branches]
std::vector<int> cluster_branches(const LoadWindows::Router& router, int64_t windows);

/// One router over time: [windows][branches] share of the router's cells in that window.
struct RouterOverTime {
  QString router;
  int64_t windows = 0;
  int64_t first_batch = 0, end_batch = 0;
  int branches = 0;
  std::vector<float> share;  ///< [windows, branches]
  float most = 0;
};
RouterOverTime make_over_time(const LoadWindows& data, size_t router, bool padding);

/// `other`: the run that this one is compared with, null: none.
Table make_table(const LoadWindows& data, WindowRange range, const HeatOptions& options = {},
                 const LoadWindows* other = nullptr, WindowRange other_range = {});
/// "Only 12 of 210 batches: ...", from the visible batches, the recorded ones and those of the data. Empty: all are
/// visible. `data` 0: their number is not known.
QString part_of_data_text(int64_t shown, int64_t recorded, int64_t data);
/// "block.1: branch 3 got 1,234 cells, 15.2 % of the router's, 1.22 times the mean".
QString describe(const HeatMatrix& matrix, const LoadWindows& data, WindowRange range, int row, int column);

}  // namespace stormcell::views
