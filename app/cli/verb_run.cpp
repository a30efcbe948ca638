#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>

#include "app/cli/options.h"
#include "app/cli/run_result.h"
#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/configuration/plan_config.h"
#include "core/exports/text_output.h"

namespace stormcell::cli {
namespace {

class RunVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_experiment_options(app, "run", experiment_);
    add_measure_option(app, run_.measure_seconds, experiment_);
    add_text(app, "-o", run_.session, "Appends the timings to this session (default: none).", "S.storm");
    add_text(app, "--config", config_file_,
             "Runs a configuration that optimize found; - is standard input (default: the model as it came).",
             "FILE|-");
    add_text(app, "--outputs", run_.outputs,
             "Writes hidden states, logits and decisions as safetensors (default: none).");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if (config_file_ == "-" && experiment_.data == "-")
      bad_input("--config", "standard input is the data already", "name a file");
    RunResult result(json_, run_.session, console);
    if (!run_.outputs.empty()) check_binary_output("--outputs", run_.outputs);
    if (!config_file_.empty()) {
      run_.config = read_config(config_file_);
      if (config_file_ != "-") run_.config_name = config_file_;
      const PlanConfig config = parse_plan_config(run_.config, config_file_);
      experiment_.bucket_by_length |= config.bucket_by_length;
      if (work_phase(experiment_.phase) == WorkPhase::both && config.phase == WorkPhase::forward)
        read_config_of_decoding();
    }
    const auto experiment = Experiment::open(experiment_, console.progress());
    run_.measuring_program = kThisProgram;
    run_.half_done = [&](const RunSummaryFigures& first) { result.print_half(first); };
    return result.show(*result.guarding_half([&] { return experiment->run(run_, console.progress()); }));
  }

 private:
  /// Reads the second file of optimize --phase both, which writes one for each phase.
  void read_config_of_decoding() {
    if (config_file_ == "-") bad_input("--config", "--phase both replays two files, one for each phase", "name a file");
    run_.decode_config_name = file_of_decoding(config_file_);
    if (!std::filesystem::exists(run_.decode_config_name))
      bad_input("--config", config_file_ + " is for one phase, and " + run_.decode_config_name + " is not there",
                "use --phase forward or decode, or optimize --phase both --config-out FILE");
    run_.decode_config = read_config(run_.decode_config_name);
  }

  ExperimentOptions experiment_;
  RunOptions run_;
  std::string config_file_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_run() { return std::make_unique<RunVerb>(); }

}  // namespace stormcell::cli
