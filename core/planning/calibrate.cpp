#include "core/planning/calibrate.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/cost/calibration.h"
#include "core/formats/file_text.h"
#include "core/planning/calls_file.h"
#include "core/planning/session_products.h"
#include "core/readings/session_runs.h"
#include "core/session/session_reader.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;

std::string without_zeros(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

FitLine line_of(const CallFit& fit) {
  const MeasuredCall& c = *fit.like;
  FitLine line{c.op, c.gpu, c.laboratory, {}, fit.ranks, fit.t0_us, fit.bytes_per_s, fit.half_bytes, fit.rows};
  for (const std::string* word : {&c.mode, &c.dtype})
    if (!word->empty()) line.what += " " + *word;
  if (!c.is_rank_experts()) line.fabric = c.leaves_node() ? without_zeros(c.nic_gbit) + " Gbit/s" : "one fabric";
  return line;
}

RowsLine line_of(const CallRows& rows) {
  const MeasuredCall& c = *rows.like;
  RowsLine line{c.op, c.gpu, c.laboratory, c.inputs, c.outputs, c.experts, rows.calls, {}};
  for (const std::string* word : {&c.mode, &c.dtype})
    if (!word->empty()) line.what += " " + *word;
  for (const RowCurve::Point& p : rows.curve.points()) line.points.push_back({p.rows, p.us});
  return line;
}

CheckedCall checked(const Calibration& calibration, const MeasuredCall& call) {
  const Prediction p = calibration.predict(call);
  CheckedCall out{call.id, call.op, call.gpu, call.laboratory, call.ranks, {},         p.us,          {},
                  {},      {},      p.kind,   p.why_not,       {},         p.held_out, p.laboratories};
  if (call.us > 0) out.measured_us = call.us;
  if (p.us && call.us > 0) out.error = *p.us / call.us - 1;
  if (p.us && p.low_us < p.high_us) out.low_us = p.low_us, out.high_us = p.high_us;
  for (const size_t i : p.from)
    if (const std::string& id = calibration.calls()[i].id;
        std::find(out.from.begin(), out.from.end(), id) == out.from.end())
      out.from.push_back(id);
  return out;
}

std::vector<ErrorLine> errors_of(const std::vector<CheckedCall>& calls) {
  std::vector<ErrorLine> out;
  for (size_t k = 0; k < std::size(kPredictionKinds); ++k) {
    const auto kind = static_cast<PredictionKind>(k);
    ErrorLine line{kind, 0, 0, 0};
    for (const CheckedCall& c : calls)
      if (c.kind == kind && c.error) {
        ++line.calls, line.mean += std::fabs(*c.error);
        line.worst = std::max(line.worst, std::fabs(*c.error));
      }
    if (line.calls == 0) continue;
    line.mean /= static_cast<double>(line.calls);
    out.push_back(line);
  }
  return out;
}

Json json_of(const FitLine& f) {
  return {{"what", f.what},
          {"gpu", f.gpu},
          {"laboratory", text_or_null(f.laboratory)},
          {"fabric", text_or_null(f.fabric)},
          {"ranks", positive_or_null(f.ranks)},
          {"t0_us", f.t0_us},
          {"rate", or_null(f.bytes_per_s)},
          {"half_size", or_null(f.half_bytes)},
          {"rows", f.rows}};
}

Json json_of(const RowsLine& c) {
  Json points = Json::array();
  for (const RowsLine::Point& p : c.points) points.push_back({{"rows", p.rows}, {"us", p.us}});
  return {{"what", c.what},     {"gpu", c.gpu},         {"laboratory", text_or_null(c.laboratory)},
          {"inputs", c.inputs}, {"outputs", c.outputs}, {"experts", c.experts},
          {"calls", c.calls},   {"points", points}};
}

Json json_of(const CheckedCall& c) {
  return {{"id", c.id},
          {"op", c.op},
          {"gpu", c.gpu},
          {"laboratory", text_or_null(c.laboratory)},
          {"ranks", c.ranks},
          {"measured", or_null(c.measured_us)},
          {"predicted", or_null(c.predicted_us)},
          {"error", or_null(c.error)},
          {"kind", c.kind == PredictionKind::none ? Json() : Json(std::string(to_text(c.kind)))},
          {"from", c.from},
          {"range", c.low_us ? Json{*c.low_us, *c.high_us} : Json()},
          {"held_out_error", or_null(c.held_out)},
          {"laboratories_spread", or_null(c.laboratories)},
          {"why_not", text_or_null(c.why_not)}};
}

Json json_of(const ErrorLine& e) {
  return {{"kind", std::string(to_text(e.kind))}, {"calls", e.calls}, {"mean", e.mean}, {"worst", e.worst}};
}

CallsFile calls_in(const std::string& file, CallTimes times, const CalibrateOptions& options,
                   const Progress& progress) {
  if (!is_session_file(parse_session_path(file).file))
    return read_calls(file, times, static_cast<double>(options.nic_gbit), progress);
  CallsFile out{read_session_products(file, options.sizes, progress), {}};
  check_calls(out.calls, file, times);
  return out;
}

/// Holds the calls themselves, since predictions go through them; the fits are for readers of the file.
std::string calibration_text(const CalibrateFigures& f, const Calibration& calibration) {
  Json json = {{"schema", "stormcell.calibration/1"}, {"version", STORMCELL_VERSION}};
  json["fits"] = list_of(f.fits, json_of);
  json["curves"] = list_of(f.curves, json_of);
  json["warnings"] = f.warnings;
  json["calls"] = list_of(calibration.calls(), json_of_call);
  return json_text(json);
}

}  // namespace

