// Calibration: predictions of calls from measured calls, and their error on calls that were left out.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cost/prediction_kind.h"
#include "core/planning/step_figures.h"

namespace stormcell {

struct CalibrateOptions {
  /// CSV of calls, outputs of nccl-tests, calibrations that were written before, or sessions
  std::vector<std::string> files;
  std::string check;  ///< one of these, to predict; may be empty
  /// speed of one GPU's network card, Gbit/s, which nccl-tests over several hosts do not say; 0: not known
  int64_t nic_gbit = 0;
  SizeOptions sizes;  ///< for the experts of sessions, which do not say it
};

/// A line through calls of one kind: t0 + bytes / rate.
struct FitLine {
  /// "dispatch low-latency fp8"; "400 Gbit/s", "one fabric", of products empty
  std::string what, gpu, laboratory, fabric;
  int64_t ranks = 0;                              ///< 0: of any number
  double t0_us = 0;                               ///< may be below 0 where larger calls bend: it is a line's
  std::optional<double> bytes_per_s, half_bytes;  ///< null: more bytes took no longer; t0 is not above 0
  int64_t rows = 0;
};

/// Times over rows of products with weights of one shape.
struct RowsLine {
  std::string what, gpu, laboratory;  ///< "product 2 threads bf16"
  int64_t inputs = 0, outputs = 0, experts = 0, calls = 0;
  struct Point {
    double rows = 0, us = 0;  ///< us: of the curve, which never falls
  };
  std::vector<Point> points;
};

/// A call of --check. Errors are predicted / measured - 1.
struct CheckedCall {
  std::string id, op, gpu, laboratory;
  int64_t ranks = 0;
  std::optional<double> measured_us, predicted_us, low_us, high_us, error;
  PredictionKind kind = PredictionKind::none;
  std::string why_not;                           ///< set if kind is none
  std::vector<std::string> from;                 ///< ids
  std::optional<double> held_out, laboratories;  ///< as Prediction has them
};

/// Errors of the calls of one kind that have both a prediction and a time.
struct ErrorLine {
  PredictionKind kind = PredictionKind::none;
  int64_t calls = 0;
  double mean = 0, worst = 0;  ///< over |error|
};

struct CalibrateFigures {
  int64_t calls = 0;
  std::vector<FitLine> fits;
  std::vector<RowsLine> curves;
  std::optional<std::vector<CheckedCall>> check;  ///< null: nothing was to be checked
  std::vector<ErrorLine> errors;
  std::vector<std::string> warnings;
  std::string calibration;  ///< stormcell.calibration/1, as it is to be written
};

/// Error(bad_input): as read_calls() and read_session_products() say; an id in two files.
CalibrateFigures calibrate(const CalibrateOptions& options, const Progress& progress = {});
/// stormcell.calibrate/1
std::string to_json(const CalibrateFigures& figures);

}  // namespace stormcell
