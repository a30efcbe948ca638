#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "app/cli/run_result.h"

namespace stormcell::cli {
namespace {

class ProfileVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_experiment_options(app, "profile", experiment_);
    add_measure_option(app, run_.measure_seconds, experiment_);
    add_text(app, "-o", run_.session, "Appends decisions and timings to this session (default: none).", "S.storm");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    RunResult result(json_, run_.session, console);
    run_.decisions = true;
    const auto experiment = Experiment::open(experiment_, console.progress());
    run_.half_done = [&](const RunSummaryFigures& first) { result.print_half(first); };
    return result.show(*result.guarding_half([&] { return experiment->run(run_, console.progress()); }));
  }

 private:
  ExperimentOptions experiment_;
  RunOptions run_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Verb> make_profile() { return std::make_unique<ProfileVerb>(); }

}  // namespace stormcell::cli
