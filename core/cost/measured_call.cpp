#include "core/cost/measured_call.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace stormcell {

double sent_bytes(const MeasuredCall& c) {
  return static_cast<double>(c.tokens_per_rank) * static_cast<double>(c.top_k) * c.bytes_per_copy;
}

double moved_bytes(const MeasuredCall& c) {
  if (c.is_product()) return static_cast<double>(c.rows);
  if (c.is_rank_experts()) {
    const double missed = 1 - static_cast<double>(c.top_k) / static_cast<double>(c.experts);
    const double touched = 1 - std::pow(missed, static_cast<double>(c.tokens_total));
    const double here = static_cast<double>(c.experts) / static_cast<double>(c.ranks);
    return here * touched * kGatedMatrices * static_cast<double>(c.hidden) * static_cast<double>(c.ffn);
  }
  if (c.op == "all_reduce") return sent_bytes(c) * 2 * (1 - 1 / static_cast<double>(c.ranks));
  return c.leaves_node() ? sent_bytes(c) * (1 - 1 / static_cast<double>(c.nodes)) : sent_bytes(c);
}

bool same_network(const MeasuredCall& a, const MeasuredCall& b) {
  const auto weights = [](const MeasuredCall& c) {
    return c.is_product() ? std::tuple(c.inputs, c.outputs, c.experts) : std::tuple<int64_t, int64_t, int64_t>();
  };
  return std::tie(a.op, a.mode, a.dtype, a.nic_gbit, a.gpus_per_node) == std::tie(b.op, b.mode, b.dtype, b.nic_gbit, b.gpus_per_node) &&
         a.leaves_node() == b.leaves_node() && weights(a) == weights(b);
}

bool same_series(const MeasuredCall& a, const MeasuredCall& b) {
  return same_network(a, b) && a.gpu == b.gpu && a.laboratory == b.laboratory;
}

bool same_shape(const MeasuredCall& a, const MeasuredCall& b) {
  const auto shape = [](const MeasuredCall& c) {
    return std::tie(c.nodes, c.ranks, c.tokens_per_rank, c.tokens_total, c.top_k, c.experts, c.hidden, c.ffn, c.inputs, c.outputs, c.rows,
                    c.bytes_per_copy, c.routing);
  };
  return shape(a) == shape(b);
}

double shape_distance(const MeasuredCall& a, const MeasuredCall& b) {
  const auto apart = [](double x, double y) { return std::fabs(std::log2(std::max(x, 1.) / std::max(y, 1.))); };
  const double ranks = apart(static_cast<double>(a.ranks), static_cast<double>(b.ranks));
  return a.is_rank_experts() || a.is_product() ? apart(moved_bytes(a), moved_bytes(b)) : ranks + apart(sent_bytes(a), sent_bytes(b));
}

}  // namespace stormcell
