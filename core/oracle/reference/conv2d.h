// conv2d, channels last.
#pragma once
#include "core/oracle/reference/activation.h"

namespace stormcell::reference {

/// `rows` maps at x by the weights that are input `weight`, and a bias where there is one, to the zeros at y.
template <class Scalar>
void convolve_maps(const Call<Scalar>& c, const Scalar* x, int64_t rows, size_t weight_input, const std::vector<Scalar>& bias, Scalar* y) {
  const int64_t stride = integer_of(c.node, "stride"), padding = integer_of(c.node, "padding"), groups = integer_of(c.node, "groups");
  const auto extent = [](const TensorType& t, size_t i) { return t.content[i].constant(); };
  const TensorType &from_type = c.type(0), &w = c.type(weight_input), &to_type = c.graph().value(c.node.outputs[0]).type;
  const int64_t height = extent(from_type, 0), width = extent(from_type, 1), channels = extent(from_type, 2), kernel_h = extent(w, 1),
                kernel_w = extent(w, 2), depth = extent(w, 3), out_h = extent(to_type, 0), out_w = extent(to_type, 1),
                outputs = extent(to_type, 2), per_group = outputs / groups;
  if (rows == 0) return;
  // [O, kh, kw, C] to [kh, kw, C, O]: an input element multiplies a run of output channels.
  const HeldWeight weight = c.weight(weight_input);
  const std::vector<Scalar> factors = weight.template factors<Scalar>();
  std::vector<Scalar> stored(static_cast<size_t>(weight.info->elements()));
  weight.read_unfolded(0, weight.info->elements(), stored.data());
  const int64_t taps = kernel_h * kernel_w * depth;
  std::vector<Scalar> turned(stored.size());
  for (int64_t o = 0; o < outputs; ++o)
    for (int64_t t = 0; t < taps; ++t) turned[static_cast<size_t>(t * outputs + o)] = stored[static_cast<size_t>(o * taps + t)];
  // Depthwise is no product: each channel has a weight of its own, in f32.
  const bool depthwise = groups > 1 && groups == channels && groups == outputs;
  std::vector<Scalar> held;
  if (!depthwise) x = c.product_input(weight_input, x, rows * height * width * channels, held);
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t i = 0; i < out_h; ++i)
      for (int64_t j = 0; j < out_w; ++j) {
        Scalar* to = y + ((r * out_h + i) * out_w + j) * outputs;
        // A factor multiplies the sum alone; without one the sum begins at the bias.
        if (factors.empty()) std::copy(bias.begin(), bias.end(), to);
        for (int64_t a = 0; a < kernel_h; ++a)
          for (int64_t b = 0; b < kernel_w; ++b) {
            const int64_t from_i = i * stride + a - padding, from_j = j * stride + b - padding;
            if (from_i < 0 || from_i >= height || from_j < 0 || from_j >= width) continue;
            const Scalar* from = x + ((r * height + from_i) * width + from_j) * channels;
            for (int64_t g = 0; g < groups; ++g)
              for (int64_t d = 0; d < depth; ++d) {
                const Scalar value = from[g * depth + d];
                const Scalar* column = turned.data() + ((a * kernel_w + b) * depth + d) * outputs + g * per_group;
                for (int64_t o = 0; o < per_group; ++o) to[g * per_group + o] += value * column[o];
              }
          }
        for (size_t o = 0; o < factors.size(); ++o) to[o] = to[o] * factors[o] + (bias.empty() ? 0 : bias[o]);
      }
}

/// What follows the sums, over all maps.
template <class Scalar>
void finish_maps(const Call<Scalar>& c, size_t fixed) {
  activate(c.out().reals.data(), static_cast<int64_t>(c.out().reals.size()), word_of(c.node, "activation"));
  if (const auto i = extra_input(c.node, "residual", fixed))
    for (size_t x = 0; x < c.out().reals.size(); ++x) c.out().reals[x] += c.in(*i).reals[x];
}

template <class Scalar>
void conv2d(const Call<Scalar>& c) {
  std::vector<Scalar> bias;
  if (const auto i = extra_input(c.node, "bias", 2)) bias = c.whole(*i);
  convolve_maps(c, c.in(0).reals.data(), c.rows(0), 1, bias, c.out().reals.data());
  finish_maps(c, 2);
}

}  // namespace stormcell::reference
