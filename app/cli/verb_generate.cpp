#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/figures_text.h"
#include "app/cli/options.h"
#include "app/cli/run_result.h"

namespace stormcell::cli {
namespace {

class GenerateVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_experiment_options(app, experiment_);
    add_whole_number(app, "--max-new-tokens", experiment_.most_new_tokens, 1, "at most this many tokens for each sequence (64)");
    add_text(app, "-o", session_, "session to append to", "S.storm");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    check_session_option(session_);
    console.set_session(session_);
    TextOutput json(json_);
    if (json.is_standard_output()) console.take_standard_output();
    const auto experiment = Experiment::open(experiment_, console.progress());
    const auto figures = experiment->generate(session_, console.progress());
    for (const std::string& w : figures->warnings) console.warning(w);
    json.write(to_json(*figures));
    json.finish();
    console.print(to_text(*figures, console.options().verbose));
    if (figures->verified && !figures->verified->passed) fail_verification(figures->model.name, figures->verified->reasons);
    return 0;
  }

 private:
  ExperimentOptions experiment_;
  std::string session_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_generate() { return std::make_unique<GenerateVerb>(); }

}  // namespace stormcell::cli
