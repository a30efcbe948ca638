#include "app/cli/placement_options.h"

#include <CLI/App.hpp>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/exports/text_output.h"
#include "core/planning/cluster_file.h"

namespace stormcell::cli {

void add_step_options(CLI::App& app, StepOptions& step, std::string& calibration) {
  add_text(app, "--backend", step.backend,
           "Names how tokens reach their experts (default: per-rank; of counts per-expert).",
           joined(placement_backends(), "|"));
  add_whole_number(app, "--tokens-per-step", step.tokens_per_step, 1,
                   "Costs steps of N tokens, drawn from the recorded ones (default: the recorded steps).");
  add_text(app, "--replicas", step.replicas,
           "Sends tokens evenly to all copies of an expert, or to the copy on their own GPU or node (default: even).",
           joined(replica_rules(), "|"));
  add_text(
      app, "--residence", step.residence,
      "Keeps a token on one GPU, or moves it in each layer to its heaviest expert, as an experiment (default: home).",
      joined(residences(), "|"));
  add_text(app, "--calibration", calibration,
           "Takes rates and start-up times from a file of calibrate -o (default: from data sheets).", "CAL.json");
}

void add_size_options(CLI::App& app, SizeOptions& sizes) {
  add_text(app, "--model-config", sizes.model_config,
           "Reads the sizes of the experts from the model's config.json (default: as the session says).",
           "config.json");
  add_whole_number(
      app, "--hidden", sizes.hidden, 1,
      "Sets the width of a token's hidden state, if there is no config.json (default: as the session says).");
  add_whole_number(app, "--ffn", sizes.ffn, 1,
                   "Sets the inner width of an expert, if there is no config.json (default: as the session says).");
  add_text(app, "--dtype", sizes.dtype,
           "Sets the format of the experts' weights (default: as the trace says, else as published, else bf16).",
           "f32|bf16|f16|f8|i8|f4");
}

std::string sizes_source_text(const ModelSizes& sizes) {
  return sizes.source + (sizes.matrices_assumed ? "; taken as gated: 3 matrices" : "");
}

std::string clusters_footer() {
  std::string text = "clusters:";
  for (const std::string& name : cluster_presets()) text += "\n  preset:" + name;
  return text;
}

void check_report_option(const std::string& report, const std::string& json, Console& console) {
  if (report == "-" && json == "-") bad_input("--report", "standard output is taken already", "name a file");
  if (report == "-") console.take_standard_output();
  if (!report.empty()) check_output_path(report);
}

void tell_report(const std::string& report, Console& console) {
  if (!report.empty() && report != "-") console.print("report  " + report + "\n");
}

}  // namespace stormcell::cli
