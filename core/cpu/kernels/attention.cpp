// One task is some queries of the heads that share a key head; threads claim tasks one by one, since causal ones differ in length.
#include "core/cpu/kernels/attention.h"

#include <algorithm>
#include <atomic>

#include "core/cpu/kernels/kernel_table.h"
#include "core/cpu/kernels/relative_bucket.h"

namespace stormcell::cpu {
namespace {

struct Cut {
  int64_t group;    // query heads of a key head
  int64_t room;     // queries that scratch is for: never falls when the problem grows
  int64_t queries;  // of a task at most
  int64_t parts;    // tasks of a (sequence, key head)
  int64_t tasks;

  Cut(const AttentionProblem& p, int threads) : group(p.heads / p.kv_heads) {
    room = queries = std::max<int64_t>(1, std::min(p.q_length, kAttentionRows / group));
    const int64_t pairs = p.sequences * p.kv_heads;
    // Few heads, many threads: smaller tasks, though each packs the keys again.
    while (pairs * ((p.q_length + queries - 1) / queries) < 2 * threads && queries * group > 24) queries = (queries + 1) / 2;
    parts = (p.q_length + queries - 1) / queries;
    tasks = pairs * parts;
  }
};

size_t aligned(size_t bytes) { return (bytes + 63) / 64 * 64; }

struct Scratch {
  size_t buckets, bias, task;  // bytes; buckets are shared, the others a thread's
  int64_t ld_bias;
  Scratch(const AttentionProblem& p, const Cut& cut) {
    const size_t f = sizeof(float);
    ld_bias = cut.room + p.k_valid;
    buckets = p.bias_table ? aligned(static_cast<size_t>(p.q_length + p.k_valid) * sizeof(int32_t)) : 0;
    bias = p.bias_table ? aligned(static_cast<size_t>(cut.group * ld_bias) * f) : 0;
    task = aligned(static_cast<size_t>(attention_task_floats(cut.room * cut.group, p.head_dim, p.value_dim)) * f);
  }
};

/// bias[head of the group][distance + origin] for the distances of a task's queries, from the shared buckets by distance.
void fill_bias(const AttentionProblem& p, const Cut& cut, const int32_t* buckets, int64_t first_head, int64_t first_query, int64_t queries,
               int64_t ld, float* bias) {
  // Distance of index i here is i - (last position of the task), in the shared table i - (last position of all).
  const int32_t* of = buckets + (p.q_length - first_query - queries);
  for (int64_t h = 0; h < cut.group; ++h)
    for (int64_t i = 0; i < queries + p.k_valid - 1; ++i) bias[h * ld + i] = p.bias_table[of[i] * p.heads + first_head + h];
}

}  // namespace

size_t attention_scratch_bytes(const AttentionProblem& p, int threads) {
  const Cut cut(p, threads);
  const Scratch scratch(p, cut);
  return scratch.buckets + static_cast<size_t>(threads) * (scratch.bias + scratch.task);
}

void attention(ThreadTeam& team, const float* q, int64_t ldq, const float* k, int64_t ldk, const float* v, int64_t ldv,
               const AttentionProblem& p, float* out, int64_t ldo, std::byte* scratch) {
  if (p.sequences <= 0 || p.q_length <= 0) return;
  const KernelTable& table = kernels();
  const Cut cut(p, team.size());
  const Scratch sizes(p, cut);
  int32_t* buckets = reinterpret_cast<int32_t*>(scratch);
  if (p.bias_table) {
    const int64_t last = p.q_offset + p.q_length - 1;
    for (int64_t i = 0; i < p.q_length + p.k_valid - 1; ++i)
      buckets[i] = relative_bucket(static_cast<int>(i - last), p.bidirectional, p.buckets, p.max_distance);
  }
  std::atomic<int64_t> next{0};
  team.run([&](int member) {
    std::byte* mine = scratch + sizes.buckets + static_cast<size_t>(member) * (sizes.bias + sizes.task);
    float* bias = reinterpret_cast<float*>(mine);
    for (int64_t i = next.fetch_add(1); i < cut.tasks && !team.cancelled(); i = next.fetch_add(1)) {
      const int64_t part = i % cut.parts, kv_head = i / cut.parts % p.kv_heads, sequence = i / cut.parts / p.kv_heads;
      const int64_t first = p.q_length * part / cut.parts, queries = p.q_length * (part + 1) / cut.parts - first;
      const int64_t head = kv_head * cut.group, row = sequence * p.q_length + first, key = sequence * p.k_length;
      AttentionTask task;
      task.q = q + row * ldq + head * p.head_dim;
      task.k = k + key * ldk + kv_head * p.head_dim;
      task.v = v + key * ldv + kv_head * p.value_dim;
      task.ldq = ldq, task.ldk = ldk, task.ldv = ldv;
      task.heads = static_cast<int32_t>(cut.group), task.head_dim = p.head_dim, task.value_dim = p.value_dim;
      task.queries = queries, task.keys = p.k_valid;
      task.position = p.q_offset + first;
      task.scale = p.scale, task.causal = p.causal, task.window = p.window;
      if (p.bias_table) {
        fill_bias(p, cut, buckets, head, first, queries, sizes.ld_bias, bias);
        task.bias = bias, task.ld_bias = sizes.ld_bias, task.bias_origin = p.q_offset + first + queries - 1;
      }
      task.key_mask = p.key_mask ? p.key_mask + key : nullptr;
      task.out = out + row * ldo + head * p.value_dim;
      task.ldo = ldo;
      task.scratch = reinterpret_cast<float*>(mine + sizes.bias);
      table.attention(task);
    }
  });
}

}  // namespace stormcell::cpu
