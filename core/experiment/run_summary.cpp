#include "core/experiment/run_summary.h"

namespace stormcell {

std::shared_ptr<RunSummaryFigures> start_summary(const Experiment::State& s, const std::string& verb) {
  auto r = std::make_shared<RunSummaryFigures>();
  r->verb = verb;
  r->model = s.model_figures();
  r->dataset = s.dataset_figures();
  r->settings = s.settings_json();
  r->warnings = s.warnings();
  return r;
}

PlanConfig start_config(const Experiment::State& s) {
  PlanConfig config;
  config.model = s.model->name;
  config.fingerprint = s.model->fingerprint;
  config.device = s.options.device;
  config.dtype = std::string(to_text(s.dtype));
  config.bucket_by_length = s.options.bucket_by_length;
  config.annotations = s.options.annotations;
  return config;
}

}  // namespace stormcell
