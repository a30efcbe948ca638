#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <optional>

#include "app/cli/options.h"
#include "app/cli/run_result.h"
#include "app/cli/text_printer.h"

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
    // Somebody who typed a text, or sits before the terminal, reads along. Others get the page alone.
    const bool reads_along = !experiment_.prompts.empty() || experiment_.data == "-" || isatty(STDOUT_FILENO) != 0;
    std::optional<TextPrinter> printer;
    if (reads_along && !console.options().quiet && json_ != "-") printer.emplace(console);
    const auto figures = experiment->generate(session_, console.progress(), printer ? &*printer : nullptr);
    return result.show(*figures, printer && printer->printed() ? TextsOfPage::left_out : TextsOfPage::shown);
  }

 private:
  ExperimentOptions experiment_;
  std::string session_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_generate() { return std::make_unique<GenerateVerb>(); }

}  // namespace stormcell::cli
