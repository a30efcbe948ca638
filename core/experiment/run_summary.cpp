#include "core/experiment/run_summary.h"

namespace stormcell {

std::shared_ptr<RunSummaryFigures> start_summary(const Workload& work, const std::string& verb) {
  const Experiment::State& s = work.state();
  auto r = std::make_shared<RunSummaryFigures>();
  r->verb = verb;
  r->model = s.model_figures();
  r->dataset = s.dataset_figures();
  r->phase = work.phase();
  r->settings = s.settings_json(work.phase());
  r->warnings = s.warnings();
  for (std::string& warning : work.warnings()) r->warnings.push_back(std::move(warning));
  return r;
}

PlanConfig start_config(const Workload& work) {
  const Experiment::State& s = work.state();
  PlanConfig config;
  config.model = s.model->name;
  config.fingerprint = s.model->fingerprint;
  config.device = s.options.device;
  config.phase = work.phase();
  config.dtype = std::string(to_text(s.dtype));
  config.bucket_by_length = s.options.bucket_by_length;
  config.annotations = s.options.annotations;
  return config;
}

}  // namespace stormcell
