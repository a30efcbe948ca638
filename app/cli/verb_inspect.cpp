#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/figures_text.h"
#include "app/cli/options.h"
#include "core/base/error.h"
#include "core/experiment/export_output.h"
#include "core/experiment/inspect.h"

namespace stormcell::cli {
namespace {

class InspectVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "MODEL", model_, "a folder, a .safetensors file, preset:NAME or demo:NAME");
    add_text(app, "--text", text_, "the graph as text", "FILE|-");
    add_text(app, "--dot", dot_, "the graph for Graphviz", "FILE|-");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if ((json_ == "-") + (text_ == "-") + (dot_ == "-") > 1)
      bad_input("-", "standard output takes one of --json, --text and --dot", "name files");
    TextOutput json(json_), text(text_), dot(dot_);
    if (json.is_standard_output() || text.is_standard_output() || dot.is_standard_output()) console.take_standard_output();
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
  std::string model_, text_, dot_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_inspect() { return std::make_unique<InspectVerb>(); }

}  // namespace stormcell::cli
