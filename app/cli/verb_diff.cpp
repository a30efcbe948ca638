#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/diff_text.h"
#include "app/cli/options.h"
#include "app/cli/placement_options.h"
#include "app/cli/told_result.h"
#include "core/difference/difference.h"
#include "core/report/difference_report.h"

namespace stormcell::cli {
namespace {

class DiffVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "A", options_.a,
                 "Names a session (S.storm, S.storm#3) or a trace, the one that is right if one of them is.");
    add_argument(app, "B", options_.b, "Names another recording of the same tokens.");
    add_text(app, "--report", report_, "Writes one self-contained HTML page; - is standard output (default: none).",
             "FILE|-");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    check_report_option(report_, json_, console);
    if (!report_.empty()) options_.samples_each = kSamplesOfReport;
    DifferenceFigures reported;
    const auto work = [&](const Progress& progress) {
      DifferenceFigures figures = diff_recordings(options_, progress);
      if (!report_.empty()) reported = figures;
      return figures;
    };
    tell_result(console, json_, work, [](const DifferenceFigures& figures) { return difference_page(figures); });
    if (!report_.empty()) write_difference_report(reported, report_);
    tell_report(report_, console);
    return 0;
  }

 private:
  DiffOptions options_;
  std::string report_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_diff() { return std::make_unique<DiffVerb>(); }

}  // namespace stormcell::cli
