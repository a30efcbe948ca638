#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "app/cli/patterns_text.h"
#include "app/cli/placement_options.h"
#include "app/cli/told_result.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/patterns/pattern_tables.h"
#include "core/report/patterns_report.h"

namespace stormcell::cli {
namespace {

void check_recordings(const std::vector<std::string>& recordings) {
  for (const std::string& recording : recordings)
    if (recording.empty()) bad_input("RECORDING", "is empty", "name a session or a trace");
}

class PatternsVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("RECORDING", options_.recordings,
                   "Names a session (S.storm, S.storm#3) or a trace, or several of one model that are labels: "
                   "NAME=RECORDING.")
        ->type_name("")
        ->required();
    add_text(app, "--labels", options_.labels,
             "Gives requests labels by a CSV file with the columns request and label (default: those that the "
             "recording has).");
    app.add_option_function<std::string>(
           "--layers",
           [this](const std::string& text) {
             options_.layer_pairs = parse_layer_pairs(text);
             layers_named_ = true;
           },
           "Counts transitions between these layers, such as 0-7,7-15 (default: all that are --gap apart).")
        ->type_name("PAIRS");
    add_whole_number(app, "--gap", options_.gap, 1,
                     "Counts transitions between layers that are N routers apart (default: 1, the next one).");
    add_whole_number(app, "--first", options_.first_choices, 1,
                     "Counts the first N choices of each cell only, the heaviest ones (default: all).");
    add_whole_number(app, "--fewest-cells", options_.fewest_cells, 1,
                     "Leaves tokens with fewer cells out of the vocabulary (default: 10; published curves take 1).");
    app.add_option_function<std::string>(
           "--below", [this](const std::string& text) { options_.margins = parse_margins(text); },
           "Counts the margins below these numbers (default: 0.01,0.03,0.05,0.1).")
        ->type_name("MARGINS");
    add_text(app, "--tables", tables_, "Writes each figure as a CSV table into this folder (default: none).", "FOLDER");
    add_text(app, "--report", report_, "Writes one self-contained HTML page; - is standard output (default: none).",
             "FILE|-");
    add_json_option(app, json_);
    std::string footer = "tables:";
    for (const PatternTable& t : pattern_tables())
      footer += "\n  " + std::string(t.name) + ": " + std::string(t.summary);
    app.footer(footer);
  }

  int execute(Console& console) override {
    if (layers_named_ && options_.gap != 1) bad_input("--gap", "works without --layers only", "leave one of them out");
    check_recordings(options_.recordings);
    check_report_option(report_, json_, console);
    if (!tables_.empty()) make_table_folder(tables_);
    std::vector<std::string> written;
    const auto work = [&](const Progress& progress) {
      PatternFigures figures = count_patterns(options_, progress);
      if (!tables_.empty()) written = write_pattern_tables(figures, tables_);
      if (!report_.empty()) write_patterns_report(figures, command_of(options_), report_);
      return figures;
    };
    tell_result(console, json_, work, patterns_page);
    if (!tables_.empty()) console.print("The tables are in " + tables_ + ": " + joined(written) + ".\n");
    tell_report(report_, console);
    return 0;
  }

 private:
  PatternOptions options_;
  std::string tables_, report_, json_;
  bool layers_named_ = false;
};

class SaturationVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("RECORDING", options_.recordings,
                   "Names recordings of the same tokens at each checkpoint, the first one first and the last one last: "
                   "sessions (S.storm#3) or traces, or NAME=RECORDING.")
        ->type_name("")
        ->required();
    add_text(app, "--table", table_, "Writes the shares as a CSV table; - is standard output (default: none).",
             "FILE|-");
    add_text(app, "--report", report_, "Writes one self-contained HTML page; - is standard output (default: none).",
             "FILE|-");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    check_recordings(options_.recordings);
    if (table_ == "-" && json_ == "-") bad_input("--table", "- is taken by --json", "write one of them to a file");
    if (table_ == "-" && report_ == "-") bad_input("--table", "- is taken by --report", "write one of them to a file");
    check_report_option(report_, json_, console);
    TextOutput table(table_);
    if (table.is_standard_output()) console.take_standard_output();
    const auto work = [&](const Progress& progress) {
      SaturationFigures figures = saturation_of(options_, progress);
      if (!table_.empty()) table.write(saturation_table_text(figures));
      table.finish();
      if (!report_.empty()) write_saturation_report(figures, command_of(options_), report_);
      return figures;
    };
    tell_result(console, json_, work, saturation_page);
    if (!table_.empty() && !table.is_standard_output()) console.print("The table is in " + table_ + ".\n");
    tell_report(report_, console);
    return 0;
  }

 private:
  SaturationOptions options_;
  std::string table_, report_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_patterns() { return std::make_unique<PatternsVerb>(); }
std::unique_ptr<Verb> make_saturation() { return std::make_unique<SaturationVerb>(); }

}  // namespace stormcell::cli
