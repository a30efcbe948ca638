// Model of the simulation view: phases of a step by layer and GPU, figures that the step is sensitive to, clusters
// beside each other, and the ports of one exchange over time. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "simulator/simulate.h"
#include "views/frame/table.h"

namespace stormcell::views {

enum class SimulationPart : uint8_t { phases, clusters, exchange, messages };
/// True if the part shows an exchange, by its ports or message by message.
inline bool shows_exchange(SimulationPart part) {
  return part == SimulationPart::exchange || part == SimulationPart::messages;
}

/// A cluster that was simulated for comparison with the chosen one.
struct ComparedCluster {
  std::string name;
  std::optional<SimulateFigures> figures;
  std::string fault;  ///< why there are none
};

struct PhaseTimes {
  double dispatch_ms = 0, compute_ms = 0, combine_ms = 0;
  double rest_ms = 0;  ///< only for a whole step: stated, not simulated
  double sum() const { return dispatch_ms + compute_ms + combine_ms + rest_ms; }
};

/// A whole step. Phases of micro-batches that take turns overlap: the step is shorter than their sum.
struct StepTimes {
  PhaseTimes phases;
  double mean_ms = 0, p50_ms = 0, p95_ms = 0;
  double overlapped_ms() const;
};

struct SimulatedFigure {
  QString name, value, tip;
};

struct ShownSensitivity {
  QString figure;
  double percent = 0;  ///< of the step, for a figure larger by 10 %
};

struct ShownCluster {
  QString name, about, fault;  ///< about: number of GPUs, placement
  StepTimes step;
  bool chosen = false;
  /// Dispatch, experts, combine. True: by measured calls, with start-up times; false: by data sheets, without.
  std::array<bool, 3> calibrated = {};
};

/// Used share of the rates at the ports of a GPU or the uplink of a node; the busiest port of several.
struct PortLane {
  QString name;
  std::vector<double> sends, receives;  ///< [spans]
};

/// A message from one GPU to another; all begin together.
struct ShownMessage {
  int from = 0, to = 0;
  double bytes = 0, end_ms = 0;
};

struct ShownExchange {
  QString way, title;
  double end_ms = 0;          ///< of the spans
  double closed_form_ms = 0;  ///< the busiest port's bytes / its rate
  std::vector<PortLane> lanes;
  std::vector<ShownMessage> sent;  ///< by sender; empty if there are too many GPUs
};

struct SimulationPage {
  SimulationPart part = SimulationPart::phases;
  QString contents;  ///< a sentence with the contents of a step, above everything else
  QString headline, about;
  StepTimes step;
  size_t layer = 0;
  std::vector<QString> layer_names;
  std::vector<int> layer_numbers;  ///< the model's if they are known, else the session's
  std::vector<PhaseTimes> layers;
  std::vector<double> imbalance;  ///< [layers] of the experts' time
  std::vector<PhaseTimes> gpus;   ///< of the shown layer, each by itself
  size_t slowest = 0;             ///< the GPU that computes longest
  int gpus_of_node = 1;
  std::vector<SimulatedFigure> figures;
  /// figures of the phases that measured calls calibrate; empty: data sheets only
  std::vector<SimulatedFigure> calibrated;
  std::vector<ShownSensitivity> sensitivity;  ///< the largest first
  std::vector<ShownCluster> clusters;
  bool any_calibrated = false;           ///< of these; phases of the others go by data sheets and are not comparable
  std::vector<ShownExchange> exchanges;  ///< dispatch, combine
  QString no_exchange;                   ///< why there are none
  std::vector<QString> assumptions;
};

SimulationPage make_simulation_page(const SimulateFigures& figures, SimulationPart part, size_t layer);
/// Adds the clusters beside each other, in their order.
void add_clusters(const std::vector<ComparedCluster>& compared, SimulationPage& page);

/// "layer 3" if the model's numbers distinguish layers, else the distinct part of their routers' names.
std::vector<QString> names_of_layers(const SimulateFigures& figures);
QString describe_layer(const SimulationPage& page, size_t layer);
QString describe_gpu_share(const SimulationPage& page, size_t gpu);
/// Basis of its times: "calibrated", "data sheets", "dispatch, combine calibrated".
QString basis_text(const ShownCluster& cluster);
QString describe_cluster(const SimulationPage& page, size_t cluster);
QString describe_sensitivity(const ShownSensitivity& sensitivity);
QString describe_lane(const ShownExchange& exchange, size_t lane, size_t span);
/// "0 \u2192 3"
QString message_name(const ShownMessage& message);
QString describe_message(const ShownExchange& exchange, size_t message);
/// "−4.2 %", "0 %"
QString percent_change_text(double percent);
Table make_simulation_table(const SimulationPage& page);

}  // namespace stormcell::views
