// How the next token of a text is drawn from the scores of all tokens, in a way that an oracle repeats
// (docs/method/sampling.md). A draw is a number that follows from the seed, the sequence, the place and the token, and
// from nothing else: not from the batch, the device or the order in which tokens are looked at.
#pragma once
#include <cmath>
#include <cstdint>

namespace stormcell {

/// Candidates are the `top_k` tokens of the highest scores, and of those the most probable ones until their
/// probabilities sum up to `top_p`. The token of the highest score / temperature + gumbel() among them is written, which
/// is a draw from their probabilities.
struct SamplingRule {
  uint64_t seed = 0;
  double temperature = 1;  ///< above 0
  int64_t top_k = 0;       ///< at least 1; 0: all tokens
  double top_p = 1;        ///< above 0, at most 1
  bool operator==(const SamplingRule&) const = default;
};

/// A step of SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): every bit of the result depends on every bit of `x`.
constexpr uint64_t mixed_bits(uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30U)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27U)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31U);
}

/// The key of one turn of one sequence. `item`: its number in the data; `turn`: tokens that it has written before.
constexpr uint64_t draw_key(uint64_t seed, int32_t item, int32_t turn) {
  return mixed_bits(mixed_bits(mixed_bits(seed) + static_cast<uint32_t>(item)) + static_cast<uint32_t>(turn));
}

/// A number of the standard Gumbel distribution. The token with the largest score + gumbel() is token i with the
/// probability exp(score of i) / sum of exp(score) (Gumbel 1954). Finite: the draw lies strictly between 0 and 1.
inline double gumbel(uint64_t key, int32_t token) {
  const double draw = (static_cast<double>(mixed_bits(key + static_cast<uint32_t>(token)) >> 11U) + 0.5) * 0x1p-53;
  return -std::log(-std::log(draw));
}

}  // namespace stormcell
