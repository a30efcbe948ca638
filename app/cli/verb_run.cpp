#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "app/cli/run_result.h"
#include "core/base/error.h"
#include "core/exports/text_output.h"
#include "core/summary/plan_config.h"

namespace stormcell::cli {
namespace {

class RunVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_experiment_options(app, experiment_);
    add_phase_options(app, experiment_);
    add_measure_option(app, run_.measure_seconds);
    add_annotate_option(app, experiment_.annotations);
    add_text(app, "-o", run_.session, "session to append the timings to", "S.storm");
    add_text(app, "--config", config_file_, "a configuration that optimize found; - is standard input", "FILE|-");
    add_text(app, "--outputs", run_.outputs, "hidden states, logits and decisions as safetensors");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if (config_file_ == "-" && experiment_.data == "-") bad_input("--config", "standard input is the data already", "name a file");
    RunResult result(json_, run_.session, console);
    if (!run_.outputs.empty()) check_binary_output("--outputs", run_.outputs);
    if (!config_file_.empty()) {
      run_.config = read_config(config_file_);
      if (config_file_ != "-") run_.config_name = config_file_;
      experiment_.bucket_by_length |= parse_plan_config(run_.config, config_file_).bucket_by_length;
    }
    const auto experiment = Experiment::open(experiment_, console.progress());
    return result.show(*experiment->run(run_, console.progress()));
  }

 private:
  ExperimentOptions experiment_;
  RunOptions run_;
  std::string config_file_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_run() { return std::make_unique<RunVerb>(); }

}  // namespace stormcell::cli
