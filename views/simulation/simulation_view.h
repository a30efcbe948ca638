// Simulation: cost of a recorded routing on GPUs that are not at hand, and the figures that it depends on.
#pragma once
#include <memory>
#include <optional>

#include "core/planning/edited_placement.h"
#include "simulator/simulate.h"
#include "views/frame/view.h"
#include "views/simulation/simulation_picture.h"

class QComboBox;
class QDoubleSpinBox;
class QFormLayout;

namespace stormcell::views {

class ClusterChoice;
class StepChoices;

class SimulationView : public View {
  Q_OBJECT
 public:
  explicit SimulationView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override { return picture_; }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override;
  Parts heeded() const override { return Part::phase; }
  bool keeps_controls() const override { return !read_.presets.empty(); }

 private:
  /// The simulation that was done, or is to be.
  struct Wanted {
    std::string file, cluster, phase, overlap, dtype, calibration;  ///< calibration: a file, empty: data sheets
    int64_t run = 0, start = 0;  ///< start: a placement of the session, 0: the contiguous layout
    int64_t tokens = 0, hidden = 0, ffn = 0;
    double oversubscription = 1, capacity = 0;  ///< capacity: a factor, 0: nothing is dropped
    double rest_ms = 0;                         ///< rest of a step; 0: not stated
    std::string replicas, residence;            ///< empty: the usual ones
    int64_t collective = -1, step = 0;          ///< of the exchange; -1: none is on show
    bool operator==(const Wanted&) const = default;
    SimulateOptions options() const;
  };
  struct Read {
    std::vector<std::string> presets;  ///< of clusters
    Cluster cluster;
    std::vector<StoredLayout> stored;
    std::optional<SimulateFigures> figures;
    std::string fault;  ///< why there are none
  };

  void add_controls();
  void add_more(QFormLayout* more);
  QWidget* make_calibration(QWidget* parent);
  void open_calibration();
  Wanted wanted(const Context& context, const Selection& selection) const;
  static Read read(const Wanted& want, const Progress& progress);
  /// The same steps on each cluster.
  static std::vector<ComparedCluster> compare(const Wanted& want, const std::vector<std::string>& clusters,
                                              const std::vector<StoredLayout>& stored, const Progress& progress);
  void take(const Wanted& want, Read read);
  void fill_starts();
  void fill_layers();
  void fill_steps();
  void follow_router();
  void pick_layer(int layer);
  SimulationPart part() const;
  void show_part();
  void refresh_page();

  SimulationPicture* picture_;
  ClusterChoice* cluster_;
  QComboBox *show_, *start_, *overlap_, *layer_, *step_, *dtype_, *tokens_, *calibration_;
  QDoubleSpinBox *hidden_, *ffn_, *capacity_, *uplinks_, *rest_;
  StepChoices* choices_;
  Wanted shown_;
  Read read_;
  std::vector<ComparedCluster> compared_;
  std::vector<std::string> compared_specs_;
  Wanted compared_for_;  ///< of no cluster
  Selection selection_;
};

}  // namespace stormcell::views
