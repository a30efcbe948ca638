#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/run_result.h"
#include "app/cli/session_text.h"
#include "app/cli/sheet_text.h"
#include "app/cli/structure_text.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/experiment/inspect.h"
#include "core/experiment/inspect_sheet.h"
#include "core/exports/text_output.h"
#include "core/readings/session_runs.h"

namespace stormcell::cli {
namespace {

class InspectVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "MODEL", model_,
                 "a folder, a .safetensors file, preset:NAME or demo:NAME; or a session, whose runs are listed; or any "
                 "model of other programs (GGUF, .safetensors, .onnx, .pt2, .pt), whose headers say what it is");
    add_text(app, "--size", size_, "size of the pictures, of a model that takes several", "HxW");
    add_setting(app, "annotations", settings_);
    add_text(app, "--phase", phase_,
             "whose graph: of one pass through the model, or of the decoding of new tokens (forward)",
             "forward|decode");
    add_text(app, "--config", config_, "a configuration that optimize wrote: the graph as its passes leave it");
    add_text(app, "--segments", segments_,
             "the plan as a tree of segments: what the device runs without the host, and why it asks for it", "FILE|-");
    add_setting(app, "weight_budget", settings_);
    add_text(app, "--text", text_, "the graph as text", "FILE|-");
    add_text(app, "--dot", dot_, "the graph for Graphviz", "FILE|-");
    app.add_flag("--check", check_, "of a session: read all of it, and say whether it is damaged");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if ((json_ == "-") + (text_ == "-") + (dot_ == "-") + (segments_ == "-") > 1)
      bad_input("-", "standard output takes one of --json, --text, --dot and --segments", "name files");
    if (settings_.weight_budget > 0 && segments_.empty())
      bad_input("--weight-budget", "says something of a plan's segments alone", "ask for --segments FILE|-");
    TextOutput json(json_), text(text_), dot(dot_), segments(segments_);
    for (const TextOutput* out : {&json, &text, &dot, &segments})
      if (out->is_standard_output()) console.take_standard_output();
    if (is_session_file(model_)) return list_runs(json, console);
    if (const size_t hash = model_.rfind('#'); hash != std::string::npos && is_session_file(model_.substr(0, hash)))
      bad_input(model_, "inspect lists all runs of a session", "name " + model_.substr(0, hash));
    if (check_) bad_input("--check", "is for sessions, and " + model_ + " is none", "a model is checked when it runs");
    SheetAnswer found = find_sheet(model_);
    if (found.sheet) return show_sheet(*found.sheet, json, console);
    model_ = found.model;
    InspectedModel model = inspect_with_graph(options());
    model.structure.sheet = sheet_of_opened(model.path);
    for (const std::string& w : model.structure.warnings) console.warning(w);
    json.write(to_json(model.structure));
    text.write(model.text);
    dot.write(model.dot);
    segments.write(model.segments);
    for (TextOutput* out : {&json, &text, &dot, &segments}) out->finish();
    console.print(to_text(model.structure, console.options().verbose) +
                  (model.structure.sheet ? needs_text(*model.structure.sheet) : std::string()));
    return 0;
  }

 private:
  InspectOptions options() const {
    InspectOptions o;
    o.model = model_, o.size = size_, o.phase = phase_, o.annotations = settings_.annotations;
    o.segments = !segments_.empty(), o.weight_budget = settings_.weight_budget;
    if (!config_.empty()) o.config = read_config(config_), o.config_name = config_;
    return o;
  }

  /// Options that only a graph answers. Throws Error(bad_input) for the first that was given.
  void refuse_options_of_graphs(const std::string& why, const std::string& advice) const {
    for (const auto& [name, given] : {std::pair("--text", !text_.empty()),
                                      {"--dot", !dot_.empty()},
                                      {"--size", !size_.empty()},
                                      {"--annotate", !settings_.annotations.empty()},
                                      {"--segments", !segments_.empty()},
                                      {"--config", !config_.empty()},
                                      {"--phase", work_phase(phase_) != WorkPhase::forward}})
      if (given) bad_input(name, why, advice);
  }

  int show_sheet(const ModelSheet& sheet, TextOutput& json, Console& console) const {
    refuse_options_of_graphs(model_ + " cannot be opened, so it has no graph", "inspect it without options to see why");
    for (const std::string& w : sheet.warnings) console.warning(w);
    json.write(to_json(sheet));
    json.finish();
    console.print(to_text(sheet));
    return 0;
  }

  int list_runs(TextOutput& json, Console& console) const {
    refuse_options_of_graphs("a session has no graph", "name the model");
    const SessionRuns list = list_session_runs(model_, check_, console.progress());
    json.write(to_json(list));
    json.finish();
    console.print(to_text(list));
    return 0;
  }

  ExperimentOptions settings_;  // of these the budget and the annotations
  std::string model_, size_, phase_ = "forward", config_, segments_, text_, dot_, json_;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_inspect() { return std::make_unique<InspectVerb>(); }

}  // namespace stormcell::cli
