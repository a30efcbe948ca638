// Model of the view of exits: which items left at which exit, by class and one by one, and the result of every
// threshold. Pure: no widget, no reading.
#pragma once
#include <QImage>
#include <QString>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "core/readings/exits_view.h"
#include "views/frame/table.h"

namespace stormcell::views {

/// One set of thresholds and its result.
struct ShownPoint {
  QString name;  ///< "those that ran", "0.85", "none leaves"
  double cost = 1, value = 0;
  std::optional<std::array<double, 2>> interval;
  std::vector<int64_t> items;  ///< by exit
  double threshold = 0;        ///< one for all exits; meaningless for those that ran
  QString numbers;             ///< of those that ran: "0.9", "0.9, all leave"; else empty
  /// "those that ran (0.9)", "0.85".
  QString title() const { return numbers.isEmpty() ? name : name + " (" + numbers + ")"; }
};

/// Items of one class by exit, with the thresholds that ran.
struct ShownClass {
  QString name;
  std::vector<int64_t> items;
};

struct ExitsPage {
  QString headline, measure;
  std::string unit;                ///< as ExitCurve has it
  QString item;                    ///< "picture", "item"
  QString plan;                    ///< plan of all costs: "as the optimised plan runs"; empty: not known
  std::vector<QString> exits;      ///< names, the end last
  std::vector<double> costs;       ///< by exit, of the whole network; empty: not known
  std::vector<ShownPoint> points;  ///< those that ran first, then one threshold for all exits, ascending
  std::vector<ShownClass> classes;
  std::vector<ExitItem> gallery;                    ///< of each exit those answered wrong first
  QString no_curve, gallery_note;                   ///< why there is no curve; what is missing; empty: nothing
  QString target;                                   ///< in words; empty: no target was asked for
  std::optional<double> target_value, target_cost;  ///< bounds of the target; only one of them, neither for a latency

  std::vector<QImage> pictures;  ///< of the gallery's items; null: none is kept. Empty: the run keeps none

  bool has_curve() const { return points.size() > 1; }
};
ExitsPage make_exits_page(const ExitsOfRun& view);

/// The point of the curve with the nearest threshold; 0 without a curve.
size_t nearest_point(const ExitsPage& page, double threshold);

/// A value of the measure as text: "98.9 %".
QString value_text(const ExitsPage& page, double value);
/// Appends the plan to words about a cost's whole: "of the operations as the optimised plan runs".
QString with_plan(const ExitsPage& page, const QString& words);
/// "Thresholds, 0.85: 48.1 % of the operations as the optimised plan runs, accuracy 98.4 % [97.2, 99.1]".
QString gain_text(const ExitsPage& page, size_t point);
/// The same with the items at each exit: "Thresholds, 0.85: 48.1 % of the operations, accuracy 98.4 % [97.2, 99.1];
/// 84.4 % leave at exit 1, ...".
QString describe(const ExitsPage& page, size_t point);
/// Describes one item: "#17, label 7: answered at exit 1, right, its confidence 0.08 from the threshold".
QString describe(const ExitsPage& page, const ExitItem& item);
Table make_exits_table(const ExitsPage& page);
/// The items of the gallery, in its order.
Table make_items_table(const ExitsPage& page);

}  // namespace stormcell::views
