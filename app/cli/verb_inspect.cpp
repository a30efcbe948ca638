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
    add_text(app, "--size", size_, "size of the pictures, of a model that takes several", "HxW");
    add_annotate_option(app, annotations_);
    add_text(app, "--text", text_, "the graph as text", "FILE|-");
    add_text(app, "--dot", dot_, "the graph for Graphviz", "FILE|-");
    app.add_flag("--check", check_, "of a session: read all of it, and say whether it is damaged");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if ((json_ == "-") + (text_ == "-") + (dot_ == "-") > 1)
      bad_input("-", "standard output takes one of --json, --text and --dot", "name files");
    TextOutput json(json_), text(text_), dot(dot_);
    if (json.is_standard_output() || text.is_standard_output() || dot.is_standard_output()) console.take_standard_output();
    if (is_session_file(model_)) return list_runs(json, console);
    if (const size_t hash = model_.rfind('#'); hash != std::string::npos && is_session_file(model_.substr(0, hash)))
      bad_input(model_, "inspect lists all runs of a session", "name " + model_.substr(0, hash));
    if (check_) bad_input("--check", "is for sessions, and " + model_ + " is none", "a model is checked when it runs");
    const InspectedModel model = inspect_with_graph(model_, size_, annotations_);
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
    if (!text_.empty() || !dot_.empty() || !size_.empty() || !annotations_.empty())
      bad_input(!text_.empty()   ? "--text"
                : !dot_.empty()  ? "--dot"
                : !size_.empty() ? "--size"
                                 : "--annotate",
                "a session has no graph", "name the model");
    const SessionRuns list = list_session_runs(model_, check_, console.progress());
    json.write(to_json(list));
    json.finish();
    console.print(to_text(list));
    return 0;
  }

  std::vector<std::string> annotations_;
  std::string model_, size_, text_, dot_, json_;
  bool check_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_inspect() { return std::make_unique<InspectVerb>(); }

}  // namespace stormcell::cli
