#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/console.h"
#include "app/cli/numbers_text.h"
#include "app/cli/page.h"
#include "app/cli/verb.h"
#include "core/base/error.h"
#include "core/exports/text_output.h"
#include "core/imports/recorder_scripts.h"

namespace stormcell::cli {
namespace {

std::string list_text() {
  std::vector<std::vector<std::string>> rows;
  for (const RecorderScript& script : recorder_scripts()) rows.push_back({script.name, script.summary});
  return table_text(rows, {});
}

class RecorderVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    app.add_option_function<std::string>(
           "NAME",
           [this](const std::string& text) {
             if (text.empty()) bad_input("NAME", "is empty", "stormcell recorder lists the names");
             name_ = text;
           },
           "Names the recorder (default: the list is printed).")
        ->type_name("");
    app.footer(
        "A recorder is a Python file that makes another program write a routing trace:\n"
        "  stormcell recorder NAME > record.py\n"
        "Its first lines say how to use it and what it costs. Then: stormcell import trace.safetensors -o S.storm");
  }

  int execute(Console& console) override {
    if (name_.empty()) {
      console.show({{"These recorders make other programs write a routing trace.",
                     next_command({"recorder", std::string(recorder_scripts().front().name)}) + " > record.py"},
                    list_text()});
      return 0;
    }
    const std::string script = recorder_script(name_);
    console.take_standard_output();
    TextOutput out("-");
    out.write(script);
    out.finish();
    return 0;
  }

 private:
  std::string name_;
};

}  // namespace

std::unique_ptr<Verb> make_recorder() { return std::make_unique<RecorderVerb>(); }

}  // namespace stormcell::cli
