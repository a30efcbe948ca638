// residual_blocks: x + v * relu(w * x + b) + d, block after block, channels last.
#pragma once
#include <algorithm>

#include "core/oracle/reference/frame.h"
#include "core/oracle/reference/row_sums.h"

namespace stormcell::reference {

/// y = x * w + bias, padded to keep the extents: x [height, width, c], w [k, k, c, c] with the outputs last. Each member
/// of the team takes lines of y.
template <class Scalar>
void same_convolution(ThreadTeam& team, const Scalar* x, int64_t height, int64_t width, int64_t c,
                      const std::vector<Scalar>& w, int64_t k, const std::vector<Scalar>& bias,
                      std::vector<Scalar>& y) {
  team.split(height, 1, [&](int64_t begin, int64_t end, int) {
    RowSums<Scalar> sums(c);
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < width; ++j) {
        Scalar* to = y.data() + (i * width + j) * c;
        std::copy(bias.begin(), bias.end(), to);
        sums.begin(to);
        for (int64_t a = 0; a < k; ++a)
          for (int64_t b = 0; b < k; ++b) {
            const int64_t from_i = i + a - k / 2, from_j = j + b - k / 2;
            if (from_i < 0 || from_i >= height || from_j < 0 || from_j >= width) continue;
            for (int64_t d = 0; d < c; ++d) {
              const Scalar value = x[(from_i * width + from_j) * c + d];
              const Scalar* column = w.data() + ((a * k + b) * c + d) * c;
              sums.add(value, column, 0, c);
            }
          }
        sums.end();
      }
  });
}

/// [C, k, k, C] with the outputs last.
template <class Scalar>
std::vector<Scalar> outputs_last(const std::vector<Scalar>& w, int64_t outputs) {
  std::vector<Scalar> turned(w.size());
  const size_t taps = w.size() / static_cast<size_t>(outputs);
  for (size_t o = 0; o < static_cast<size_t>(outputs); ++o)
    for (size_t t = 0; t < taps; ++t) turned[t * outputs + o] = w[o * taps + t];
  return turned;
}

/// `rows` maps at x, in place, through blocks whose weights are the inputs first, first + step, ... of the node.
template <class Scalar>
void through_blocks(const Call<Scalar>& c, Scalar* x, int64_t rows, size_t first, size_t step) {
  const TensorType& type = c.type(0);
  const int64_t height = type.content[0].constant(), width = type.content[1].constant(),
                channels = type.content[2].constant(), k = c.type(first).content[1].constant(),
                map = height * width * channels;
  if (rows == 0) return;
  std::vector<Scalar> inner(map), outer(inner.size());
  for (size_t block = first; block < c.node.inputs.size(); block += 4 * step) {
    const std::vector<Scalar> w = outputs_last(c.whole(block), channels),
                              v = outputs_last(c.whole(block + 2 * step), channels);
    const std::vector<Scalar> b = c.whole(block + step), d = c.whole(block + 3 * step);
    for (int64_t r = 0; r < rows; ++r) {
      Scalar* at = x + r * map;
      same_convolution(c.team, at, height, width, channels, w, k, b, inner);
      for (Scalar& value : inner) value = positive_part(value);
      same_convolution(c.team, inner.data(), height, width, channels, v, k, d, outer);
      for (size_t i = 0; i < outer.size(); ++i) at[i] += outer[i];
    }
  }
}

template <class Scalar>
void residual_blocks(const Call<Scalar>& c) {
  c.out().reals = c.in(0).reals;
  through_blocks(c, c.out().reals.data(), c.rows(0), 1, 1);
}

}  // namespace stormcell::reference
