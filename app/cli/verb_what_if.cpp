#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "app/cli/run_result.h"
#include "app/cli/told_result.h"
#include "app/cli/what_if_text.h"
#include "core/base/bounded_number.h"
#include "core/base/child_process.h"
#include "core/base/error.h"
#include "core/exports/replay_file.h"
#include "core/formats/file_kind.h"

namespace stormcell::cli {
namespace {

/// Parses "encoder.block.1.mlp/3": the branch is behind the last slash.
BranchOff parse_branch(const std::string& text) {
  const size_t slash = text.rfind('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == text.size())
    bad_input("--off", "\"" + text + "\" is not a branch of a router", "use ROUTER/BRANCH; inspect lists the routers");
  constexpr double kMostNumber = 1 << 30;
  return {text.substr(0, slash), bounded_number<int32_t>("--off", text.substr(slash + 1), {0, kMostNumber})};
}

class WhatIfVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    experiment_.probe_seconds = 0.02;  // times are no more than a hint here
    add_experiment_options(app, "what-if", experiment_);
    app.get_option("MODEL")->description(
        "Names the model: a folder, a .safetensors file, preset:NAME or demo:NAME; or a recording, S.storm, S.storm#3 "
        "or S.storm#name.");
    app.get_option("--data")->required(false)->description(
        "Names the data of a model, as for run; a recording holds its own choices (default: none).");
    app.add_option(
           "--off", off_,
           "Switches a branch off, so that its router takes the next best; may be repeated (default: none is off).")
        ->type_name("ROUTER/BRANCH")
        ->allow_extra_args(false);
    add_whole_number(app, "--k", k_, 1,
                     "Lets each cell take N branches where a router takes the k best (default: as the model).");
    app.add_option("--capacity", capacities_,
                   "Gives each branch room for 8 cells of a sequence (8), for 1.25 times its even share of a batch "
                   "(1.25x) or for all cells (all), of one router or of all that have a capacity; may be repeated "
                   "(default: as the model).")
        ->type_name("[ROUTER=]CAPACITY")
        ->allow_extra_args(false);
    add_text(app, "--force", what_if_.intervention.force,
             "Gives routers their choices from a file that run --outputs wrote (default: none).", "F.safetensors");
    add_measure_option(app, what_if_.measure_seconds, experiment_);
    add_text(app, "-o", what_if_.session,
             "Appends both runs to this session, or of a recording writes the choices to this file (default: none).",
             "S.storm|FILE");
    add_text(app, "--format", format_,
             "Says which program is to replay the choices of a recording, one of those below (default: none).",
             "FORMAT");
    add_json_option(app, json_);
    std::string formats = "formats of --format, for recordings:";
    for (const ReplayFormat& f : replay_formats())
      formats += "\n  " + std::string(f.id) + ": " + std::string(f.summary) + "\n    " + std::string(f.documented) +
                 "\n    " + std::string(f.why_not.empty() ? f.how : f.why_not);
    app.footer(formats);
  }

  int execute(Console& console) override {
    for (const std::string& text : off_) what_if_.intervention.off.push_back(parse_branch(text));
    if (k_ > 1 << 20) bad_input("--k", std::to_string(k_) + " is more than any router has branches", "use fewer");
    what_if_.intervention.k = static_cast<int32_t>(k_);
    for (const std::string& text : capacities_)
      what_if_.intervention.capacities.push_back(parse_capacity_change("--capacity", text));
    const bool has_data = !experiment_.data.empty() || !experiment_.prompts.empty();
    if (is_recording(experiment_.model) || (!format_.empty() && !has_data)) return replay(console);
    if (!has_data) bad_input("--data", "is missing", "name the data, or a recording instead of a model");
    if (!format_.empty())
      bad_input("--format", "is for recordings, and a model is run instead", "leave it out, or name a session");
    what_if_.measuring_program = kThisProgram;
    RunResult result(json_, what_if_.session, console);
    const auto experiment = Experiment::open(experiment_, console.progress());
    return result.show(*experiment->what_if(what_if_, console.progress()));
  }

 private:
  static bool is_recording(const std::string& model) {
    const auto known = known_file(model.substr(0, model.rfind('#')));
    return known && known->kind->uses.has(FileUse::session);
  }

  /// A recording is not run: its choices are changed and written for a program that replays them.
  int replay(Console& console) {
    if (!experiment_.data.empty()) bad_input("--data", "a recording has its own data", "leave it out");
    for (const std::string& word : command_words(experiment_, "what-if"))
      if (word.starts_with("--")) bad_input(word, "has no effect on a recording, which is not run", "leave it out");
    if (what_if_.intervention.empty())
      bad_input("what-if", "nothing is to be changed", "use --off ROUTER/BRANCH, --k N or --force FILE");
    const ReplayOptions options{experiment_.model, what_if_.intervention, format_, what_if_.session};
    const bool verbose = console.shows_details();
    tell_result(
        console, json_, [&](const Progress& progress) { return write_replay(options, progress); },
        [&](const ReplayFigures& f) { return page_of(f, verbose); });
    return 0;
  }

  ExperimentOptions experiment_;
  WhatIfOptions what_if_;
  std::vector<std::string> off_, capacities_;
  int64_t k_ = 0;
  std::string json_, format_;
};

}  // namespace

std::unique_ptr<Verb> make_what_if() { return std::make_unique<WhatIfVerb>(); }

}  // namespace stormcell::cli
