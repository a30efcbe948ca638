#include "core/experiment/experiment.h"

#include <utility>

#include "core/bench/open_state.h"
#include "core/bench/state.h"

namespace stormcell {

Experiment::Experiment(std::unique_ptr<ExperimentState> state) : state_(std::move(state)) {}
Experiment::~Experiment() = default;
const ExperimentOptions& Experiment::options() const { return state_->options; }

std::unique_ptr<Experiment> Experiment::open(const ExperimentOptions& options, const Progress& progress) {
  std::unique_ptr<ExperimentState> state = open_state(options, progress);
  state->probe(ExperimentState::ProbeTime::whole, progress);
  return std::unique_ptr<Experiment>(new Experiment(std::move(state)));
}

}  // namespace stormcell
