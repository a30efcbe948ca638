#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/calibration_text.h"
#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/placement_options.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/planning/calibrate.h"

namespace stormcell::cli {
namespace {

std::string curves_text(const CalibrateFigures& f) {
  if (f.curves.empty()) return {};
  std::vector<std::vector<std::string>> rows = {
      {"over rows", "gpu", "laboratory", "weights", "a call", "rows", "us", "points"}};
  for (const RowsLine& l : f.curves) {
    const RowsLine::Point &first = l.points.front(), &last = l.points.back();
    rows.push_back({l.what, l.gpu, l.laboratory.empty() ? "-" : l.laboratory,
                    std::to_string(l.inputs) + " x " + std::to_string(l.outputs), count_text(l.experts),
                    number_text(first.rows) + " to " + number_text(last.rows),
                    number_text(first.us) + " to " + number_text(last.us),
                    count_text(static_cast<int64_t>(l.points.size()))});
  }
  return "\n" + table_text(rows, {4, 5, 6, 7}) +
         "\nus of a product over the rows of each weight, linear in rows between two points; place and simulate cost "
         "experts by it\n";
}

std::string fits_text(const CalibrateFigures& f) {
  if (f.fits.empty()) return counted(f.calls, "call") + "\n";
  std::vector<std::vector<std::string>> rows = {
      {"line", "gpu", "laboratory", "over", "ranks", "t0 us", "GB/s", "half size", "calls"}};
  for (const FitLine& l : f.fits)
    rows.push_back({l.what, l.gpu, l.laboratory.empty() ? "-" : l.laboratory, l.fabric.empty() ? "-" : l.fabric,
                    l.ranks > 0 ? std::to_string(l.ranks) : "any", number_text(l.t0_us),
                    l.bytes_per_s ? number_text(*l.bytes_per_s / 1e9) : "-",
                    l.half_bytes ? bytes_text(static_cast<int64_t>(*l.half_bytes)) : "-", count_text(l.rows)});
  return counted(f.calls, "call") + "\n\n" + table_text(rows, {4, 5, 6, 7, 8}) +
         "\nt0 + bytes / rate, by least relative squares: bytes of a rank over its network card, on one fabric all "
         "that it sends, of "
         "products\n"
         "the weights of its experts in 8 bits; predictions go through the calls themselves\n";
}

std::string check_text(const CalibrateFigures& f) {
  if (!f.check) return {};
  std::vector<std::vector<std::string>> rows = {
      {"call", "op", "gpu", "ranks", "measured us", "predicted", "error", "kind", "held out", "laboratories", "from"}};
  for (const CheckedCall& c : *f.check)
    rows.push_back({c.id, c.op, c.gpu, c.ranks > 0 ? std::to_string(c.ranks) : "-", number_text(c.measured_us),
                    number_text(c.predicted_us), difference_text(c.error), std::string(to_text(c.kind)),
                    difference_text(c.held_out), difference_text(c.laboratories),
                    c.predicted_us ? calls_text(c.from) : c.why_not});
  std::string text = "\n" + table_text(rows, {3, 4, 5, 6, 8, 9}) +
                     "\nerror: predicted / measured - 1; held out: that of the nearest measured call, left out; "
                     "laboratories: the slowest one's "
                     "time of\nthe nearest common call / the fastest's - 1\n";
  if (f.errors.empty()) return text;
  std::vector<std::vector<std::string>> errors = {{"predictions", "calls", "mean |error|", "worst"}};
  for (const ErrorLine& e : f.errors)
    errors.push_back({std::string(to_text(e.kind)), count_text(e.calls), number_text(100 * e.mean, 2) + " %",
                      number_text(100 * e.worst, 2) + " %"});
  return text + "\n" + table_text(errors, {1, 2, 3});
}

std::vector<std::string> calibration_conclusions(const CalibrateFigures& f, const std::string& output) {
  std::vector<std::string> fits;
  if (!f.fits.empty()) fits.push_back(counted(std::ssize(f.fits), "line"));
  if (!f.curves.empty()) fits.push_back(counted(std::ssize(f.curves), "curve"));
  std::vector<std::string> sentences = {"The calibration is of " + counted(f.calls, "call") +
                                        (fits.empty() ? "." : ": " + joined_with_and(fits) + ".")};
  for (const ErrorLine& e : f.errors)
    if (e.calls > 0 && sentences.size() < 4)
      sentences.push_back("Its " + std::string(to_text(e.kind)) + " predictions of " + counted(e.calls, "call") +
                          " are off by " + number_text(100 * e.mean, 2) + " % on average and " +
                          number_text(100 * e.worst, 2) + " % at worst.");
  if (!output.empty() && output != "-")
    sentences.push_back(next_command({"place", "S.storm", "--cluster", "preset:8x-h100", "--calibration", output}));
  return sentences;
}

class CalibrateVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    app.add_option(
           "FILE", calibrate_.files,
           "Names measured calls: a CSV, output of nccl-tests, an earlier CAL.json, or S.storm with times of its "
           "experts' products.")
        ->type_name("")
        ->required();
    add_text(app, "-o", output_, "Writes the calibration to this file (default: none, which needs --check).",
             "CAL.json");
    add_text(app, "--check", calibrate_.check, "Predicts other calls and compares with their times (default: none).",
             "CALLS.csv");
    add_whole_number(
        app, "--nic-gbit", calibrate_.nic_gbit, 1,
        "Sets the network speed of one GPU in Gbit/s, which nccl-tests output does not contain (default: not known).");
    add_size_options(app, calibrate_.sizes);
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    for (const std::string& file : calibrate_.files)
      if (file.empty()) bad_input("FILE", "is empty", "name a CSV of calls");
    if (output_.empty() && calibrate_.check.empty()) bad_input("-o", "is missing", "-o CAL.json, or --check CALLS.csv");
    TextOutput calibration(output_);
    if (calibration.is_standard_output()) console.take_standard_output();
    tell_result(
        console, json_,
        [&](const Progress& progress) {
          CalibrateFigures figures = calibrate(calibrate_, progress);
          calibration.write(figures.calibration);
          calibration.finish();
          return figures;
        },
        [this](const CalibrateFigures& f) {
          return Page{calibration_conclusions(f, output_), fits_text(f) + curves_text(f) + check_text(f)};
        });
    return 0;
  }

 private:
  CalibrateOptions calibrate_;
  std::string output_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_calibrate() { return std::make_unique<CalibrateVerb>(); }

}  // namespace stormcell::cli
