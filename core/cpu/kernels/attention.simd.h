// Attention of some query rows against all keys of one key head.
//
// Keys are taken 256 at a time: packed k-major (so that scores are a product with a packed panel), scored, turned into
// weights, and their values added up; the running maximum and total of each row carry over, as in online softmax. Up to
// 256 keys that is plain two-pass softmax. Everything of a block lies in L2 (about 300 KiB at head size 64) whatever
// the number of keys.
//
// Limit: FMA ports, 4 * head_dim FLOP a (query, key) pair. Measured at 128 x 128, head size 64:
// docs/decisions/002-dense-products.md.
#pragma once
#include "core/cpu/kernels/product.simd.h"
#include "core/cpu/kernels/rows.simd.h"
#include "core/cpu/kernels/vector_math.simd.h"

namespace stormcell::cpu::STORMCELL_ISA {

inline constexpr int64_t kScoreStride = kAttentionKeys + 16;  // rows of scores a cache line apart modulo 1 KiB

/// Lanes of a and b alternating: the low halves, the high halves.
#if STORMCELL_SIMD_BITS == 512
STORMCELL_INLINE Floats weave_low(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
STORMCELL_INLINE Floats weave_high(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
}
#elif STORMCELL_SIMD_BITS == 256
STORMCELL_INLINE Floats weave_low(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
}
STORMCELL_INLINE Floats weave_high(Floats a, Floats b) {
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
}
#else
STORMCELL_INLINE Floats weave_low(Floats a, Floats b) { return __builtin_shufflevector(a, b, 0, 4, 1, 5); }
STORMCELL_INLINE Floats weave_high(Floats a, Floats b) { return __builtin_shufflevector(a, b, 2, 6, 3, 7); }
#endif

/// Transposes a square of vectors: weaving row i with row i + n/2, log2(n) times.
template <int Left = kLanes>
STORMCELL_INLINE void transpose(Floats (&rows)[kLanes]) {
  if constexpr (Left > 1) {
    Floats woven[kLanes];
    static_for<0, kLanes / 2>([&](auto i) STORMCELL_UNROLLED {
      woven[2 * i] = weave_low(rows[i], rows[i + kLanes / 2]);
      woven[2 * i + 1] = weave_high(rows[i], rows[i + kLanes / 2]);
    });
    static_for<0, kLanes>([&](auto i) STORMCELL_UNROLLED { rows[i] = woven[i]; });
    transpose<Left / 2>(rows);
  }
}

/// Keys [count, ldk] to panels of 64 keys, [dim][64] each; keys beyond the count are zero.
inline void pack_keys(const float* k, int64_t ldk, int64_t count, int64_t dim, float* to) {
  for (int64_t key = 0; key < (count + kPanel - 1) / kPanel * kPanel; key += kLanes) {
    float* panel = to + key / kPanel * kPanel * dim + key % kPanel;
    if (key >= count) {
      for (int64_t j = 0; j < dim; ++j) store(panel + j * kPanel, splat(0));
      continue;
    }
    for (int64_t j = 0; j < dim; j += kLanes) {
      Floats rows[kLanes];
      static_for<0, kLanes>([&](auto i) STORMCELL_UNROLLED {
        const float* from = k + (key + i) * ldk + j;
        rows[i] = key + i >= count ? splat(0) : j + kLanes <= dim ? load(from) : load_part(from, dim - j);
      });
      transpose(rows);
      static_for<0, kLanes>([&](auto i) STORMCELL_UNROLLED {
        if (j + i < dim) store(panel + (j + i) * kPanel, rows[i]);
      });
    }
  }
}

/// Values [count, ldv] to panels of 64 columns, [all][64] each, of which they are some rows.
inline void pack_values(const float* v, int64_t ldv, int64_t count, int64_t dim, int64_t all, float* panels) {
  for (int64_t column = 0; column < dim; column += kPanel) {
    float* to = panels + column * all;
    for (int64_t key = 0; key < count; ++key, to += kPanel)
      for (int64_t c = 0; c < kPanel; c += kLanes) {
        const int64_t left = dim - column - c;
        const float* from = v + key * ldv + column + c;
        store(to + c, left >= kLanes ? load(from) : left > 0 ? load_part(from, left) : splat(0));
      }
  }
}

/// Keys or values of one head: where their rows lie, behind each other or in pages.
struct HeadRows {
  const float* rows;
  const uint64_t* pages;
  int64_t page_rows, column, ld, width;
  bool bf16;

  STORMCELL_INLINE int64_t offset(int64_t row) const { return row % page_rows * ld + column; }
  /// Rows [first, first + n) of one page as floats: widened into `room` where they are not, in which case `to_next`
  /// becomes their width.
  const float* floats(int64_t first, int64_t n, float* room, int64_t& to_next) const {
    to_next = ld;
    if (!pages) return rows + first * ld;
    const uint64_t page = pages[first / page_rows];
    if (!bf16) return reinterpret_cast<const float*>(page) + offset(first);
    to_next = width;
    for (int64_t r = 0; r < n; ++r)
      widen_row(reinterpret_cast<const uint16_t*>(page) + offset(first + r), 1.0f, width, room + r * width);
    return room;
  }
};
inline HeadRows keys_of(const AttentionTask& t) {
  return {t.k, t.k_pages, t.page_rows, t.k_column, t.ldk, t.head_dim, t.bf16};
}
inline HeadRows values_of(const AttentionTask& t) {
  return {t.v, t.v_pages, t.page_rows, t.v_column, t.ldv, t.value_dim, t.bf16};
}

/// Keys and values [first, first + count), page by page: a page begins at a panel's boundary, so that what is packed is
/// the same.
inline void pack_block(const AttentionTask& task, int64_t first, int64_t count, float* keys, float* values,
                       float* widened) {
  const HeadRows k = keys_of(task), v = values_of(task);
  for (int64_t done = 0; done < count;) {
    int64_t n = count;
    if (task.k_pages || task.v_pages) n = smaller(count - done, kAttentionWidened - (first + done) % kAttentionWidened);
    int64_t ld = 0;
    const float* from = k.floats(first + done, n, widened, ld);
    pack_keys(from, ld, n, task.head_dim, keys + done * task.head_dim);
    from = v.floats(first + done, n, widened, ld);
    pack_values(from, ld, n, task.value_dim, count, values + done * kPanel);
    done += n;
  }
}

/// Keys [begin, end) that a query sees by its position.
struct Span {
  int64_t begin, end;
};
STORMCELL_INLINE Span visible(const AttentionTask& task, int64_t query) {
  const int64_t position = task.position + query;
  return {task.window > 0 ? larger(0, position - task.window + 1) : 0,
          task.causal ? smaller(task.keys, position + 1) : task.keys};
}

/// One row of scores to weights e^(score - largest), in place; updates the row's largest score and total and scales its
/// sums to match. scores[c] belongs to key first + c; those outside `span` are masked.
STORMCELL_INLINE void weigh(const AttentionTask& task, float* scores, int64_t first, Span span, Span used,
                            const float* mask, const float* bias, float& largest, float& total, float* sums,
                            int64_t sum_columns) {
  const int64_t begin = larger(span.begin - first, used.begin), end = smaller(span.end - first, used.end);
  const Floats scale = splat(task.scale), lowest = splat(-__builtin_inff());
  Floats most = lowest;
  const auto for_visible = [&](auto&& f) STORMCELL_UNROLLED {
    for_vectors(end - begin, [&](int64_t i, auto count) STORMCELL_UNROLLED { f(begin + i, count); });
  };
  for_visible([&](int64_t c, auto count) STORMCELL_UNROLLED {
    Floats s = load_some(scores + c, count) * scale;
    if (bias) s = s + load_some(bias + c, count);
    if (mask) s = s + load_some(mask + c, count);
    store_some(scores + c, s, count);
    most = max(keep_lanes(s, lowest, count), most);
  });
  const float block = max_lanes(most), now = block > largest ? block : largest;
  // Nothing visible yet: subtract 0, so that masked scores become 0 and NaN stays.
  const Floats shift = splat(now == -__builtin_inff() ? 0.0f : now);
  Floats sum = splat(0);
  for_visible([&](int64_t c, auto count) STORMCELL_UNROLLED {
    const Floats e = exp(load_some(scores + c, count) - shift);
    sum = sum + keep_lanes(e, splat(0), count);
    store_some(scores + c, e, count);
  });
  for (int64_t c = used.begin; c < smaller(begin, used.end); ++c) scores[c] = 0;
  for (int64_t c = larger(end, used.begin); c < used.end; ++c) scores[c] = 0;
  if (now != largest) {
    const Floats correction = exp(splat(largest - now));
    total *= correction[0];
    for (int64_t c = 0; c < sum_columns; c += kLanes) store(sums + c, load(sums + c) * correction);
  }
  largest = now;
  total += sum_lanes(sum);
}

/// A query that sees no key weighs all keys alike.
inline void average_values(const AttentionTask& task, float* widened, float* out) {
  const Floats weight = splat(1.0f / static_cast<float>(task.keys));
  const HeadRows values = values_of(task);
  for_vectors(task.value_dim, [&](int64_t c, auto count) { store_some(out + c, splat(0), count); });
  for (int64_t key = 0; key < task.keys; ++key) {
    int64_t ld = 0;
    const float* v = values.floats(key, 1, widened, ld);
    for_vectors(task.value_dim, [&](int64_t c, auto count) {
      store_some(out + c, fma(load_some(v + c, count), weight, load_some(out + c, count)), count);
    });
  }
}

/// The values' sums [rows, ld_sums], by row divided by the sum of the weights. `Out`: float, or uint16_t for bf16.
template <class Out>
inline void store_averages(const AttentionTask& task, const float* sums, int64_t ld_sums, const float* of_weights) {
  for (int64_t r = 0; r < task.queries * task.heads; ++r) {
    Out* out = static_cast<Out*>(task.out) + r % task.queries * task.ldo + r / task.queries * task.value_dim;
    const Floats inverse = splat(1.0f / of_weights[r]);
    for_vectors(task.value_dim,
                [&](int64_t c, auto lanes) { store_some(out + c, load(sums + r * ld_sums + c) * inverse, lanes); });
  }
}

/// Rows times as many columns of a panel as there are, to the next 16, 32 or 64: heads of 32 fill half a panel.
STORMCELL_INLINE void multiply_columns(int64_t count, const float* const* rows, const float* panel, int64_t steps,
                                       bool first, float* tile, int64_t ld, int64_t columns) {
  const Ahead nothing{reinterpret_cast<const char*>(panel), 0};
  if (columns <= 16) return multiply_rows<F32Steps, 1, 16>(count, rows, panel, steps, false, first, tile, ld, nothing);
  if (columns <= 32) return multiply_rows<F32Steps, 1, 32>(count, rows, panel, steps, false, first, tile, ld, nothing);
  multiply_rows<F32Steps, 1>(count, rows, panel, steps, false, first, tile, ld, nothing);
}

inline void attend(const AttentionTask& task) {
  const int64_t rows = task.queries * task.heads, dim = task.head_dim,
                sum_columns = (task.value_dim + kPanel - 1) / kPanel * kPanel;
  float* keys = task.scratch;
  float* values = keys + kAttentionKeys * dim;
  float* scores = values + kAttentionKeys * sum_columns;
  float* sums = scores + rows * kScoreStride;
  float* mask = sums + rows * sum_columns;
  float* largest = mask + kAttentionKeys;
  float* total = largest + (rows + 15) / 16 * 16;
  float* widened = total + (rows + 15) / 16 * 16;
  // A sink is a score that came before all keys and added nothing to the sums.
  for (int64_t r = 0; r < rows; ++r)
    largest[r] = task.sinks ? task.sinks[r / task.queries] : -__builtin_inff(), total[r] = task.sinks ? 1.0f : 0.0f;
  for (int64_t i = 0; i < rows * sum_columns; i += kLanes) store(sums + i, splat(0));

  // Row r is query r % queries of head r / queries.
  const int64_t blocks = (rows + kTileRows - 1) / kTileRows;
  const int64_t end = visible(task, task.queries - 1).end;
  // Begins at a multiple of 256: a row sums in the same blocks whatever rows share its task.
  for (int64_t first = visible(task, 0).begin / kAttentionKeys * kAttentionKeys; first < end; first += kAttentionKeys) {
    const int64_t count = smaller(kAttentionKeys, end - first);
    pack_block(task, first, count, keys, values, widened);
    if (task.key_mask)
      for (int64_t c = 0; c < count; ++c) mask[c] = task.key_mask[first + c] ? 0.0f : -__builtin_inff();
    for (int64_t b = 0; b < blocks; ++b) {
      const int64_t row = rows * b / blocks, height = rows * (b + 1) / blocks - row;
      // The keys that some row of the block sees, from a panel's boundary on.
      Span used{count, 0};
      const float* q[kTileRows];
      for (int64_t r = row; r < row + height; ++r) {
        const Span span = visible(task, r % task.queries);
        used = {smaller(used.begin, larger(0, span.begin - first)), larger(used.end, smaller(count, span.end - first))};
        q[r - row] = task.q + r % task.queries * task.ldq + r / task.queries * dim;
      }
      if (used.begin >= used.end) continue;
      used.begin = used.begin / kPanel * kPanel;
      float* block_scores = scores + row * kScoreStride;
      for (int64_t c = used.begin; c < used.end; c += kPanel)
        multiply_columns(height, q, keys + c * dim, dim, true, block_scores + c, kScoreStride, used.end - c);
      const float* weights[kTileRows];
      for (int64_t r = row; r < row + height; ++r) {
        const int64_t query = r % task.queries;
        const float* bias = task.bias ? task.bias + r / task.queries * task.ld_bias + first +
                                            (task.position + query) * task.bias_step + task.bias_origin
                                      : nullptr;
        weigh(task, scores + r * kScoreStride, first, visible(task, query), used, task.key_mask ? mask : nullptr, bias,
              largest[r], total[r], sums + r * sum_columns, sum_columns);
        weights[r - row] = scores + r * kScoreStride + used.begin;
      }
      for (int64_t c = 0; c < sum_columns; c += kPanel)
        multiply_columns(height, weights, values + c * count + used.begin * kPanel, used.end - used.begin, false,
                         sums + row * sum_columns + c, sum_columns, task.value_dim - c);
    }
  }
  for (int64_t r = 0; r < rows; ++r)
    if (total[r] == 0) {
      average_values(task, widened, sums + r * sum_columns);
      total[r] = 1;
    }
  task.out_bf16 ? store_averages<uint16_t>(task, sums, sum_columns, total)
                : store_averages<float>(task, sums, sum_columns, total);
}

}  // namespace stormcell::cpu::STORMCELL_ISA
