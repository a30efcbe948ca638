#include "core/experiment/optimize_options.h"

#include <algorithm>

#include "core/base/bounded_number.h"
#include "core/experiment/experiment.h"
#include "core/experiment/pass_list.h"

namespace stormcell {

void read_measure_seconds(const std::string& word, double& seconds, ExperimentOptions& experiment) {
  seconds = bounded_number<double>(kMeasureOption, word, {});
  experiment.probe_seconds = std::min(experiment.probe_seconds, seconds / 10);
}

namespace optimize_options {

void read_measure(const Words& words, OptimizeOptions& optimize, ExperimentOptions& experiment) {
  read_measure_seconds(words.front(), optimize.measure_seconds, experiment);
}
void read_limit(const Words& words, OptimizeOptions& optimize, ExperimentOptions&) {
  optimize.time_limit = parse_optimize_limit(words.front());
}
void read_enable(const Words& words, OptimizeOptions& optimize, ExperimentOptions&) {
  check_pass_ids("--enable", words);
  optimize.passes.enable = words;
}
void read_disable(const Words& words, OptimizeOptions& optimize, ExperimentOptions&) {
  check_pass_ids("--disable", words);
  optimize.passes.disable = words;
}
void read_only(const Words& words, OptimizeOptions& optimize, ExperimentOptions&) {
  check_pass_ids("--only", words);
  optimize.passes.only = words;
}
void read_pass_options(const Words& words, OptimizeOptions& optimize, ExperimentOptions&) {
  optimize.passes.options = parse_pass_options("--pass-option", words);
}

}  // namespace optimize_options
}  // namespace stormcell
