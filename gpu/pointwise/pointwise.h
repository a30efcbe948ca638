// Interprets a short program for each number of rows: elementwise operators, and chains of them, by one kernel. A
// thread takes four numbers of a row where rows are whole fours, else one. Registers are picked by comparisons, never
// by an index, so that they stay registers. Bound: memory; the instructions of one number cost less than its bytes as
// long as they are below about ninety.
#pragma once
#include "gpu/base/activation.h"
#include "gpu/dispatch/dispatch.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

enum class PointwiseOp : uint8_t {
  load,            ///< number i of Ref `at`
  load_of_row,     ///< the only number of the row, of Ref `at`
  load_of_slot,    ///< weight of the row's slot in the decision `at`
  load_of_column,  ///< number of the column, of the weight with handle `at`
  constant,        ///< `number`
  store,           ///< register a to Ref `at`
  // On floats: to = a op b.
  add,
  subtract,
  multiply,
  divide,
  relu,
  gelu_erf,
  gelu_tanh,
  silu,
  tanh,
  sigmoid,
  // On integers.
  add_integer,
  choose,  ///< a where b is 0, else the constant
  is_end,  ///< 1 where b is not 0, or a is the constant and that is not negative
};

/// The activations; any other operation gives x.
STORMCELL_BOTH inline float activated(PointwiseOp op, float x) {
  switch (op) {
    case PointwiseOp::relu:
      return activate<Activation::relu>(x);
    case PointwiseOp::gelu_erf:
      return activate<Activation::gelu_erf>(x);
    case PointwiseOp::gelu_tanh:
      return activate<Activation::gelu_tanh>(x);
    case PointwiseOp::silu:
      return activate<Activation::silu>(x);
    case PointwiseOp::tanh:
      return tanhf(x);
    case PointwiseOp::sigmoid:
      return 1 / (1 + expf(-x));
    default:
      return x;
  }
}

struct PointwiseStep {
  PointwiseOp op = PointwiseOp::load;
  uint8_t to = 0, a = 0, b = 0;  ///< registers
  Format format = Format::f32;   ///< of the loaded or stored number; integers are as f32
  int32_t at = 0;
  union {
    float number = 0;
    int32_t integer;
  };
};

struct PointwiseArgs : KernelArgs<6> {
  static constexpr int kMostSteps = 24, kRegisters = 4;
  PointwiseStep steps[kMostSteps];
  int32_t count = 0;
  int32_t rows_of = 0;  ///< the Ref whose rows are computed
  int32_t width = 1;
  int32_t pixels = 1;  ///< of a row of the operands: each is a row of the kernel
  DecisionPlaces decision;
};

