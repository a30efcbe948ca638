// conv2d, channels last.
#pragma once
#include "core/oracle/reference/activation.h"
#include "core/oracle/reference/row_sums.h"

namespace stormcell::reference {

/// Extents of maps before and after a convolution, channels last, and how it steps through them.
struct ConvolvedMaps {
  int64_t height, width, channels, outputs, kernel_h, kernel_w, depth, stride, padding, groups;
  /// Input 0 is convolved with the weights of input `weight`, in so many groups.
  template <class Scalar>
  ConvolvedMaps(const Call<Scalar>& c, size_t weight, int64_t groups) : groups(groups) {
    const auto extent = [&](size_t input, size_t i) { return c.type(input).content[i].constant(); };
    height = extent(0, 0), width = extent(0, 1), channels = extent(0, 2), outputs = extent(weight, 0);
    kernel_h = extent(weight, 1), kernel_w = extent(weight, 2), depth = extent(weight, 3);
    stride = integer_of(c.node, "stride"), padding = integer_of(c.node, "padding");
  }
  int64_t out_height() const { return (height + 2 * padding - kernel_h) / stride + 1; }
  int64_t out_width() const { return (width + 2 * padding - kernel_w) / stride + 1; }
};

/// Adds `rows` maps at x, convolved with the weights of input `weight_input` and with a bias if there is one, to the
/// zeros at y.
template <class Scalar>
void convolve_maps(const Call<Scalar>& c, const ConvolvedMaps& m, const Scalar* x, int64_t rows, size_t weight_input,
                   const std::vector<Scalar>& bias, Scalar* y) {
  const int64_t out_h = m.out_height(), out_w = m.out_width(), outputs = m.outputs, per_group = m.outputs / m.groups;
  if (rows == 0) return;
  // [O, kh, kw, C] to [kh, kw, C, O]: an input element multiplies a run of output channels.
  const HeldWeight weight = c.weight(weight_input);
  const std::vector<Scalar> factors = weight.template factors<Scalar>();
  std::vector<Scalar> stored(weight.info->elements());
  weight.read_unfolded(0, weight.info->elements(), stored.data());
  const int64_t taps = m.kernel_h * m.kernel_w * m.depth;
  std::vector<Scalar> turned(stored.size());
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t t = 0; t < taps; ++t) turned[t * outputs + o] = stored[o * taps + t];
  // Depthwise is no product: each channel has a weight of its own, in f32.
  const bool depthwise = m.groups > 1 && m.groups == m.channels && m.groups == outputs;
  std::vector<Scalar> held;
  if (!depthwise) x = c.product_input(weight_input, x, rows * m.height * m.width * m.channels, held);
  // Each member of the team takes lines of the maps. One member computes a pixel's sum, with the bits of one thread.
  c.team.split(rows * out_h, 1, [&](int64_t begin, int64_t end, int) {
    RowSums<Scalar> sums(outputs);
    for (int64_t line = begin; line < end && !c.cancel.cancelled(); ++line) {
      const int64_t r = line / out_h, i = line % out_h;
      for (int64_t j = 0; j < out_w; ++j) {
        Scalar* to = y + (line * out_w + j) * outputs;
        // A factor multiplies the sum alone; without one the sum begins at the bias.
        if (factors.empty()) std::copy(bias.begin(), bias.end(), to);
        sums.begin(to);
        for (int64_t a = 0; a < m.kernel_h; ++a)
          for (int64_t b = 0; b < m.kernel_w; ++b) {
            const int64_t from_i = i * m.stride + a - m.padding, from_j = j * m.stride + b - m.padding;
            if (from_i < 0 || from_i >= m.height || from_j < 0 || from_j >= m.width) continue;
            const Scalar* from = x + ((r * m.height + from_i) * m.width + from_j) * m.channels;
            for (int64_t g = 0; g < m.groups; ++g)
              for (int64_t d = 0; d < m.depth; ++d) {
                const Scalar value = from[g * m.depth + d];
                const Scalar* column = turned.data() + ((a * m.kernel_w + b) * m.depth + d) * outputs + g * per_group;
                sums.add(value, column, g * per_group, per_group);
              }
          }
        sums.end();
        for (size_t o = 0; o < factors.size(); ++o) to[o] = to[o] * factors[o] + (bias.empty() ? 0 : bias[o]);
      }
    }
  });
  c.cancel.check();
}

/// Applies activation and residual to the sums of all maps.
template <class Scalar>
void finish_maps(const Call<Scalar>& c) {
  auto& y = c.out().reals;
  const bool residual_first = flag_of(c.node, "residual_first");
  const std::string word = word_of(c.node, "activation");
  if (!residual_first) activate(y.data(), std::ssize(y), word);
  if (const auto i = extra_input(c.node, "residual"))
    for (size_t x = 0; x < y.size(); ++x) y[x] += c.in(*i).reals[x];
  if (residual_first) activate(y.data(), std::ssize(y), word);
}

template <class Scalar>
void conv2d(const Call<Scalar>& c) {
  std::vector<Scalar> bias;
  if (const auto i = extra_input(c.node, "bias")) bias = c.whole(*i);
  convolve_maps(c, ConvolvedMaps(c, 1, integer_of(c.node, "groups")), c.in(0).reals.data(), c.rows(0), 1, bias,
                c.out().reals.data());
  finish_maps(c);
}

}  // namespace stormcell::reference
