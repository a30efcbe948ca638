#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "app/cli/run_result.h"

namespace stormcell::cli {
namespace {

class GenerateVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_experiment_options(app, "generate", experiment_);
    add_text(app, "-o", session_, "Appends every decision to this session (default: none).", "S.storm");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    RunResult result(json_, session_, console);
    const auto experiment = Experiment::open(experiment_, console.progress());
    return result.show(*experiment->generate(session_, console.progress()));
  }

 private:
  ExperimentOptions experiment_;
  std::string session_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_generate() { return std::make_unique<GenerateVerb>(); }

}  // namespace stormcell::cli
