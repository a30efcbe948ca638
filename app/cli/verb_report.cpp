#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "core/base/error.h"
#include "core/report/report.h"

namespace stormcell::cli {
namespace {

class ReportVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "SESSION", session_,
                 "Names the run: S.storm, S.storm#3 or S.storm#name (default: the newest run with figures).");
    add_text(app, "-o", output_, "Writes the page to this file; - is standard output (required; no default).",
             "FILE.html|-");
  }

  int execute(Console& console) override {
    if (output_.empty()) bad_input("-o", "is missing", "-o FILE.html");
    if (output_ == "-") console.take_standard_output();
    write_report(session_, output_);
    console.show({{"The report of " + session_ + " is in " + output_ + "; any browser opens it."}, {}});
    return 0;
  }

 private:
  std::string session_, output_;
};

}  // namespace

std::unique_ptr<Verb> make_report() { return std::make_unique<ReportVerb>(); }

}  // namespace stormcell::cli
