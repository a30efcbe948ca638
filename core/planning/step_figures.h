// Values about steps and sizes: input of a search, and the figures that it reports of them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"
#include "core/cost/prediction_kind.h"

namespace stormcell {

/// Two parts of the data: what searches fit to, and what judges.
enum class DataPart : uint8_t { fitted, held_out };
inline constexpr DataPart kDataParts[] = {DataPart::fitted, DataPart::held_out};

/// One of each part.
template <class T>
struct OfParts {
  T fitted, held_out;
  T& operator[](DataPart part) { return part == DataPart::fitted ? fitted : held_out; }
  const T& operator[](DataPart part) const { return part == DataPart::fitted ? fitted : held_out; }
};

struct SizeOptions {
  std::string model_config;     ///< a config.json; may be empty
  int64_t hidden = 0, ffn = 0;  ///< 0: not told
  std::string dtype;            ///< format of an expert's weights; empty: as published, else bf16
};

struct ModelSizes {
  int64_t hidden = 0;    ///< width of a token
  int64_t ffn = 0;       ///< inner width of an expert
  int64_t matrices = 3;  ///< matrices of an expert: 3 if it is gated, else 2
  std::string dtype;     ///< format of an expert's weights: f32, bf16, f16, f8, i8, f4; empty: the trace says their
                         ///< bytes
  double branch_bytes = 0;
  double flops_per_row = 0;
  double kv_bytes = 0;  ///< keys and values of a token in all layers, 16 bits a number; 0: not known
  /// "--model-config FILE", "--hidden, --ffn", "the session", "architectures.json: Qwen3-30B-A3B, URL"
  std::string source;
  /// Nobody said how many: most are gated.
  bool matrices_assumed = false;
};

struct StepOptions {
  std::string backend;    ///< one of placement_backends(); empty: per-rank if there are single choices, else per-expert
  std::string replicas;   ///< one of replica_rules(): which replicas a token goes to; empty: even
  std::string residence;  ///< one of residences(): where a token lives; empty: at its home
  int64_t tokens_per_step = 0;  ///< tokens of steps that are drawn; 0: the recorded ones
  bool p95 = false;             ///< the objective is the 95th percentile over the steps, else their mean
  /// What-if: in each step and layer an expert takes so many times its even share of the choices, rounded up, and the
  /// others are dropped. 0: all are taken.
  double capacity_factor = 0;
};

/// Choices that a what-if capacity drops: sums over the costed steps and their layers.
struct CapacityFigures {
  double factor = 0;  ///< 0: there is none
  double choices = 0, dropped = 0;
  double lost_visits = 0;  ///< visits of a token to a layer where all its choices are dropped; with counts alone,
                           ///< dropped choices / choices of a token
  double dropped_share() const { return choices > 0 ? dropped / choices : 0; }
};

/// Rows of an expert: those that a curve was measured at, and those that are asked of it.
struct PhaseRows {
  double least_measured = 0, most_measured = 0;
  double least = 0, mean = 0, most = 0;  ///< in any step; under even routing, of those that get any
};

/// A phase of a layer's step.
enum class LayerPhase : uint8_t { dispatch, experts, combine };
inline constexpr std::string_view kLayerPhases[] = {"dispatch", "experts", "combine"};
inline std::string_view to_text(LayerPhase phase) { return row_of(kLayerPhases, phase); }

/// A phase of a layer's step by measured calls, at the size of a mean step under even routing.
struct CalibratedPhase {
  LayerPhase phase = LayerPhase::dispatch;
  /// none: rates are those of the data sheets, and there is no start-up time
  PredictionKind kind = PredictionKind::none;
  std::string why_not;  ///< set if kind is none
  std::string like;     ///< the calls: "dispatch low-latency fp8 of H100 (NVIDIA)"
  double us = 0;        ///< time of a mean step's phase
  double t0_us = 0,
         bytes_per_s = 0;  ///< the line that steps are costed by, in bytes of this model; 0 of a curve over rows
  double size = 1;         ///< bytes that such a step moves / those of the nearest size that is told; 1: this size is
  std::optional<PhaseRows> rows;   ///< rows of a curve, by which steps are costed in place of a line
  std::optional<double> held_out;  ///< predicted / measured - 1 of the nearest call, left out
  /// of what is borrowed: the slowest laboratory's time of a common call / the fastest's - 1
  std::optional<double> laboratories;
  std::vector<std::string> from;  ///< ids of calls
  bool calibrated() const { return kind != PredictionKind::none; }
};

struct CalibrationUse {
  std::string file;
  double tokens_per_step = 0;  ///< tokens of a mean step
  std::vector<CalibratedPhase> phases;
};

/// How far a time is measured calls' word.
struct StepTrust {
  PredictionKind kind = PredictionKind::none;  ///< the least sure one of its phases that are calibrated; none: none is
  double share = 0;                            ///< share of the time that is in calibrated phases
  std::optional<double> held_out;              ///< their |errors| by their shares of that; null: one is not known
};
StepTrust trust_in(const CalibrationUse& use, double dispatch, double compute, double combine);

/// Means over steps, all layers of a step together.
struct StepFigures {
  double objective_ms = 0;  ///< mean, or 95th percentile
  double p95_ms = 0, dispatch_ms = 0, compute_ms = 0, combine_ms = 0;
  /// of a token at a layer that it meets, to other ranks, there alone; null: k is not known
  std::optional<double> remote_bytes;
  std::optional<double> wire_bytes;  ///< sent for that, what is forwarded within a node included
};

}  // namespace stormcell
