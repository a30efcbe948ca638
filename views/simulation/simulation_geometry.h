// Layout of bars, figures, clusters, lanes and assumptions in the simulation view. Pure functions of sizes.
#pragma once
#include <QRectF>
#include <QSizeF>
#include <QStringList>
#include <array>
#include <optional>
#include <vector>

#include "views/drawing/value_axis.h"
#include "views/simulation/simulation_model.h"

namespace stormcell::views {

/// Rectangles of dispatch, experts, combine and the rest; a phase without time has none.
using PhaseRooms = std::array<QRectF, 4>;

/// Bars on a line: layers, or the GPUs of one.
struct BarChart {
  QRectF title, plot;
  ValueAxis axis;  ///< ms from the bottom of the plot up
  std::vector<double> ticks;
  int every = 1;  ///< every n-th bar has its number below
};

class SimulationLayout {
 public:
  /// `line`: height of a line of text; `digit`: width of a digit.
  SimulationLayout(const SimulationPage& page, QSizeF size, double line, double digit);

  QRectF contents, headline, legend, assumed;
  QStringList assumed_lines;  ///< in its room, wrapped

  // Phases of a step.
  QRectF step, figures, sensitivity;
  BarChart layers, gpus;
  /// The rectangles of the step's phases from left to right: dispatch, experts, combine and the stated rest.
  PhaseRooms step_parts() const { return parts_in(step, page_.step.phases, page_.step.phases.sum()); }
  /// Its end if phases overlap, hatched until the end of their sum.
  QRectF step_overlap() const { return overlap_in(step, page_.step, page_.step.phases.sum()); }
  QRectF bar(const BarChart& chart, size_t number) const;  ///< the column, as high as the plot
  PhaseRooms bar_parts(const BarChart& chart, size_t number) const;
  double tick(const BarChart& chart, double ms) const;  ///< y
  std::optional<size_t> bar_at(const BarChart& chart, QPointF place) const;
  QRectF figure_row(size_t number) const;
  size_t shown_sensitivity() const;  ///< number of figures that have room
  QRectF sensitivity_row(size_t number) const;
  QRectF sensitivity_name(size_t number) const;
  QRectF sensitivity_bar(size_t number) const;
  QRectF sensitivity_value(size_t number) const;  ///< room of its text: from the bar to the row's end or the name
  double sensitivity_zero() const;                ///< x

  // Clusters.
  QRectF clusters;
  std::vector<double> cluster_ticks;
  QRectF cluster_row(size_t number) const;
  QRectF cluster_name(size_t number) const;
  QRectF cluster_room(size_t number) const;  ///< room of its bar, or of the reason why there is none
  PhaseRooms cluster_parts(size_t number) const;
  QRectF cluster_overlap(size_t number) const;
  double cluster_x(double ms) const;
  std::optional<size_t> cluster_at(QPointF place) const;

  // One exchange.
  struct LaneSpan {
    size_t exchange, lane, span;
    bool operator==(const LaneSpan&) const = default;
  };
  QRectF exchange(size_t number) const;  ///< the plot of its lanes
  QRectF exchange_title(size_t number) const;
  size_t lanes(size_t number) const;  ///< ports, or messages where these are on show
  QRectF lane(size_t number,
              size_t lane) const;  ///< sends above, receives below; for messages, from begin to end of all
  QRectF lane_name(size_t number, size_t lane) const;  ///< empty: it has no room
  double exchange_x(size_t number, double ms) const;
  std::vector<double> exchange_ticks(size_t number) const;
  std::optional<LaneSpan> lane_at(QPointF place) const;

  double line() const { return line_; }
  double digit() const { return digit_; }

 private:
  static PhaseRooms parts_in(QRectF room, const PhaseTimes& times, double most);
  static QRectF overlap_in(QRectF room, const StepTimes& step, double most);
  BarChart chart_in(QRectF room, const std::vector<PhaseTimes>& times) const;
  const std::vector<PhaseTimes>& times_of(const BarChart& chart) const {
    return &chart == &gpus ? page_.gpus : page_.layers;
  }

  const SimulationPage& page_;
  double line_, digit_;
  double names_ = 0;         // width of names of clusters
  double values_ = 0;        // room behind bars of clusters
  double most_cluster_ = 0;  // ms
};

}  // namespace stormcell::views
