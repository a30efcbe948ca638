// A layer of experts on the card, with weights to rotate through.
#pragma once
#include <vector>

#include "gpu/layer/layer.h"
#include "tests/gpu/device_check/data.h"

namespace stormcell::device_check {

struct LayerShape {
  const char* name;
  int32_t width, hidden;
  bool gated;
  Protocol protocol;

  gpu::Activation activation() const { return gated ? gpu::Activation::silu : gpu::Activation::relu; }
  int64_t first_numbers() const { return int64_t{width} * hidden * (gated ? 2 : 1); }
  int64_t second_numbers() const { return int64_t{width} * hidden; }
  int64_t expert_bytes() const { return (first_numbers() + second_numbers()) * 2; }
};
/// 768/3072 with ReLU and one expert a cell (Switch Transformer); 2048/768 gated with eight (Qwen3-MoE).
LayerShape switch_shape();
LayerShape gated_shape();

/// Weights of several sets of experts in one allocation; set s begins at s * experts.
struct Weights {
  Memory first, second;
  int32_t experts;  // of all sets
  Weights(const LayerShape& shape, int32_t experts);
};

/// `variants` calls of one layer, each with scores of its own; variant v uses weight set v % sets.
class LayerCalls {
 public:
  LayerCalls(const LayerShape& shape, const Weights& weights, int64_t cells, int32_t experts, Load load, int variants);
  int variants() const { return static_cast<int>(calls_.size()); }
  const gpu::LayerCall& call(int v) const { return calls_[static_cast<size_t>(v)]; }
  const gpu::RegimeLimits& limits() const { return limits_; }
  void set_limits(const gpu::RegimeLimits& limits) { limits_ = limits; }
  /// As variant v's last run() made it.
  const gpu::TileMap& map(int v) const { return maps_[static_cast<size_t>(v)]; }
  void* workspace(int v) const { return workspaces_[static_cast<size_t>(v)].as<void>(); }
  /// Queues variant v's whole layer.
  void run(int v, const Queue& queue);
  /// Experts with rows, over all variants on average; call after run().
  double touched() const;
  std::vector<int32_t> offsets(int v) const;
  int64_t y_bytes() const { return y_bytes_; }
  /// Bytes behind y that were written.
  int64_t written_past() const { return written_bytes(y_.as<char>() + y_bytes_, kGuardBytes); }

 private:
  std::vector<Memory> scores_, workspaces_;
  Memory x_;
  int64_t y_bytes_;
  Memory y_;
  std::vector<gpu::LayerCall> calls_;
  gpu::RegimeLimits limits_;
  std::vector<gpu::TileMap> maps_;
  size_t workspace_bytes_ = 0;
};

}  // namespace stormcell::device_check
