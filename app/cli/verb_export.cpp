#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/options.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/exports/export_csv.h"
#include "core/exports/export_formats.h"

namespace stormcell::cli {
namespace {

class ExportVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(
        app, "SESSION", export_.session,
        "Names the run: S.storm, S.storm#3 or S.storm#name (default: the newest run that holds what is asked for).");
    std::string formats = "formats:", tables;
    for (const ExportFormat& f : export_formats())
      formats += "\n  " + std::string(f.id) + ": " + std::string(f.summary);
    for (const CsvTable& t : csv_tables()) add_to_list(tables, t.what);
    add_text(app, "--format", format_, "Names one of the formats below (required; no default).", "FORMAT");
    add_text(app, "--what", export_.what,
             "Names the table of csv (" + tables + ") or the kind of trtllm (static, dynamic; default: static).",
             "WHAT");
    add_text(app, "-o", output_, "Writes to this file; - is standard output (default of texts: -).", "FILE|-");
    add_whole_number(
        app, "--shared-experts", export_.shared_experts, 1,
        "Writes N shared experts of the model on every device, for vllm-ascend with mix_placement (default: none).");
    app.add_flag("--no-pictures", no_pictures_, "Leaves the pictures of a session out of its copy.");
    app.footer(formats);
  }

  int execute(Console& console) override {
    if (!export_.what.empty() && format_ != "csv" && format_ != "trtllm")
      bad_input("--what", "works with --format csv and trtllm only");
    if (no_pictures_ && format_ != "session") bad_input("--no-pictures", "works with --format session only");
    export_.pictures = !no_pictures_;
    export_.output = output_.empty() ? "-" : output_;
    if (export_.output == "-") console.take_standard_output();
    export_session(format_, export_, console.progress());
    const std::string placement = exported_placement_text(format_, export_);
    // Standard output has the file itself, so a choice among several is said on standard error.
    if (export_.output == "-" && placement.find(", the newest of ") != std::string::npos)
      console.warning(export_.session + ": " + placement + " was written (name another by its number)");
    console.show({{"The export is in " + export_.output + (placement.empty() ? "." : ": " + placement + ".")}, {}});
    return 0;
  }

 private:
  ExportOptions export_;
  std::string format_, output_;
  bool no_pictures_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_export() { return std::make_unique<ExportVerb>(); }

}  // namespace stormcell::cli
