// A session's placement in somebody's hands: its figures before and after each change, searched, stored. The Studio
// drags it.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/placement/edit_figures.h"
#include "core/placement/placement.h"
#include "core/planning/cluster_file.h"
#include "core/planning/place.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// A point of balance against traffic, as fitted, that a search found.
struct FrontPoint {
  std::string name;
  double imbalance = 0, cross_pairs = 0;
};

/// A placement of a session.
struct StoredLayout {
  int64_t id = 0, run = 0;
  std::string name, solver, created, cluster, advice;
  Placement placement;
  std::vector<FrontPoint> front;  ///< empty: nothing was traded
  // Both come from the stored figures; the defaults if steps were not costed. Null: a word of a later version.
  std::optional<ReplicaRule> replicas = ReplicaRule::even;
  std::optional<Residence> residence = Residence::home;
};
/// The placements of a run, oldest first. Leaves out rows of another program that it cannot read.
std::vector<StoredLayout> stored_layouts(const std::string& file, int64_t run);

/// A placement that a search found, not stored yet.
struct FoundLayout {
  Placement placement;
  PlaceFigures figures;
  struct Other {
    FrontPoint point;
    Placement placement;
  };
  std::vector<Other> front;  ///< the most even one first
};

struct EditedAbout {
  std::string session, model;
  int64_t run = 0;
  Cluster cluster;
  std::vector<std::string> routers;  ///< [layers]
  std::vector<int32_t> numbers;      ///< [layers] the model's, -1: not known
  int32_t branches = 0, ranks = 0, slot_count = 0;
  std::optional<ModelSizes> sizes;
  std::optional<Backend> backend;  ///< none where steps are not costed
  ReplicaRule replicas = ReplicaRule::even;
  std::optional<Residence> residence;  ///< none likewise
  bool has_held_out = false;
  SplitUnit unit = SplitUnit::steps;  ///< the unit of what follows
  int64_t fitted = 0, held_out = 0;
  /// of each part at most so many are followed while it is edited; 0: there are no single choices
  int64_t followed_tokens = 0;
  std::vector<std::string> lacks;
};

/// Changes from one thread; solve() and store() may run on another meanwhile, on what was there when they were called.
class EditedPlacement {
 public:
  /// Reads the session's loads and begins at what options.from names, else at the contiguous layout. `spare_of_gpu`: so
  /// many spare slots on each GPU, and as few more as make them equally many; options.redundant is not looked at.
  /// Error(bad_input) as place() says.
  static std::shared_ptr<EditedPlacement> open(PlaceOptions options, int32_t spare_of_gpu,
                                               const Progress& progress = {});
  ~EditedPlacement();

  const EditedAbout& about() const { return about_; }
  const Placement& placement() const;
  const Placement& start() const { return start_; }
  /// Null of held_out where nothing was held out.
  std::optional<EditFigures> figures(DataPart part) const;
  std::optional<EditFigures> start_figures(DataPart part) const;
  double layer_imbalance(DataPart part, size_t layer) const;
  std::optional<double> layer_ms(DataPart part, size_t layer) const;
  std::optional<double> start_layer_ms(DataPart part, size_t layer) const;
  /// [ranks] choices that each computes of a layer, now and at the start.
  const std::vector<double>& rank_loads(DataPart part, size_t layer) const;
  const std::vector<double>& start_rank_loads(DataPart part, size_t layer) const;
  /// [slots] choices that come to each.
  const std::vector<double>& slot_loads(DataPart part, size_t layer) const;
  int64_t moved_slots() const;  ///< moved since the start
  size_t empty_slots() const;

  // The reason against a change of a layer, in words; empty: it is allowed.
  std::string swap_fault(size_t layer, size_t slot, size_t other) const;
  std::string replicate_fault(size_t layer, int32_t branch, size_t slot) const;
  std::string drop_fault(size_t layer, size_t slot) const;
  /// Applies a change. `before` must be what each slot holds; every branch must stand somewhere afterwards.
  void apply(const PlacementChange& change);

  /// Searches with a solver of placement_solvers(), from the start. Error(bad_input): a GPU cannot hold its experts.
  FoundLayout solve(const std::string& solver, double time_limit, const Progress& progress) const;
  /// Stores a placement in the session, as made by hand; returns its number. Error(bad_input): slots are empty, or a
  /// GPU cannot hold its experts.
  int64_t store(const Placement& placement, const std::string& name, const Progress& progress) const;

 private:
  struct State;
  EditedPlacement();
  size_t part_of(DataPart part) const;

  std::unique_ptr<State> state_;
  EditedAbout about_;
  Placement start_;
};

}  // namespace stormcell
