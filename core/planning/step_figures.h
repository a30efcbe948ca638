// What a search is told about steps and sizes, and what it tells of them: values.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

namespace stormcell {

struct SizeOptions {
  std::string model_config;     ///< a config.json; may be empty
  int64_t hidden = 0, ffn = 0;  ///< 0: not told
  std::string dtype;            ///< of an expert's weights; empty: as published, else bf16
};

struct ModelSizes {
  int64_t hidden = 0;    ///< width of a token
  int64_t ffn = 0;       ///< inner width of an expert
  int64_t matrices = 3;  ///< of an expert: 3 where it is gated, else 2
  std::string dtype;     ///< of an expert's weights: f32, bf16, f16, f8, i8, f4; empty: the trace says their bytes
  double branch_bytes = 0;
  double flops_per_row = 0;
  double kv_bytes = 0;  ///< keys and values of a token in all layers, 16 bits a number; 0: not known
  std::string source;   ///< "--model-config FILE", "--hidden, --ffn", "the session", "architectures.json: Qwen3-30B-A3B, URL"
};

struct StepOptions {
  std::string backend;          ///< of placement_backends(); empty: per-rank where there are single choices, else per-expert
  int64_t tokens_per_step = 0;  ///< of steps that are drawn; 0: the recorded ones
  bool p95 = false;             ///< the objective is the 95th percentile over the steps, else their mean
};

/// Means over steps, all layers of a step together.
struct StepFigures {
  double objective_ms = 0;  ///< mean, or 95th percentile
  double p95_ms = 0, dispatch_ms = 0, compute_ms = 0, combine_ms = 0;
  std::optional<double> remote_bytes;  ///< of a token and layer, to other ranks, there alone; null: nobody knows how many tokens there were
  std::optional<double> wire_bytes;    ///< sent for that, what is forwarded within a node included
};

}  // namespace stormcell
