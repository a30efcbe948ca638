// Scaled dot-product attention with causal, sliding and key masks, grouped key heads and T5's relative bias.
#pragma once
#include <cstddef>
#include <cstdint>

#include "core/base/thread_team.h"

namespace stormcell::cpu {

struct AttentionProblem {
  int32_t heads = 1, kv_heads = 1;  ///< query head h reads key head h / (heads / kv_heads)
  int32_t head_dim = 64, value_dim = 64;
  float scale = 1;  ///< multiplies q . k; T5: 1
  bool causal = false;
  int64_t sequences = 1;
  int64_t q_length = 0;  ///< queries of each sequence; ragged: the most of one
  /// rows of k and v that belong to each sequence (the room of a cache); ragged: the most of one
  int64_t k_length = 0;
  // Ragged sequences: [sequences + 1] offsets of rows and, row by row, the position in the sequence, ascending within
  // it. Null: as above. A query without a key gives 0.
  const int32_t *q_offsets = nullptr, *k_offsets = nullptr, *q_places = nullptr, *k_places = nullptr;
  // Keys and values in a cache. By sequence: position of its first query, whose keys are those up to its last query's;
  // key j has position j. Null: no cache, all keys are valid.
  const int32_t* steps = nullptr;
  // Addresses of pages [sequences][pages_of_sequence] of page_rows rows, a multiple of 64, instead of k, of v. Null:
  // rows lie behind each other.
  const uint64_t *k_pages = nullptr, *v_pages = nullptr;
  int64_t pages_of_sequence = 0, page_rows = 0;
  bool bf16 = false;                  ///< keys and values lie in pages, and are bf16 there
  int32_t window = 0;                 ///< > 0: a query sees keys with query - key < window only
  const float* bias_table = nullptr;  ///< [buckets, heads] or null: added to the scores by relative_bucket()
  int32_t buckets = 32, max_distance = 128;
  bool bidirectional = true;  ///< of the bias buckets: true in an encoder
  /// out is bf16: what is computed is rounded to nearest even as it is stored; of an even value_dim
  bool out_bf16 = false;
  const float* sinks = nullptr;       ///< [heads] or null: a further score of each query, whose weight goes nowhere
  const int32_t* key_mask = nullptr;  ///< by row of k, or null: 0 masks the key for all queries of its sequence
};

/// out[q] = softmax(scale q k^T + bias + mask) v for every sequence and head, in f32.
///
/// q [sequences * q_length, heads * head_dim], k [sequences * k_length, kv_heads * head_dim], v [sequences * k_length,
/// kv_heads * value_dim], out [sequences * q_length, heads * value_dim]; leading dimensions in elements. out overlaps
/// none of them.
///
/// A masked key counts as transformers counts it: its score gets the most negative float added, so its weight is
/// exactly 0 beside any visible key; a query that sees no key at all gets equal weights over all valid keys, masked
/// ones included (all scores are the same then). With sinks it gives 0: the sink takes all of its weight.
void attention(ThreadTeam& team, const float* q, int64_t ldq, const float* k, int64_t ldk, const float* v, int64_t ldv,
               const AttentionProblem& problem, void* out, int64_t ldo, std::byte* scratch);

/// Bytes of 64-byte aligned scratch.
size_t attention_scratch_bytes(const AttentionProblem& problem, int threads);

}  // namespace stormcell::cpu
