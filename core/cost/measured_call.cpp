#include "core/cost/measured_call.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <system_error>
#include <tuple>

namespace stormcell {

std::optional<std::vector<AlikeRows>> alike_rows(std::string_view rows_each) {
  constexpr int64_t kMost = 1000000;  // sums stay far from what a number can hold
  const char* at = rows_each.data();
  const char* const end = at + rows_each.size();
  const auto number = [&]() -> int64_t {  // -1: there is none
    int64_t value = 0;
    const std::from_chars_result read = std::from_chars(at, end, value);
    if (read.ec != std::errc() || value < 0 || value > kMost) return -1;
    at = read.ptr;
    return value;
  };
  std::map<int64_t, int64_t, std::greater<>> weights_of;  // by rows
  while (at != end) {
    if (*at == ' ') {
      ++at;
      continue;
    }
    int64_t weights = 1, rows = number();
    if (rows >= 0 && at != end && *at == 'x') ++at, weights = rows, rows = number();
    if (rows < 0 || weights < 1 || (at != end && *at != ' ')) return std::nullopt;
    weights_of[rows] += weights;
  }
  std::vector<AlikeRows> out;
  for (const auto& [rows, weights] : weights_of) out.push_back({weights, rows});
  return out;
}

std::string to_text(const std::vector<AlikeRows>& rows) {
  std::string text;
  for (const AlikeRows& r : rows)
    text += (text.empty() ? "" : " ") + (r.weights == 1 ? std::string() : std::to_string(r.weights) + "x") +
            std::to_string(r.rows);
  return text;
}

double sent_bytes(const MeasuredCall& c) { return static_cast<double>(c.tokens_per_rank) * c.top_k * c.bytes_per_copy; }

double moved_bytes(const MeasuredCall& c) {
  if (c.has_weights()) return static_cast<double>(c.rows);
  if (c.is_rank_experts()) {
    const double missed = 1 - static_cast<double>(c.top_k) / c.experts;
    const double touched = 1 - std::pow(missed, static_cast<double>(c.tokens_total));
    const double here = static_cast<double>(c.experts) / c.ranks;
    return here * touched * kGatedMatrices * static_cast<double>(c.hidden) * c.ffn;
  }
  if (c.is(CallKind::all_reduce)) return sent_bytes(c) * 2 * (1 - 1 / static_cast<double>(c.ranks));
  return c.leaves_node() ? sent_bytes(c) * (1 - 1 / static_cast<double>(c.nodes)) : sent_bytes(c);
}

bool same_network(const MeasuredCall& a, const MeasuredCall& b) {
  const auto weights = [](const MeasuredCall& c) {
    return c.has_weights() ? std::tuple(c.inputs, c.outputs, c.is_grouped() ? int64_t{0} : c.experts)
                           : std::tuple<int64_t, int64_t, int64_t>();
  };
  return std::tie(a.op, a.mode, a.dtype, a.nic_gbit, a.gpus_per_node) ==
             std::tie(b.op, b.mode, b.dtype, b.nic_gbit, b.gpus_per_node) &&
         a.leaves_node() == b.leaves_node() && weights(a) == weights(b);
}

bool same_series(const MeasuredCall& a, const MeasuredCall& b) {
  return same_network(a, b) && a.gpu == b.gpu && a.laboratory == b.laboratory;
}

bool same_weight(const MeasuredCall& a, const MeasuredCall& b) {
  const auto weight = [](const MeasuredCall& c) { return std::tie(c.mode, c.dtype, c.inputs, c.outputs); };
  return weight(a) == weight(b);
}

bool same_shape(const MeasuredCall& a, const MeasuredCall& b) {
  const auto shape = [](const MeasuredCall& c) {
    return std::tie(c.nodes, c.ranks, c.tokens_per_rank, c.tokens_total, c.top_k, c.experts, c.hidden, c.ffn, c.inputs,
                    c.outputs, c.rows, c.rows_each, c.bytes_per_copy, c.routing);
  };
  return shape(a) == shape(b);
}

double shape_distance(const MeasuredCall& a, const MeasuredCall& b) {
  const auto apart = [](double x, double y) { return std::fabs(std::log2(std::max(x, 1.) / std::max(y, 1.))); };
  const double ranks = apart(static_cast<double>(a.ranks), static_cast<double>(b.ranks));
  return a.is_rank_experts() || a.has_weights() ? apart(moved_bytes(a), moved_bytes(b))
                                                : ranks + apart(sent_bytes(a), sent_bytes(b));
}

}  // namespace stormcell
