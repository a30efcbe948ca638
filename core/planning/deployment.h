// Compares what a placement promised with what was recorded later: balance by layer, of the data that it was made from
// and of a run after it.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

struct PlaceTask;
class SessionReader;

/// Imbalance of the GPUs, largest / mean load - 1.
struct DeployedBalance {
  double predicted = 0;      ///< by the loads of the run that the placement was made from, its held-out part included
  double shared_evenly = 0;  ///< by the recorded loads, if replicas share evenly: what changed since is the routing
  std::optional<double> recorded;  ///< by what the slots got; null: the recording does not say
  /// The recorded imbalance, or the evenly shared one if that is not known, minus the predicted one.
  double difference() const { return recorded.value_or(shared_evenly) - predicted; }
};

struct DeployedLayer {
  std::string name;
  int32_t number = -1;  ///< layer of the model; -1: not known
  DeployedBalance balance;
};

struct DeploymentFigures {
  std::string session;  ///< the session that the placement was made from, and its run
  int64_t run = 0;
  DeployedBalance mean;  ///< over layers
  std::vector<DeployedLayer> layers;
  std::string why_not;      ///< the reason why the slots' shares are not known; empty: they are
  bool ranks_known = true;  ///< the recording says on how many GPUs it was made; else those of the cluster are taken
  std::string model_doubt;  ///< why nobody knows that `made_from` is of the recorded run's model; empty: it is
};

/// `made_from`: S.storm, S.storm#3; empty: the run that the stored placement `from` was searched for; nothing if it is
/// a server's file, or that run is the task's own. The task has all of the recorded run to fit, and the placement as
/// the one before. Error(bad_input): another model.
std::optional<DeploymentFigures> compare_deployment(const std::string& made_from, const std::string& from,
                                                    const SessionReader& session, const PlaceTask& task);

}  // namespace stormcell
