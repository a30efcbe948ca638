// attention: softmax(scale q k^T + bias + mask) v among the cells of one parent.
//
// As transformers does it for T5 and, with the eager implementation, for Mixtral: a key that the mask, causality or the
// window forbid gets the lowest number added, not minus infinity. So its weight is exactly 0 where any key is allowed,
// and a query that may see nothing attends to every key alike, the future included. With `sinks`, as gpt-oss has them,
// it attends to none: the sink takes all of its weight. With `step`, query i of a parent stands at its place step + i,
// and keys behind the last query's place do not exist: they are not in the cache yet, and no query attends to them.
#pragma once
#include <cmath>
#include <cstdlib>

#include "core/oracle/reference/frame.h"
#include "core/runtime/state_rows.h"

namespace stormcell::reference {

/// T5's bucket of a key `distance` places behind (positive) or before the query: half of the buckets one by one, the
/// rest logarithmic up to max_distance. The logarithm is taken in f32 and truncated, whatever the scalar: buckets are
/// part of the model.
inline int64_t relative_bucket(int64_t distance, int64_t buckets, int64_t max_distance, bool bidirectional) {
  int64_t base = 0;
  if (bidirectional) {
    buckets /= 2;
    if (distance > 0) base = buckets;
    distance = std::abs(distance);
  } else {
    distance = std::max<int64_t>(0, -distance);
  }
  const int64_t exact = buckets / 2;
  if (distance < exact) return base + distance;
  const float place = std::log(static_cast<float>(distance) / static_cast<float>(exact)) /
                      static_cast<float>(std::log(static_cast<double>(max_distance) / exact)) *
                      static_cast<float>(buckets - exact);
  return base + std::min(buckets - 1, exact + static_cast<int64_t>(place));
}

struct AttentionCase {
  int64_t heads, kv_heads, queries, valid_keys, key_width, value_width, first_place, window, buckets, max_distance;
  bool causal, bidirectional;

  const int32_t *query_places = nullptr,
                *key_places = nullptr;  // ragged; else query i stands at first_place + i, key j at j

