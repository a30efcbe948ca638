// Scaled dot-product attention with causal, sliding and key masks, grouped key heads and T5's relative bias. A warp
// takes a query of one head: 32 keys at a time, a key a lane for the scores, a column a lane for the values. Products
// are in f32, because nothing here may round. Bound: reading keys and values once a query; a tile of queries that
// shares them comes when a card has shown what it is worth.
#pragma once
#include "gpu/attention/weigh_values.h"
#include "gpu/dispatch/dispatch.h"
#include "gpu/rows/groups.h"
#include "gpu/rows/state_rows.h"

namespace stormcell::gpu {

struct AttentionArgs : KernelArgs<9> {
  static constexpr int kMostValueColumns = 4;  ///< of a lane
  /// kStep: keys and values are in a cache; for each parent, the place of its first query, whose keys are those up to
  /// the last query. If they are not there, kFailure reports it. kQueryCells, kKeyCells: the ragged values of queries
  /// and of keys; none: they are dense.
  enum { kQueries, kKeys, kValues, kTo, kMask, kStep, kFailure, kQueryCells, kKeyCells };
  RaggedPlaces query_cells, key_cells;
  FailurePlaces failure;
  int32_t paged_keys = -1, paged_values = -1;  ///< as in state_rows()
  Format kept = Format::f32;                   ///< of keys and values
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
    if (!a.is_due() && !(a.has(Args::kFailure) && failed_here(a.failure, a.in<char>(a.ref[Args::kFailure])))) return;
    const Cells cells{groups_of(a, a.ref[Args::kQueries], a.ref[Args::kQueryCells], a.query_cells),
                      groups_of(a, a.ref[Args::kKeys], a.ref[Args::kKeyCells], a.key_cells)};
    const int64_t all = static_cast<int64_t>(a.rows(a.ref[Args::kQueries]).rows) * a.heads,
                  warps = static_cast<int64_t>(x.blocks()) * kWarps;
    const Cache cache(a);
    if (a.has(Args::kStep))
      leave_first_fault(a.failure, a.out<char>(a.ref[Args::kFailure]), cells.queries.parents, grid_thread(x, kThreads),
                        grid_threads(x, kThreads),
                        [&](int64_t p) { return fault(a, cache, p, cells.queries.count(p)); });
    for (int64_t i = static_cast<int64_t>(x.block()) * kWarps + x.thread() / 32; i < all; i += warps)
      attend(x, a, cache, cells, i / a.heads, static_cast<int32_t>(i % a.heads));
  }

 private:
  /// Places of keys and values.
  struct Cache {
    StateRowsOf keys, values;
    STORMCELL_DEVICE explicit Cache(const Args& a) {
      const int64_t number = bytes_of(a.kept);
      keys = state_rows(a, a.ref[Args::kKeys], a.paged_keys, number * a.kv_heads * a.head_dim);
      values = state_rows(a, a.ref[Args::kValues], a.paged_values, number * a.kv_heads * a.value_dim);
    }
  };
  struct Cells {
    Groups queries, keys;
  };
  /// One query of one head.
  struct Query {
    int64_t row;    ///< of the query
    int64_t first;  ///< row of the parent's first key
    int64_t parent;
    int32_t head, place, keys;
    const int32_t* places = nullptr;  ///< of the parent's keys; null: the first is at 0, the next at 1, and so on

    STORMCELL_DEVICE int32_t place_of(int32_t key) const { return places ? places[key] : key; }
  };

  /// The queries of a parent, and the keys up to its last one, must be there.
  STORMCELL_DEVICE static StateFault fault(const Args& a, const Cache& cache, int64_t parent, int32_t queries) {
    const int32_t step = a.in<int32_t>(a.ref[Args::kStep])[parent];
    const StateFault of_keys = cache.keys.fault(a.failure, parent, step, queries, 0);
    return of_keys.what != 0 ? of_keys : cache.values.fault(a.failure, parent, step, queries, 0);
  }
  STORMCELL_DEVICE static float number(const Args& a, const char* row, int32_t i) {
    return a.kept == Format::bf16 ? to_float(reinterpret_cast<const Bf16*>(row)[i])
                                  : reinterpret_cast<const float*>(row)[i];
  }

