// One task is some queries of the heads that share a key head; threads claim tasks one by one, since causal ones differ
// in length.
#include "core/cpu/kernels/attention.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/align.h"
#include "core/cpu/kernels/kernel_table.h"
#include "core/runtime/relative_bucket.h"

namespace stormcell::cpu {
namespace {

struct Cut {
  int64_t group;    // query heads of a key head
  int64_t room;     // queries that scratch is for: never falls when the problem grows
  int64_t queries;  // at most, in a task
  int64_t parts;    // tasks of a (sequence, key head)
  int64_t tasks;

  Cut(const AttentionProblem& p, int threads) : group(p.heads / p.kv_heads) {
    room = queries = std::max<int64_t>(1, std::min(p.q_length, kAttentionRows / group));
    const int64_t pairs = p.sequences * p.kv_heads;
    // Few heads, many threads: smaller tasks, though each packs the keys again.
    while (pairs * ((p.q_length + queries - 1) / queries) < 2 * threads && queries * group > 24)
      queries = (queries + 1) / 2;
    parts = (p.q_length + queries - 1) / queries;
    tasks = pairs * parts;
  }
};

struct Scratch {
  size_t buckets, bias, task;  // bytes; buckets are shared, the others a thread's
  int64_t ld_bias;
  Scratch(const AttentionProblem& p, const Cut& cut) {
    const size_t f = sizeof(float);
    ld_bias = cut.room + p.k_length;
    buckets = p.bias_table ? align_up(static_cast<size_t>(p.q_length + p.k_length) * sizeof(int32_t)) : 0;
    bias = p.bias_table ? align_up(static_cast<size_t>(cut.group * ld_bias) * f) : 0;
    task = align_up(static_cast<size_t>(attention_task_floats(cut.room * cut.group, p.head_dim, p.value_dim)) * f);
  }
};

/// bias[head of the group][distance + origin] for the distances of a task's queries, from the shared buckets by
/// distance; `of` points to that of the first key and the task's last query.
void fill_bias(const AttentionProblem& p, const Cut& cut, const int32_t* of, int64_t first_head, int64_t distances,
               int64_t ld, float* bias) {
  for (int64_t h = 0; h < cut.group; ++h)
    for (int64_t i = 0; i < distances; ++i) bias[h * ld + i] = p.bias_table[of[i] * p.heads + first_head + h];
}

/// The rows of one sequence, and the position of its queries relative to its keys.
struct SequenceRows {
  int64_t query, queries, key, keys;
  int64_t position;  // position of the first query less that of the first key
  bool contiguous;   // positions go up one by one
};
SequenceRows rows_of(const AttentionProblem& p, int64_t sequence) {
  SequenceRows r{sequence * p.q_length, p.q_length, sequence * p.k_length, p.k_length, 0, true};
  const auto places = [](const int32_t* at, int64_t n, int32_t& first) {
    first = at && n > 0 ? at[0] : 0;
    return !at || n == 0 || at[n - 1] - at[0] == n - 1;
  };
  if (p.q_offsets)
    r.query = p.q_offsets[sequence] - p.q_offsets[0], r.queries = p.q_offsets[sequence + 1] - p.q_offsets[sequence];
  if (p.k_offsets)
    r.key = p.k_offsets[sequence] - p.k_offsets[0], r.keys = p.k_offsets[sequence + 1] - p.k_offsets[sequence];
  if (p.steps) {
    r.position = p.steps[sequence];
    r.keys = r.queries > 0 ? std::min(p.k_length, r.position + r.queries) : 0;
    return r;
  }
  int32_t first_query = 0, first_key = 0;
  r.contiguous = places(p.q_places ? p.q_places + r.query : nullptr, r.queries, first_query);
  r.contiguous = places(p.k_places ? p.k_places + r.key : nullptr, r.keys, first_key) && r.contiguous;
  r.position = first_query - first_key;
  return r;
}

void* at_element(void* of, bool bf16, int64_t index) {
  return static_cast<std::byte*>(of) + index * static_cast<int64_t>(bf16 ? sizeof(uint16_t) : sizeof(float));
}

/// Positions with gaps: plain loops, key by key. Masks rarely have holes between data; where they have, this is right.
void attend_with_gaps(const AttentionProblem& p, const KernelTable& table, const AttentionTask& task,
                      int64_t first_query, const int32_t* q_places, const int32_t* k_places, int64_t first_head) {
  for (int64_t h = 0; h < task.heads; ++h)
    for (int64_t i = 0; i < task.queries; ++i) {
      const float* q = task.q + i * task.ldq + h * task.head_dim;
      void* to = at_element(task.out, task.out_bf16, i * task.ldo + h * task.value_dim);
      float* out = task.out_bf16 ? task.scratch : static_cast<float*>(to);
      float largest = task.sinks ? task.sinks[h] : -std::numeric_limits<float>::infinity();
      const int64_t place = q_places ? q_places[i] : first_query + i;
      const auto score = [&](int64_t j) {
        const int64_t key = k_places ? k_places[j] : j;
        if ((task.causal && key > place) || (task.window > 0 && key <= place - task.window) ||
            (task.key_mask && task.key_mask[j] == 0))
          return -std::numeric_limits<float>::infinity();
        float s = 0;
        for (int32_t d = 0; d < task.head_dim; ++d) s += q[d] * task.k[j * task.ldk + d];
        s *= task.scale;
        if (p.bias_table)
          s += p.bias_table[relative_bucket(static_cast<int>(key - place), p.bidirectional, p.buckets, p.max_distance) *
                                p.heads +
                            first_head + h];
        return s;
      };
      for (int64_t j = 0; j < task.keys; ++j) largest = std::max(largest, score(j));
      const bool any = largest > -std::numeric_limits<float>::infinity();
      float total = task.sinks ? std::exp(task.sinks[h] - largest) : 0;
      std::fill_n(out, task.value_dim, 0.0f);
      for (int64_t j = 0; j < task.keys; ++j) {
        const float weight = any ? std::exp(score(j) - largest) : 1.0f;
        total += weight;
        for (int32_t e = 0; e < task.value_dim; ++e) out[e] += weight * task.v[j * task.ldv + e];
      }
      for (int32_t e = 0; e < task.value_dim; ++e) out[e] /= total;
      if (task.out_bf16) table.round_row(out, task.value_dim, static_cast<uint16_t*>(to));
    }
}

}  // namespace

size_t attention_scratch_bytes(const AttentionProblem& p, int threads) {
  const Cut cut(p, threads);
  const Scratch scratch(p, cut);
  return scratch.buckets + static_cast<size_t>(threads) * (scratch.bias + scratch.task);
}

void attention(ThreadTeam& team, const float* q, int64_t ldq, const float* k, int64_t ldk, const float* v, int64_t ldv,
               const AttentionProblem& p, void* out, int64_t ldo, std::byte* scratch) {
  if (p.sequences <= 0 || p.q_length <= 0) return;
  const KernelTable& table = kernels();
  const Cut cut(p, team.size());
  const Scratch sizes(p, cut);
  int32_t* buckets = reinterpret_cast<int32_t*>(scratch);
  // The bias reaches from the most distant key before a query to the most distant one behind: a position is less than
  // the bound on its sequence's cells.
  int64_t last = p.q_length - 1, ahead = p.k_length - 1;
  if (p.bias_table) {
    if (p.steps) ahead = p.q_length - 1;  // no key stands behind the last query
    for (int64_t s = 0; (p.q_offsets || p.k_offsets || p.steps) && s < p.sequences; ++s) {
      const SequenceRows r = rows_of(p, s);
      if (!r.contiguous || r.queries == 0 || r.keys == 0) continue;
      last = std::max(last, r.position + r.queries - 1);
      ahead = std::max(ahead, r.keys - 1 - r.position);
    }
    for (int64_t i = 0; i <= last + ahead; ++i)
      buckets[i] = relative_bucket(static_cast<int>(i - last), p.bidirectional, p.buckets, p.max_distance);
  }
  std::atomic<int64_t> next{0};
  team.run([&](int member) {
    std::byte* mine = scratch + sizes.buckets + static_cast<size_t>(member) * (sizes.bias + sizes.task);
    float* bias = reinterpret_cast<float*>(mine);
    for (int64_t i = next.fetch_add(1); i < cut.tasks && !team.cancelled(); i = next.fetch_add(1)) {
      const int64_t part = i % cut.parts, kv_head = i / cut.parts % p.kv_heads, sequence = i / cut.parts / p.kv_heads;
      const SequenceRows r = rows_of(p, sequence);
      // A short sequence takes fewer parts than the longest.
      const int64_t parts = (r.queries * cut.parts + p.q_length - 1) / p.q_length;
      if (part >= parts) continue;
      const int64_t begin = r.queries * part / parts, queries = r.queries * (part + 1) / parts - begin;
      const int64_t head = kv_head * cut.group, row = r.query + begin;
      AttentionTask task;
      task.q = q + row * ldq + head * p.head_dim;
      if (p.k_pages) {
        task.k_pages = p.k_pages + sequence * p.pages_of_sequence, task.k_column = kv_head * p.head_dim;
      } else {
        task.k = k + r.key * ldk + kv_head * p.head_dim;
      }
      if (p.v_pages) {
        task.v_pages = p.v_pages + sequence * p.pages_of_sequence, task.v_column = kv_head * p.value_dim;
      } else {
        task.v = v + r.key * ldv + kv_head * p.value_dim;
      }
      task.page_rows = p.page_rows, task.bf16 = p.bf16;
      task.ldq = ldq, task.ldk = ldk, task.ldv = ldv;
      task.heads = static_cast<int32_t>(cut.group), task.head_dim = p.head_dim, task.value_dim = p.value_dim;
      task.queries = queries, task.keys = r.keys;
      task.position = r.position + begin;
      task.scale = p.scale, task.causal = p.causal, task.window = p.window;
      if (p.sinks) task.sinks = p.sinks + head;
      task.key_mask = p.key_mask ? p.key_mask + r.key : nullptr;
      task.out_bf16 = p.out_bf16;
      task.out = at_element(out, p.out_bf16, row * ldo + head * p.value_dim);
      task.ldo = ldo;
      task.scratch = reinterpret_cast<float*>(mine + sizes.bias);
      if (r.keys == 0) {
        const size_t bytes =
            static_cast<size_t>(cut.group * p.value_dim) * (p.out_bf16 ? sizeof(uint16_t) : sizeof(float));
        for (int64_t j = 0; j < queries; ++j) std::memset(at_element(task.out, p.out_bf16, j * ldo), 0, bytes);
        continue;
      }
      if (!r.contiguous) {
        attend_with_gaps(p, table, task, begin, p.q_places ? p.q_places + row : nullptr,
                         p.k_places ? p.k_places + r.key : nullptr, head);
        continue;
      }
      if (p.bias_table) {
        const int64_t farthest = task.position + queries - 1;  // distance from the first key to the last query
        fill_bias(p, cut, buckets + (last - farthest), head, queries + r.keys - 1, sizes.ld_bias, bias);
        task.bias = bias, task.ld_bias = sizes.ld_bias, task.bias_origin = farthest;
      }
      table.attention(task);
    }
  });
}

}  // namespace stormcell::cpu