CalibrateFigures calibrate(const CalibrateOptions& options, const Progress& progress) {
  std::vector<MeasuredCall> calls;
  std::map<std::string, std::string> file_of;  // by id
  std::vector<std::string> left_out;
  for (const std::string& file : options.files) {
    CallsFile read = calls_in(file, CallTimes::needed, options, progress);
    left_out.insert(left_out.end(), read.warnings.begin(), read.warnings.end());
    for (MeasuredCall& c : read.calls) {
      const auto [at, is_new] = file_of.emplace(c.id, file);
      if (!is_new)
        bad_input(file, "id " + in_quotes(c.id) + " stands in " + at->second + " too",
                  "give each call an id of its own");
      calls.push_back(std::move(c));
    }
  }
  CallsFile to_check;
  if (!options.check.empty()) to_check = calls_in(options.check, CallTimes::optional, options, progress);
  left_out.insert(left_out.end(), to_check.warnings.begin(), to_check.warnings.end());
  const Calibration calibration(std::move(calls));
  CalibrateFigures f;
  f.calls = std::ssize(calibration.calls());
  for (const CallFit& fit : calibration.fits()) f.fits.push_back(line_of(fit));
  for (const CallRows& rows : calibration.over_rows()) f.curves.push_back(line_of(rows));
  f.warnings = doubts_about(calibration);
  f.calibration = calibration_text(f, calibration);
  // These belong to the files, not to the calibration.
  f.warnings.insert(f.warnings.begin(), left_out.begin(), left_out.end());
  if (options.check.empty()) return f;
  f.check.emplace();
  for (const MeasuredCall& call : to_check.calls) {
    progress.report("predicting calls", std::ssize(*f.check), std::ssize(to_check.calls));
    f.check->push_back(checked(calibration, call));
  }
  f.errors = errors_of(*f.check);
  return f;
}

std::string to_json(const CalibrateFigures& f) {
  Json json = json_of_verb("calibrate");
  json["calls"] = f.calls;
  json["fits"] = list_of(f.fits, json_of);
  json["curves"] = list_of(f.curves, json_of);
  json["check"] = f.check ? list_of(*f.check, json_of) : Json();
  json["errors"] = list_of(f.errors, json_of);
  json["warnings"] = f.warnings;
  return json_text(json);
}

}  // namespace stormcell
