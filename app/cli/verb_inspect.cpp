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
    add_argument(
        app, "MODEL", model_,
        "Names a model (a folder, a .safetensors file, preset:NAME or demo:NAME), a session, or a model of other "
        "programs (GGUF, .safetensors, .onnx, .pt2, .pt).");
    add_text(app, "--size", size_,
             "Sets the size of the pictures, if the model takes several (default: the model's own).", "HxW");
    add_setting(app, "annotations", settings_);
    add_text(app, "--phase", phase_, "Shows the graph of one pass through the model or of decoding (default: forward).",
             "forward|decode");
    add_text(app, "--config", config_,
             "Shows the graph as the passes of this configuration leave it (default: as the model came).");
    add_text(app, "--segments", segments_,
             "Writes the plan as a tree of segments that the device runs without the host; - is standard output "
             "(default: none).",
             "FILE|-");
    add_setting(app, "weight_budget", settings_);
    add_text(app, "--text", text_, "Writes the graph as text; - is standard output (default: none).", "FILE|-");
    add_text(app, "--dot", dot_, "Writes the graph for Graphviz; - is standard output (default: none).", "FILE|-");
    app.add_flag("--check", check_, "Reads all of a session, and says whether it is damaged.");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if ((json_ == "-") + (text_ == "-") + (dot_ == "-") + (segments_ == "-") > 1)
      bad_input("-", "standard output takes one of --json, --text, --dot and --segments", "name files");
    if (settings_.weight_budget > 0 && segments_.empty())
      bad_input("--weight-budget", "is about the segments of a plan only", "ask for --segments FILE|-");
    TextOutput json(json_), text(text_), dot(dot_), segments(segments_);
    for (const TextOutput* out : {&json, &text, &dot, &segments})
      if (out->is_standard_output()) console.take_standard_output();
    if (is_session_file(model_)) return list_runs(json, console);
    if (const size_t hash = model_.rfind('#'); hash != std::string::npos && is_session_file(model_.substr(0, hash)))
      bad_input(model_, "inspect lists all runs of a session", "name " + model_.substr(0, hash));
    if (check_)
      bad_input("--check", "is for sessions, and " + model_ + " is not a session", "a model is checked when it runs");
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
    Page page = page_of(model.structure, console.shows_details());
    if (model.structure.sheet) page.details += needs_text(*model.structure.sheet);
    console.show(page);
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
    console.show(page_of(sheet));
    return 0;
  }

  int list_runs(TextOutput& json, Console& console) const {
    refuse_options_of_graphs("a session has no graph", "name the model");
    const SessionRuns list = list_session_runs(model_, check_, console.progress());
    json.write(to_json(list));
    json.finish();
    console.show(page_of(list));
    return 0;
  }

  ExperimentOptions settings_;  // of these the budget and the annotations
  std::string model_, size_, phase_ = "forward", config_, segments_, text_, dot_, json_;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_inspect() { return std::make_unique<InspectVerb>(); }

}  // namespace stormcell::cli
