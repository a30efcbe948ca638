// Internal verb: measures once in its own process, for the run that asks for it (core/measuring/fresh_measuring.h).
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "core/experiment/measure_afresh.h"
#include "core/exports/text_output.h"

namespace stormcell::cli {
namespace {

class MeasureAgainVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "REQUEST", request_, "Names the file with what the run asks for.");
    add_argument(app, "FIGURES", figures_, "Names the file for what was measured.");
  }

  int execute(Console& console) override {
    TextOutput figures(figures_);
    figures.write(measure_afresh(read_text(request_), console.progress()));
    figures.finish();
    return 0;
  }

 private:
  std::string request_, figures_;
};

}  // namespace

std::unique_ptr<Verb> make_measure_again() { return std::make_unique<MeasureAgainVerb>(); }

}  // namespace stormcell::cli