struct PointwiseKernel {
  using Args = PointwiseArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "pointwise";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    if (a.width % 4 == 0)
      run_by<4>(x, a);
    else
      run_by<1>(x, a);
  }

 private:
  template <int n>
  struct Numbers {
    float of[n];
  };
  /// The registers, and the places of the numbers.
  template <int n>
  struct State {
    Numbers<n> held[Args::kRegisters];
    int64_t row, column;

    STORMCELL_DEVICE Numbers<n> get(int which) const {
      Numbers<n> picked = held[0];
      STORMCELL_UNROLL
      for (int k = 1; k < Args::kRegisters; ++k)
        if (k == which) picked = held[k];
      return picked;
    }
    STORMCELL_DEVICE void set(int which, const Numbers<n>& value) {
      STORMCELL_UNROLL
      for (int k = 0; k < Args::kRegisters; ++k)
        if (k == which) held[k] = value;
    }
  };

  template <int n, class X>
  STORMCELL_DEVICE static void run_by(X& x, const Args& a) {
    const int64_t pieces = a.width / n, all = static_cast<int64_t>(a.rows(a.ref[a.rows_of]).rows) * a.pixels * pieces;
    for (int64_t i = grid_thread(x, kThreads); i < all; i += grid_threads(x, kThreads)) {
      State<n> state = {};
      state.row = i / pieces, state.column = i % pieces * n;
      for (int32_t s = 0; s < a.count; ++s) step(x, a, a.steps[s], state);
    }
  }

  template <int n, class X>
  STORMCELL_DEVICE static void step(X& x, const Args& a, const PointwiseStep& s, State<n>& state) {
    switch (s.op) {
      case PointwiseOp::load:
        return state.set(s.to, load<n>(x, s.format, a.in<char>(a.ref[s.at]), state.row * a.width + state.column));
      case PointwiseOp::load_of_row:
        return state.set(s.to, all<n>(x.load(a.in<float>(a.ref[s.at]) + state.row)));
      case PointwiseOp::load_of_slot:
        return state.set(s.to, all<n>(weight_of_slot(x, a, s, state.row)));
      case PointwiseOp::load_of_column:
        return state.set(s.to, of_columns<n>(x, a.weight<float>(s.at) + state.column));
      case PointwiseOp::constant:
        return state.set(s.to, all<n>(s.number));
      case PointwiseOp::store:
        return store<n>(x, s.format, a.out<char>(a.ref[s.at]), state.row * a.width + state.column, state.get(s.a));
      default:
        return state.set(s.to, compute<n>(s, state.get(s.a), state.get(s.b)));
    }
  }

  template <int n>
  STORMCELL_DEVICE static Numbers<n> all(float value) {
    Numbers<n> numbers;
    STORMCELL_UNROLL
    for (int i = 0; i < n; ++i) numbers.of[i] = value;
    return numbers;
  }
  template <int n, class X>
  STORMCELL_DEVICE static Numbers<n> of_columns(X& x, const float* from) {
    Numbers<n> numbers;
    STORMCELL_UNROLL
    for (int i = 0; i < n; ++i) numbers.of[i] = x.load(from + i);
    return numbers;
  }
  /// The Ref before the rows gives the first slot of the branch.
  template <class X>
  STORMCELL_DEVICE static float weight_of_slot(X& x, const Args& a, const PointwiseStep& s, int64_t row) {
    const auto* weights = reinterpret_cast<const float*>(a.in<char>(a.ref[s.at]) + a.decision.weight);
    return x.load(weights + a.rows(a.ref[a.rows_of]).first + row);
  }
  template <int n, class X>
  STORMCELL_DEVICE static Numbers<n> load(X& x, Format format, const char* from, int64_t at) {
    Numbers<n> numbers;
    if (format == Format::bf16) {
      if constexpr (n == 4) {
        const uint64_t four = x.load(reinterpret_cast<const uint64_t*>(from + at * 2));
        STORMCELL_UNROLL
        for (int i = 0; i < n; ++i) numbers.of[i] = to_float(Bf16{static_cast<uint16_t>(four >> 16 * i)});
      } else {
        numbers.of[0] = to_float(x.load(reinterpret_cast<const Bf16*>(from) + at));
      }
    } else if constexpr (n == 4) {
      const Sixteen four = x.load(reinterpret_cast<const Sixteen*>(from + at * 4));
      STORMCELL_UNROLL
      for (int i = 0; i < n; ++i) numbers.of[i] = float_of_bits(four.word[i]);
    } else {
      numbers.of[0] = x.load(reinterpret_cast<const float*>(from) + at);
    }
    return numbers;
  }
  template <int n, class X>
  STORMCELL_DEVICE static void store(X& x, Format format, char* to, int64_t at, const Numbers<n>& numbers) {
    if (format == Format::bf16) {
      if constexpr (n == 4) {
        uint64_t four = 0;
        STORMCELL_UNROLL
        for (int i = 0; i < n; ++i) four |= static_cast<uint64_t>(to_bf16(numbers.of[i]).bits) << 16 * i;
        x.store(reinterpret_cast<uint64_t*>(to + at * 2), four);
      } else {
        x.store(reinterpret_cast<Bf16*>(to) + at, to_bf16(numbers.of[0]));
      }
    } else if constexpr (n == 4) {
      Sixteen four;
      STORMCELL_UNROLL
      for (int i = 0; i < n; ++i) four.word[i] = bits_of_float(numbers.of[i]);
      x.store(reinterpret_cast<Sixteen*>(to + at * 4), four);
    } else {
      x.store(reinterpret_cast<float*>(to) + at, numbers.of[0]);
    }
  }

  template <int n>
  STORMCELL_DEVICE static Numbers<n> compute(const PointwiseStep& s, const Numbers<n>& a, const Numbers<n>& b) {
    Numbers<n> y;
    STORMCELL_UNROLL
    for (int i = 0; i < n; ++i) y.of[i] = compute(s, a.of[i], b.of[i]);
    return y;
  }
  STORMCELL_DEVICE static int32_t integer(float bits) { return static_cast<int32_t>(bits_of_float(bits)); }
  STORMCELL_DEVICE static float as_bits(int32_t value) { return float_of_bits(static_cast<uint32_t>(value)); }
  STORMCELL_DEVICE static float compute(const PointwiseStep& s, float a, float b) {
    switch (s.op) {
      case PointwiseOp::add:
        return a + b;
      case PointwiseOp::subtract:
        return a - b;
      case PointwiseOp::multiply:
        return a * b;
      case PointwiseOp::divide:
        return a / b;
      case PointwiseOp::add_integer:
        return as_bits(integer(a) + integer(b));
      case PointwiseOp::choose:
        return integer(b) == 0 ? a : as_bits(s.integer);
      case PointwiseOp::is_end:
        return as_bits(integer(b) != 0 || (s.integer >= 0 && integer(a) == s.integer));
      default:
        return activated(s.op, a);
    }
  }
};

}  // namespace stormcell::gpu
