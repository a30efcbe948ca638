#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/diff_text.h"
#include "app/cli/options.h"
#include "app/cli/told_result.h"
#include "core/difference/difference.h"

namespace stormcell::cli {
namespace {

class DiffVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "A", options_.a,
                 "Names a session (S.storm, S.storm#3) or a trace, the one that is right if one of them is.");
    add_argument(app, "B", options_.b, "Names another recording of the same tokens.");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    tell_result(
        console, json_, [&](const Progress& progress) { return diff_recordings(options_, progress); },
        [](const DifferenceFigures& figures) { return difference_page(figures); });
    return 0;
  }

 private:
  DiffOptions options_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Verb> make_diff() { return std::make_unique<DiffVerb>(); }

}  // namespace stormcell::cli