  STORMCELL_DEVICE static bool is_allowed(const Args& a, const Query& q, const int32_t* mask, int32_t key) {
    if (key >= q.keys) return false;
    const int32_t place = q.place_of(key);
    if (a.causal && place > q.place) return false;
    if (a.window > 0 && place <= q.place - a.window) return false;
    return !mask || mask[q.first + key] != 0;
  }
  /// Rows of ragged cells are contiguous by parent; those of a cache follow the state's layout.
  STORMCELL_DEVICE static const char* row_of(const Args& a, const StateRowsOf& rows, const Query& q, int32_t key) {
    return a.has(Args::kKeyCells) ? rows.data + (q.first + key) * rows.row_bytes : rows.row(q.parent, key);
  }
  STORMCELL_DEVICE static float score(const Args& a, const Cache& cache, const Query& q, const float* query,
                                      int32_t key) {
    const int32_t first = q.head / (a.heads / a.kv_heads) * a.head_dim;
    const char* at = row_of(a, cache.keys, q, key);
    float sum = 0;
    for (int32_t d = 0; d < a.head_dim; ++d) sum += query[d] * number(a, at, first + d);
    sum *= a.scale;
    if (a.bias >= 0) {
      const int32_t bucket = a.constants<int32_t>(a.buckets)[q.place_of(key) - q.place + a.origin];
      sum += a.weight<float>(a.bias)[bucket * a.heads + q.head];
    }
    return sum;
  }

  template <class X>
  STORMCELL_DEVICE static void attend(X& x, const Args& a, const Cache& cache, const Cells& cells, int64_t row,
                                      int32_t head) {
    const int lane = x.thread() % 32;
    const int64_t parent = cells.queries.parent(row);
    Query q{row, cells.keys.begin(parent), parent, head, cells.queries.place(parent, row), cells.keys.count(parent)};
    if (cells.keys.ragged.offsets) q.places = cells.keys.ragged.place + cells.keys.first + q.first;
    if (a.has(Args::kStep)) {
      const int32_t queries = cells.queries.count(parent);
      if (fault(a, cache, parent, queries).what != 0) return;
      const int32_t step = a.in<int32_t>(a.ref[Args::kStep])[parent];
      q.place = step + static_cast<int32_t>(row - cells.queries.begin(parent)), q.keys = step + queries;
    }
    const float* query = a.in<float>(a.ref[Args::kQueries]) + (row * a.heads + head) * a.head_dim;
    const int32_t* mask = a.has(Args::kMask) ? a.in<int32_t>(a.ref[Args::kMask]) : nullptr;
    bool any = false;
    for (int32_t key = lane; key - lane < q.keys; key += 32) any |= is_allowed(a, q, mask, key);
    // A query that sees no key gives each the same weight.
    const bool sees = x.ballot(any) != 0;

    const int32_t first_column = head / (a.heads / a.kv_heads) * a.value_dim;
    float sums[Args::kMostValueColumns];
    weigh_values(
        x, x.template shared<Shared>().weight[x.thread() / 32], q.keys, a.value_dim,
        [&](int32_t key) {
          if (!sees) return 0.0f;
          return is_allowed(a, q, mask, key) ? score(a, cache, q, query, key) : -kInfinity;
        },
        [&](int32_t key, int32_t column) { return number(a, row_of(a, cache.values, q, key), first_column + column); },
        sums);
    const int64_t to = (row * a.heads + head) * a.value_dim;
    STORMCELL_UNROLL
    for (int c = 0; c < Args::kMostValueColumns; ++c) {
      const int32_t column = lane + 32 * c;
      if (column >= a.value_dim) continue;
      if (a.to == Format::bf16)
        x.store(a.out<Bf16>(a.ref[Args::kTo]) + to + column, to_bf16(sums[c]));
      else
        x.store(a.out<float>(a.ref[Args::kTo]) + to + column, sums[c]);
    }
  }
};

}  // namespace stormcell::gpu
