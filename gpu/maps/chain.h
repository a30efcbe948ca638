// A chain of residual blocks over small maps, x + second(relu(first(x))) block after block, in one launch: of one branch
// or of all branches of a decision. A block of threads takes a map through the whole chain; the weights of a convolution
// lie in shared memory, the map between convolutions in caches. Bound: floating-point units, where there are as many
// maps as multiprocessors; fewer maps leave some idle.
#pragma once
#include "gpu/base/activation.h"
#include "gpu/rows/branch_line.h"

namespace stormcell::gpu {

struct ChainArgs : KernelArgs<5> {
  /// kInner: room for as many maps as kTo has. kDecision, kOffsets: of maps of all branches, as line_of() takes them.
  enum { kX, kTo, kInner, kDecision, kOffsets };
  DecisionPlaces decision;
  /// Constants, handles by convolution and branch: [channels, size, size, channels] in f32, and [channels].
  int64_t weights = 0, biases = 0;
  int32_t convolutions = 0;  ///< two a block
  int32_t branches = 1;
  int32_t height = 1, width = 1, channels = 1, size = 1;
  bool from_cells = false;  ///< maps are those of the decision's cells, not of its slots
};

struct ChainKernel {
  using Args = ChainArgs;
  static constexpr const char* kName = "chain";
  static constexpr int kThreads = 256, kOutputs = 4;  ///< kOutputs: of a thread, which share what they read
  static constexpr int32_t kMostWeights = 9216;       ///< of a convolution: 32 channels, 3 x 3
  static constexpr bool kIndependent = false;
  struct Shared {
    float weights[kMostWeights];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const BranchLine line =
        a.has(Args::kDecision) ? line_of(a, a.ref[Args::kDecision], a.ref[Args::kOffsets]) : BranchLine();
    const int32_t maps = a.has(Args::kDecision) ? line.rows() : a.rows(a.ref[Args::kTo]).rows;
    const int64_t numbers = static_cast<int64_t>(a.height) * a.width * a.channels;
    for (int64_t map = x.block(); map < maps; map += x.blocks()) {
      const int32_t branch = line.branch(map);
      if (!a.weight<float>(handle(a, a.weights, 0, branch))) continue;  // the branch has no chain
      const float* from = a.in<float>(a.ref[Args::kX]) + line.source(map, a.from_cells) * numbers;
      float *to = a.out<float>(a.ref[Args::kTo]) + map * numbers,
            *inner = a.out<float>(a.ref[Args::kInner]) + map * numbers;
      for (int32_t i = 0; i < a.convolutions; i += 2) {
        const float* came = i == 0 ? from : to;
        convolve(x, a, {i, branch}, came, nullptr, inner);
        convolve(x, a, {i + 1, branch}, inner, came, to);
      }
    }
  }

 private:
  struct Which {
    int32_t convolution, branch;
  };
  STORMCELL_DEVICE static int32_t handle(const Args& a, int64_t handles, int32_t convolution, int32_t branch) {
    return a.constants<int32_t>(handles)[convolution * a.branches + branch];
  }

  /// One map. Without a residual what is below 0 becomes 0; `residual` may be `to`.
  template <class X>
  STORMCELL_DEVICE static void convolve(X& x, const Args& a, const Which& which, const float* from,
                                        const float* residual, float* to) {
    float* shared = x.template shared<Shared>().weights;
    const float *weights = a.weight<float>(handle(a, a.weights, which.convolution, which.branch)),
                *biases = a.weight<float>(handle(a, a.biases, which.convolution, which.branch));
    const int32_t field = a.size * a.size * a.channels, groups = parts(a.channels, kOutputs + 0),
                  pixels = a.height * a.width;
    for (int32_t i = x.thread(); i < field * a.channels; i += kThreads) shared[i] = weights[i];
    x.sync();
    for (int32_t i = x.thread(); i < pixels * groups; i += kThreads) {
      // Neighbours take neighbouring pixels and the same weights.
      const int32_t pixel = i % pixels, first = i / pixels * kOutputs;
      float sums[kOutputs] = {};
      add_window(a, from, shared + first * field, field, pixel, least(kOutputs + 0, a.channels - first), sums);
      STORMCELL_UNROLL
      for (int j = 0; j < kOutputs; ++j) {
        if (first + j >= a.channels) continue;
        const int64_t at = static_cast<int64_t>(pixel) * a.channels + first + j;
        const float sum = sums[j] + biases[first + j];
        to[at] = residual ? residual[at] + sum : rectified(sum);
      }
    }
    x.sync();  // the map is read, and other weights come
  }
  /// Adds what the window around a pixel gives to `outputs` sums, whose weights are `field` numbers each.
  STORMCELL_DEVICE_INLINED static void add_window(const Args& a, const float* from, const float* weights, int32_t field,
                                                  int32_t pixel, int32_t outputs, float (&sums)[kOutputs]) {
    const int32_t top = pixel / a.width - a.size / 2, left = pixel % a.width - a.size / 2;
    for (int32_t dy = 0; dy < a.size; ++dy) {
      if (top + dy < 0 || top + dy >= a.height) continue;
      for (int32_t dx = 0; dx < a.size; ++dx) {
        if (left + dx < 0 || left + dx >= a.width) continue;
        const float* at = from + ((top + dy) * a.width + left + dx) * a.channels;
        const float* tap = weights + (dy * a.size + dx) * a.channels;
        for (int32_t c = 0; c < a.channels; ++c) {
          STORMCELL_UNROLL
          for (int j = 0; j < kOutputs; ++j)
            if (j < outputs) sums[j] += at[c] * tap[j * field + c];
        }
      }
    }
  }
};

}  // namespace stormcell::gpu
