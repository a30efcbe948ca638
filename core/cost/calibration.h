// Predicts the time of a call from measured ones, in closed form. Each prediction says how it was made, and how far
// such a prediction was off where it could be checked.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/cost/measured_call.h"
#include "core/cost/prediction_kind.h"
#include "core/cost/row_curve.h"

namespace stormcell {

struct Prediction {
  PredictionKind kind = PredictionKind::none;
  std::optional<double> us;
  double low_us = 0,
         high_us = 0;              ///< of a borrowed time: with the difference as addend and as factor
  std::vector<size_t> from;        ///< numbers of the calls that it is made from
  std::optional<double> held_out;  ///< predicted / measured - 1 of the nearest call of these series, left out; null:
                                   ///< none can be predicted
  std::optional<double> laboratories;  ///< of a borrowed time: slowest / fastest laboratory at the nearest common call,
                                       ///< - 1
  std::string why_not;                 ///< the reason, for kind none
};

/// A line through calls of one kind: t0 + bytes / rate.
struct CallFit {
  const MeasuredCall* like = nullptr;  ///< one of them
  int64_t ranks = 0;                   ///< of calls within a fabric, each number of ranks has a line of its own; else 0
  double t0_us = 0;
  std::optional<double> bytes_per_s;  ///< null: more bytes took no longer
  std::optional<double> half_bytes;   ///< bytes that take twice t0; null: no t0 or no rate
  int64_t rows = 0;
};

/// Times over rows of products of one series.
struct CallRows {
  const MeasuredCall* like = nullptr;  ///< one of them
  RowCurve curve;
  int64_t calls = 0;
};

/// A call of unlike rows, as the experts of a step are costed: each weight takes its even share of a call of like rows.
struct SummedRows {
  double us = 0;
  bool within = true;  ///< all rows are between measured ones
};
/// Sums times of calls with `experts` weights each. Null: some rows are too far from the measured ones
/// (RowCurve::reaches()).
std::optional<SummedRows> sum_over_rows(const RowCurve& curve, int64_t experts, std::span<const AlikeRows> rows);

/// An immutable set of measured calls, and predictions from them.
class Calibration {
 public:
  explicit Calibration(std::vector<MeasuredCall> calls);

  const std::vector<MeasuredCall>& calls() const { return calls_; }
  /// Predicts a call like this one without looking at its own time. It is linear in the times: all times x 1.3 give 1.3
  /// x the prediction.
  Prediction predict(const MeasuredCall& call) const;
  /// Predicts as if some calls had not been measured; computes no held-out error. `left_out`: [calls], empty: none.
  Prediction predict_without(const MeasuredCall& call, const std::vector<uint8_t>& left_out) const;
  /// Fits for calls measured with at least two different numbers of bytes.
  std::vector<CallFit> fits() const;
  /// Curves for products measured with at least two different numbers of rows.
  std::vector<CallRows> over_rows() const;

 private:
  std::optional<double> error_held_out(const MeasuredCall& call, std::span<const size_t> from) const;

  std::vector<MeasuredCall> calls_;
};

/// Doubts that a reader should have about these calls, a line each: one table under two GPUs, times that fall with more
/// work, calls far off their neighbours, and no call with a source.
std::vector<std::string> doubts_about(const Calibration& calibration);

}  // namespace stormcell
