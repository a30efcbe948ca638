// Reductions: a warp takes a row for norms and the largest number, a thread takes a column of one parent's rows for
// sums over cells. Norms read a row twice, and around its mean. Bound: reading the rows.
#pragma once
#include "gpu/dispatch/dispatch.h"
#include "gpu/rows/branch_line.h"
#include "gpu/rows/groups.h"

namespace stormcell::gpu {

enum class Reduction : uint8_t {
  rms_norm,    ///< x / sqrt(mean x^2 + eps) * gain
  layer_norm,  ///< (x - mean) / sqrt(mean (x - mean)^2 + eps) * gain + shift
  argmax,      ///< the place of the largest number, the first of equal ones
  sum,         ///< over the cells of each parent
  mean,
  last,  ///< the last cell of each parent
};

struct ReduceArgs : KernelArgs<5> {
  /// kCells: the ragged value of cells that are reduced. kDecision: norms of the rows of all its branches, each with the
  /// weights of its own, and kOffsets as line_of() takes it.
  enum { kFrom, kTo, kCells, kDecision, kOffsets };
  RaggedPlaces ragged;
  DecisionPlaces decision;
  int64_t gains = 0, shifts = 0;  ///< with a decision: constants, handles by branch
  int32_t gain = -1, shift = -1;  ///< else: handles
  int32_t width = 1;
  float eps = 0;
  Reduction what = Reduction::rms_norm;
  Format to = Format::f32;
  bool integers = false;    ///< sums of integers
  bool from_cells = false;  ///< rows are those of the decision's cells, not of its slots
};

struct ReduceKernel {
  using Args = ReduceArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "reduce";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = false;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    if (a.what >= Reduction::sum) return a.integers ? cells<int32_t>(x, a) : cells<float>(x, a);
    const bool of_branches = a.has(Args::kDecision);
    const BranchLine line = of_branches ? line_of(a, a.ref[Args::kDecision], a.ref[Args::kOffsets]) : BranchLine();
    const int32_t rows = of_branches ? line.rows() : a.rows(a.ref[Args::kFrom]).rows;
    const float* from = a.in<float>(a.ref[Args::kFrom]);
    const int64_t warps = static_cast<int64_t>(x.blocks()) * (kThreads / 32);
    for (int64_t row = static_cast<int64_t>(x.block()) * (kThreads / 32) + x.thread() / 32; row < rows; row += warps) {
      const float* at = from + line.source(row, a.from_cells) * a.width;
      if (a.what == Reduction::argmax) {
        largest(x, a, at, row);
        continue;
      }
      Weights w{a.weight<float>(a.gain), a.weight<float>(a.shift)};
      if (of_branches) {
        const int32_t branch = line.branch(row);
        w = {a.weight<float>(a.constants<int32_t>(a.gains)[branch]),
             a.weight<float>(a.constants<int32_t>(a.shifts)[branch])};
        if (!w.gain) continue;  // the branch has no norm
      }
      norm(x, a, at, row, w);
    }
  }

 private:
  template <class X>
  STORMCELL_DEVICE static float all_lanes(X& x, float value) {
    STORMCELL_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) value += x.shuffle_xor(value, mask);
    return value;
  }

  /// [width]; null: none.
  struct Weights {
    const float *gain, *shift;
  };
  template <class X>
  STORMCELL_DEVICE static void norm(X& x, const Args& a, const float* from, int64_t row, const Weights& w) {
    const int lane = x.thread() % 32;
    float mean = 0;
    if (a.what == Reduction::layer_norm) {
      for (int32_t i = lane; i < a.width; i += 32) mean += x.load(from + i);
      mean = all_lanes(x, mean) / static_cast<float>(a.width);
    }
    float squares = 0;
    for (int32_t i = lane; i < a.width; i += 32) {
      const float away = x.load(from + i) - mean;
      squares += away * away;
    }
    squares = all_lanes(x, squares);
    const float factor = 1 / sqrtf(squares / static_cast<float>(a.width) + a.eps);
    const int64_t first = row * a.width;
    for (int32_t i = lane; i < a.width; i += 32) {
      float value = (x.load(from + i) - mean) * factor;
      if (w.gain) value *= w.gain[i];
      if (w.shift) value += w.shift[i];
      if (a.to == Format::bf16)
        x.store(a.out<Bf16>(a.ref[Args::kTo]) + first + i, to_bf16(value));
      else
        x.store(a.out<float>(a.ref[Args::kTo]) + first + i, value);
    }
  }

  template <class X>
  STORMCELL_DEVICE static void largest(X& x, const Args& a, const float* from, int64_t row) {
    const int lane = x.thread() % 32;
    float best = from[0];
    int32_t place = 0;
    for (int32_t i = lane; i < a.width; i += 32) {
      const float value = x.load(from + i);
      if (value > best) best = value, place = i;
    }
    STORMCELL_UNROLL
    for (int mask = 16; mask > 0; mask /= 2) {
      const float other = x.shuffle_xor(best, mask);
      const int32_t other_place = x.shuffle_xor(place, mask);
      if (other > best || (other == best && other_place < place)) best = other, place = other_place;
    }
    if (lane == 0) x.store(a.out<int32_t>(a.ref[Args::kTo]) + row, place);
  }

  template <class T, class X>
  STORMCELL_DEVICE static void cells(X& x, const Args& a) {
    const Groups from = groups_of(a, a.ref[Args::kFrom], a.ref[Args::kCells], a.ragged);
    const T* rows = a.in<T>(a.ref[Args::kFrom]);
    T* to = a.out<T>(a.ref[Args::kTo]);
    for (int64_t i = grid_thread(x, kThreads); i < static_cast<int64_t>(from.parents) * a.width;
         i += grid_threads(x, kThreads)) {
      const int64_t parent = i / a.width, column = i % a.width;
      const T* at = rows + from.begin(parent) * a.width + column;
      const int32_t count = from.count(parent);
      T sum = 0;  // of a parent without cells, too
      if (a.what == Reduction::last && count > 0)
        sum = x.load(at + static_cast<int64_t>(count - 1) * a.width);
      else
        for (int32_t c = 0; c < count; ++c) sum += x.load(at + static_cast<int64_t>(c) * a.width);
      if (a.what == Reduction::mean && count > 0) sum /= static_cast<T>(count);
      x.store(to + i, sum);
    }
  }
};

}  // namespace stormcell::gpu
