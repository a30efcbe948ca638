// What measured calls say of a call that nobody measured: times in closed form, each with how it came about and how far
// such a time was off where it could be checked.
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
         high_us = 0;        ///< of what is borrowed: whether the laboratory's difference is an addend or a factor
  std::vector<size_t> from;  ///< numbers of the calls that it rests on
  std::optional<double> held_out;  ///< predicted / measured - 1 of the nearest call of these series, left out; null:
                                   ///< none can be predicted
  std::optional<double> laboratories;  ///< of what is borrowed: the slowest laboratory's time of the nearest common
                                       ///< call / the fastest's - 1
  std::string why_not;                 ///< of kind none
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
/// By times of calls of `experts` weights each. Null: some rows are farther from the measured ones than the curve
/// tells.
std::optional<SummedRows> sum_over_rows(const RowCurve& curve, int64_t experts, std::span<const AlikeRows> rows);

/// A value: what it is made of stays as it is.
class Calibration {
 public:
  explicit Calibration(std::vector<MeasuredCall> calls);

  const std::vector<MeasuredCall>& calls() const { return calls_; }
  /// Of a call like this one, whose own time is not looked at. Times follow the data: all times x 1.3, so is this.
  Prediction predict(const MeasuredCall& call) const;
  /// The same where some calls had not been measured, without errors held out. `left_out`: [calls], empty: none.
  Prediction predict_without(const MeasuredCall& call, const std::vector<uint8_t>& left_out) const;
  /// Of what was measured with at least two different numbers of bytes.
  std::vector<CallFit> fits() const;
  /// Of products with at least two different numbers of rows.
  std::vector<CallRows> over_rows() const;

 private:
  std::optional<double> error_held_out(const MeasuredCall& call, std::span<const size_t> from) const;

  std::vector<MeasuredCall> calls_;
};

/// What in these calls a reader should doubt before using them, a line each: one table under two GPUs, times that fall
/// where there is more to do, calls far off their neighbours, none that says where it is from.
std::vector<std::string> doubts_about(const Calibration& calibration);

}  // namespace stormcell
