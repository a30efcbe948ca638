#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <optional>

#include "app/cli/options.h"
#include "app/cli/run_result.h"
#include "core/base/child_process.h"
#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/base/scratch_folder.h"
#include "core/experiment/pass_list.h"
#include "core/exports/text_output.h"
#include "core/report/report.h"

namespace stormcell::cli {
namespace {

class OptimizeVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_experiment_options(app, "optimize", experiment_);
    add_optimize_options(app, optimize_, experiment_);
    add_text(app, "-o", optimize_.session, "Appends profile, timings and result to this session (default: none).",
             "S.storm");
    app.footer(passes_list() + options_text());
    add_text(app, "--config-out", config_out_,
             "Writes the configuration found, for run --config; - is standard output (default: none).", "FILE|-");
    add_text(app, "--report", report_, "Writes one self-contained HTML page; - is standard output (default: none).",
             "FILE|-");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    optimize_.begun = seconds_now();
    if (json_ == "-" && config_out_ == "-")
      bad_input("--config-out", "standard output is taken by --json already", "name a file");
    if (report_ == "-" && (json_ == "-" || config_out_ == "-"))
      bad_input("--report", "standard output is taken already", "name a file");
    if (report_ == "-") console.take_standard_output();
    const bool both = work_phase(experiment_.phase) == WorkPhase::both;
    for (const auto& [option, file] : {std::pair{"--config-out", &config_out_}, {"--report", &report_}})
      if (both && *file == "-") bad_input(option, "--phase both writes two files, one for each phase", "name a file");
    if (!report_.empty()) check_output_path(report_);
    if (both && !report_.empty()) check_output_path(file_of_decoding(report_));
    RunResult result(json_, optimize_.session, console);
    // A report is made from a session: without one, from a temporary session.
    std::optional<ScratchFolder> scratch;
    if (!report_.empty() && optimize_.session.empty()) optimize_.session = scratch.emplace().path() + "/report.storm";
    TextOutput config(config_out_), decode_config(both && !config_out_.empty() ? file_of_decoding(config_out_) : "");
    if (config.is_standard_output()) console.take_standard_output();
    const auto experiment = Experiment::open(experiment_, console.progress());
    optimize_.measuring_program = kThisProgram;
    const auto shown_of = [&](const RunSummaryFigures& figures) {
      return scratch ? without_session(figures) : figures;
    };
    optimize_.half_done = [&](const RunSummaryFigures& first) {
      write_config(first.config, config);
      result.print_half(shown_of(first));
      write_page(first, report_, console);
    };
    const auto figures = result.guarding_half([&] { return experiment->optimize(optimize_, console.progress()); });
    write_config(figures->decode ? figures->decode->config : figures->config, figures->decode ? decode_config : config);
    const RunSummaryFigures shown = shown_of(*figures);
    result.print(shown);
    // The table first: the page takes a moment. A run that could not be verified has its report too, which shows why.
    if (!figures->decode) write_page(*figures, report_, console);
    if (figures->decode) write_page(*figures->decode, report_.empty() ? "" : file_of_decoding(report_), console);
    return RunResult::verdict(shown);
  }

 private:
  /// An unverified plan has no configuration: the file then stays unchanged.
  static void write_config(const std::string& config, TextOutput& to) {
    if (config.empty()) return;
    to.write(config + "\n");
    to.finish();
  }
  static RunSummaryFigures without_session(RunSummaryFigures figures) {
    figures.session.clear(), figures.session_run = 0;
    if (figures.decode) figures.decode = std::make_shared<RunSummaryFigures>(without_session(*figures.decode));
    return figures;
  }
  static void write_page(const RunSummaryFigures& figures, const std::string& file, Console& console) {
    if (file.empty()) return;
    write_report(figures.session + "#" + std::to_string(figures.session_run), file);
    if (file != "-") console.print("report  " + file + "\n");
  }
  /// "  unpad               Skip padding. Products, attention and routers compute real cells only."
  static std::string passes_list() {
    std::string text = "passes, by the id that options name (* changes results, only when enabled):\n";
    for (const PassLine& pass : list_passes()) {
      std::string id = "  " + pass.id + (pass.lossy ? "*" : "");
      id.resize(std::max<size_t>(id.size() + 2, 22), ' ');
      text += id + pass.name + ". " + pass.summary + "\n";
    }
    return text;
  }
  /// "  dead-path.max-share=0      the largest share ..."
  static std::string options_text() {
    std::string text = "options of passes, with their defaults:\n";
    for (const PassLine& pass : list_passes())
      for (const PassOptionLine& option : pass.options) {
        std::string name = "  " + pass.id + "." + option.key + "=" + option.standard;
        name.resize(std::max<size_t>(name.size() + 2, 40), ' ');
        text += name + option.summary + "\n";
      }
    return text;
  }

  ExperimentOptions experiment_;
  OptimizeOptions optimize_;
  std::string config_out_, report_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_optimize() { return std::make_unique<OptimizeVerb>(); }

}  // namespace stormcell::cli
