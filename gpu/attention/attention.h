// Scaled dot-product attention with causal, sliding and key masks, grouped key heads and T5's relative bias. A warp
// takes a query of one head: 32 keys at a time, a key a lane for the scores, a column a lane for the values. Products
// are in f32, because nothing here may round. Bound: reading keys and values once a query; a tile of queries that
// shares them comes when a card has shown what it is worth.
#pragma once
#include "gpu/dispatch/dispatch.h"
#include "gpu/routing/rule.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct AttentionArgs : KernelArgs<5> {
  static constexpr int kMostValueColumns = 4;  ///< of a lane
  enum { kQueries, kKeys, kValues, kTo, kMask };
  int32_t heads = 1, kv_heads = 1, head_dim = 1, value_dim = 1;
  int32_t window = 0;   ///< > 0: a query sees keys with query - key < window
  int32_t bias = -1;    ///< handle of [buckets, heads]
  int64_t buckets = 0;  ///< constants: the bucket of key - query + origin
  int32_t origin = 0;
  float scale = 1;
  bool causal = false;
  Format to = Format::f32;
};

struct AttentionKernel {
  using Args = AttentionArgs;
  static constexpr const char* kName = "attention";
  static constexpr int kThreads = 256, kWarps = kThreads / 32, kMostValueDim = 32 * Args::kMostValueColumns;
  static constexpr bool kIndependent = false;
  struct Shared {
    float weight[kWarps][32];
  };

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const RowsEntry queries = a.rows(a.ref[Args::kQueries]), keys = a.rows(a.ref[Args::kKeys]);
    const int64_t all = static_cast<int64_t>(queries.rows) * a.heads, warps = static_cast<int64_t>(x.blocks()) * kWarps;
    for (int64_t i = static_cast<int64_t>(x.block()) * kWarps + x.thread() / 32; i < all; i += warps)
      attend(x, a, i / a.heads, static_cast<int32_t>(i % a.heads), queries.per_parent, keys.per_parent);
  }

 private:
  /// One query of one head.
  struct Query {
    int64_t row;    ///< of the query
    int64_t first;  ///< row of the parent's first key
    int32_t head, place, keys;
  };

  STORMCELL_DEVICE static bool is_allowed(const Args& a, const Query& q, const int32_t* mask, int32_t key) {
    if (key >= q.keys) return false;
    if (a.causal && key > q.place) return false;
    if (a.window > 0 && key <= q.place - a.window) return false;
    return !mask || mask[q.first + key] != 0;
  }
  STORMCELL_DEVICE static float score(const Args& a, const Query& q, const float* query, const float* keys,
                                      int32_t key) {
    const int32_t width = a.kv_heads * a.head_dim, group = q.head / (a.heads / a.kv_heads);
    const float* at = keys + (q.first + key) * width + group * a.head_dim;
    float sum = 0;
    for (int32_t d = 0; d < a.head_dim; ++d) sum += query[d] * at[d];
    sum *= a.scale;
    if (a.bias >= 0) {
      const int32_t bucket = a.constants<int32_t>(a.buckets)[key - q.place + a.origin];
      sum += a.weight<float>(a.bias)[bucket * a.heads + q.head];
    }
    return sum;
  }

  template <class X>
  STORMCELL_DEVICE static void attend(X& x, const Args& a, int64_t row, int32_t head, int32_t per_parent,
                                      int32_t keys_of_parent) {
    const int lane = x.thread() % 32;
    const Query q{row, row / per_parent * keys_of_parent, head, static_cast<int32_t>(row % per_parent), keys_of_parent};
    const float* query = a.in<float>(a.ref[Args::kQueries]) + (row * a.heads + head) * a.head_dim;
    const float* keys = a.in<float>(a.ref[Args::kKeys]);
    const int32_t* mask = a.has(Args::kMask) ? a.in<int32_t>(a.ref[Args::kMask]) : nullptr;
    bool any = false;
    for (int32_t key = lane; key - lane < q.keys; key += 32) any |= is_allowed(a, q, mask, key);
    // A query that sees no key gives each the same weight.
    const bool sees = x.ballot(any) != 0;

    float* shared = x.template shared<Shared>().weight[x.thread() / 32];
    const int32_t value_width = a.kv_heads * a.value_dim;
    const float* values = a.in<float>(a.ref[Args::kValues]) + q.first * value_width +
                          static_cast<int64_t>(head / (a.heads / a.kv_heads)) * a.value_dim;
    float sums[Args::kMostValueColumns] = {}, largest = -kInfinity, total = 0;
    for (int32_t first = 0; first < q.keys; first += 32) {
      const int32_t key = first + lane;
      float mine = -kInfinity;
      if (!sees && key < q.keys) mine = 0;
      if (sees && is_allowed(a, q, mask, key)) mine = score(a, q, query, keys, key);
      float top = mine;
      STORMCELL_UNROLL
      for (int step = 16; step > 0; step /= 2) top = fmaxf(top, x.shuffle_xor(top, step));
      const float now = fmaxf(largest, top), before = largest > -kInfinity ? expf(largest - now) : 0.0f;
      const float weight = mine > -kInfinity ? expf(mine - now) : 0.0f;
      float weights = weight;
      STORMCELL_UNROLL
      for (int step = 16; step > 0; step /= 2) weights += x.shuffle_xor(weights, step);
      total = total * before + weights;
      largest = now;
      x.sync_warp();  // the weights of the keys before have been read
      shared[lane] = weight;
      x.sync_warp();
      const int32_t some = least(32, q.keys - first);
      STORMCELL_UNROLL
      for (int c = 0; c < Args::kMostValueColumns; ++c) {
        const int32_t column = lane + 32 * c;
        if (column >= a.value_dim) continue;
        float sum = sums[c] * before;
        for (int32_t j = 0; j < some; ++j)
          sum += shared[j] * values[static_cast<int64_t>(first + j) * value_width + column];
        sums[c] = sum;
      }
    }
    const int64_t to = (row * a.heads + head) * a.value_dim;
    STORMCELL_UNROLL
    for (int c = 0; c < Args::kMostValueColumns; ++c) {
      const int32_t column = lane + 32 * c;
      if (column >= a.value_dim) continue;
      const float value = total > 0 ? sums[c] / total : 0.0f;
      if (a.to == Format::bf16)
        x.store(a.out<Bf16>(a.ref[Args::kTo]) + to + column, to_bf16(value));
      else
        x.store(a.out<float>(a.ref[Args::kTo]) + to + column, value);
    }
  }
};

}  // namespace stormcell::gpu
