#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/figures_text.h"
#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "core/base/error.h"
#include "core/experiment/inspect.h"
#include "core/exports/text_output.h"
#include "core/readings/session_runs.h"

namespace stormcell::cli {
namespace {

class InspectVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "MODEL", model_, "a folder, a .safetensors file, preset:NAME or demo:NAME; or a session, whose runs are listed");
    add_text(app, "--text", text_, "the graph as text", "FILE|-");
    add_text(app, "--dot", dot_, "the graph for Graphviz", "FILE|-");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if ((json_ == "-") + (text_ == "-") + (dot_ == "-") > 1)
      bad_input("-", "standard output takes one of --json, --text and --dot", "name files");
    TextOutput json(json_), text(text_), dot(dot_);
    if (json.is_standard_output() || text.is_standard_output() || dot.is_standard_output()) console.take_standard_output();
    if (is_session_file(model_)) return list_runs(json, console);
    const InspectedModel model = inspect_with_graph(model_);
    for (const std::string& w : model.structure.warnings) console.warning(w);
    json.write(to_json(model.structure));
    text.write(model.text);
    dot.write(model.dot);
    for (TextOutput* out : {&json, &text, &dot}) out->finish();
    console.print(to_text(model.structure, console.options().verbose));
    return 0;
  }

 private:
  int list_runs(TextOutput& json, Console& console) const {
    if (!text_.empty() || !dot_.empty()) bad_input(text_.empty() ? "--dot" : "--text", "a session has no graph", "name the model");
    const SessionRuns list = list_session_runs(model_);
    json.write(to_json(list));
    json.finish();
    std::vector<std::vector<std::string>> rows = {{"run", "kind", "", "batches", "began", "speed-up", "passes"}};
    for (const SessionRunLine& run : list.runs) {
      std::string passes, speedup = "-";
      for (const std::string& pass : run.passes) passes += (passes.empty() ? "" : ", ") + pass;
      if (run.speedup) speedup = number_text(*run.speedup) + "x";
      if (run.speedup && run.speedup_ci95)
        speedup += " [" + number_text((*run.speedup_ci95)[0]) + ", " + number_text((*run.speedup_ci95)[1]) + "]";
      rows.push_back({"#" + std::to_string(run.id), run.kind + (run.name.empty() ? "" : " " + run.name), run.status,
                      count_text(run.batches), run.started, speedup, passes.empty() ? run.figures ? "" : "recording" : passes});
    }
    console.print(list.file + ": " + list.model + (list.family.empty() ? "" : " (" + list.family + ")") + ", " +
                  count_text(static_cast<int64_t>(list.runs.size())) + (list.runs.size() == 1 ? " run\n\n" : " runs\n\n") +
                  table_text(rows, {3, 5}));
    return 0;
  }

  std::string model_, text_, dot_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_inspect() { return std::make_unique<InspectVerb>(); }

}  // namespace stormcell::cli