  int64_t query_place(int64_t i) const { return query_places ? query_places[i] : first_place + i; }
  int64_t key_place(int64_t j) const { return key_places ? key_places[j] : j; }
  bool allowed(int64_t query, int64_t key) const {
    const int64_t place = query_place(query);
    return !(causal && key_place(key) > place) && !(window > 0 && key_place(key) <= place - window);
  }
};

/// Rows q[queries], k[keys], v[keys] of one parent, one head; kt and p are scratch of key_width * keys and keys.
/// `sinks`: of all heads, or null.
template <class Scalar>
void attend(const AttentionCase& a, int64_t head, const Scalar* q, const Scalar* k, const Scalar* v,
            const int32_t* mask, const Scalar* bias, const Scalar* sinks, Scalar scale, Scalar* y, Scalar* kt,
            Scalar* p, const CancellationToken& cancel) {
  const int64_t group = head / (a.heads / a.kv_heads), q_stride = a.heads * a.key_width,
                k_stride = a.kv_heads * a.key_width, v_stride = a.kv_heads * a.value_width, n = a.valid_keys;
  for (int64_t j = 0; j < n; ++j)
    for (int64_t d = 0; d < a.key_width; ++d) kt[d * n + j] = k[j * k_stride + group * a.key_width + d];
  for (int64_t i = 0; i < a.queries && !cancel.cancelled(); ++i) {
    const Scalar* qi = q + i * q_stride + head * a.key_width;
    for (int64_t j = 0; j < n; ++j) p[j] = 0;
    for (int64_t d = 0; d < a.key_width; ++d)
      for (int64_t j = 0; j < n; ++j) p[j] += qi[d] * kt[d * n + j];
    Scalar most = sinks ? sinks[head] : lowest(Scalar());
    bool any = sinks != nullptr;
    for (int64_t j = 0; j < n; ++j) {
      if (!a.allowed(i, j) || (mask && mask[j] == 0)) {
        p[j] = lowest(Scalar());
        continue;
      }
      p[j] *= scale;
      if (bias)
        p[j] += bias[relative_bucket(a.key_place(j) - a.query_place(i), a.buckets, a.max_distance, a.bidirectional) *
                         a.heads +
                     head];
      most = max(most, p[j]);
      any = true;
    }
    Scalar sum = sinks ? exp(sinks[head] - most) : Scalar(0);
    for (int64_t j = 0; j < n; ++j) {
      p[j] = any ? exp(p[j] - most) : Scalar(1);
      sum += p[j];
    }
    Scalar* to = y + i * a.heads * a.value_width + head * a.value_width;
    for (int64_t j = 0; j < n; ++j) {
      const Scalar weight = p[j] / sum;
      if (weight == 0) continue;
      for (int64_t e = 0; e < a.value_width; ++e) to[e] += weight * v[j * v_stride + group * a.value_width + e];
    }
  }
}

template <class Scalar>
void attention(const Call<Scalar>& c) {
  const Attributes& at = c.attributes();
  const CellGroups queries = c.frame.groups(c.type(0).space), keys = c.frame.groups(c.type(1).space);
  AttentionCase a{};
  a.heads = at.integer("heads");
  a.kv_heads = at.integer("kv_heads");
  a.key_width = c.width(0) / a.heads;
  a.value_width = c.width(2) / a.kv_heads;
  a.window = integer_of(c.node, "window");
  a.max_distance = integer_of(c.node, "max_distance");
  a.causal = flag_of(c.node, "causal");
  a.bidirectional = flag_of(c.node, "bidirectional");
  const auto step_input = extra_input(c.node, "step");
  const int32_t* steps = step_input ? c.in(*step_input).integers.data() : nullptr;
  for (int64_t parent = 0; steps && parent < queries.parents; ++parent)
    if (const StepFailure failure = check_places(parent, keys.count(parent), queries.count(parent), steps[parent]))
      throw_failure(c.node.name, failure);
  const auto mask_input = extra_input(c.node, "mask"), bias_input = extra_input(c.node, "bias"),
             sinks_input = extra_input(c.node, "sinks");
  const int32_t* mask = mask_input ? c.in(*mask_input).integers.data() : nullptr;
  std::vector<Scalar> bias, sinks;
  if (sinks_input) sinks = c.whole(*sinks_input);
  if (bias_input) bias = c.whole(*bias_input), a.buckets = at.integer("buckets");
  const auto scale = static_cast<Scalar>(real_of(c.node, "scale"));
  const Scalar *q = c.in(0).reals.data(), *k = c.in(1).reals.data(), *v = c.in(2).reals.data();
  Scalar* y = c.out().reals.data();
  c.team.split(queries.parents * a.heads, 1, [&](int64_t begin, int64_t end, int) {
    std::vector<Scalar> kt, p;
    for (int64_t i = begin; i < end && !c.cancel.cancelled(); ++i) {
      const int64_t parent = i / a.heads, head = i % a.heads, first = queries.begin(parent), key = keys.begin(parent);
      AttentionCase one = a;
      one.queries = queries.count(parent);
      one.valid_keys = keys.count(parent);
      if (steps)
        one.first_place = steps[parent], one.valid_keys = std::min(one.valid_keys, one.first_place + one.queries);
      if (queries.places && !steps) one.query_places = queries.places + first;
      if (keys.places) one.key_places = keys.places + key;
      if (one.queries == 0 || one.valid_keys == 0) continue;
      kt.resize(a.key_width * one.valid_keys);
      p.resize(one.valid_keys);
      attend(one, head, q + first * c.width(0), k + key * c.width(1), v + key * c.width(2), mask ? mask + key : nullptr,
             bias.empty() ? nullptr : bias.data(), sinks.empty() ? nullptr : sinks.data(), scale,
             y + first * c.out_width(), kt.data(), p.data(), c.cancel);
    }
  });
  c.cancel.check();
}

}  // namespace stormcell::reference
