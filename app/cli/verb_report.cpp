#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "core/experiment/report/report.h"

namespace stormcell::cli {
namespace {

class ReportVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "SESSION", session_, "S.storm, S.storm#3 or S.storm#name (the newest run with a result)");
    add_text(app, "-o", output_, "page to write; - is standard output, the default", "FILE|-");
  }

  int execute(Console& console) override {
    const std::string output = output_.empty() ? "-" : output_;
    if (output == "-") console.take_standard_output();
    write_report(session_, output);
    console.print(output + "\n");
    return 0;
  }

 private:
  std::string session_, output_;
};

}  // namespace

std::unique_ptr<Verb> make_report() { return std::make_unique<ReportVerb>(); }

}  // namespace stormcell::cli
