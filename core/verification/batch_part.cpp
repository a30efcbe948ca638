#include "core/verification/batch_part.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/graph/spaces.h"

namespace stormcell {
namespace {

/// The values of some items: `all` has as many for each, one after another.
template <class T>
std::vector<T> values_of(const std::vector<T>& all, const std::vector<int64_t>& rows, int64_t items) {
  const auto per_item = std::ssize(all) / items;
  std::vector<T> part;
  part.reserve(per_item * rows.size());
  for (const int64_t row : rows)
    part.insert(part.end(), all.begin() + row * per_item, all.begin() + (row + 1) * per_item);
  return part;
}

void shorten(std::vector<int64_t>& shape, const std::vector<int64_t>& rows, int64_t items) {
  if (!shape.empty()) shape[0] = shape[0] / items * std::ssize(rows);
}

}  // namespace

bool has_rows_by_item(const Graph& graph) {
  bool by_item = std::all_of(graph.outputs.begin(), graph.outputs.end(), [&](const NamedValue& output) {
    return holds_items_in_order(graph, graph.value(output.value).type.space);
  });
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (node.outputs.empty() || graph.value(node.outputs[0]).kind != ValueKind::decision) return;
    by_item &= holds_items_in_order(graph, graph.dense_ancestor(graph.value(node.outputs[0]).type.space));
  });
  return by_item;
}

Batch part_of(const Batch& batch, const std::vector<int64_t>& rows) {
  const int64_t items = batch.size();
  Batch part = batch;
  part.items = values_of(batch.items, rows, items);
  for (BatchCells& space : part.spaces) space.real = values_of(space.real, rows, items);
  for (BatchInput& input : part.inputs) {
    shorten(input.shape, rows, items);
    input.integers = values_of(input.integers, rows, items);
    input.reals = values_of(input.reals, rows, items);
  }
  for (std::vector<std::string>* texts : {&part.texts, &part.targets, &part.labels})
    *texts = values_of(*texts, rows, items);
  part.target_ids = values_of(batch.target_ids, rows, items);
  return part;
}

std::vector<OutputValue> part_of(const std::vector<OutputValue>& outputs, const std::vector<int64_t>& rows,
                                 int64_t items) {
  std::vector<OutputValue> part;
  for (const OutputValue& output : outputs) {
    OutputValue& p = part.emplace_back(OutputValue{output.name, output.dtype, output.shape, {}, {}});
    shorten(p.shape, rows, items);
    p.reals = values_of(output.reals, rows, items);
    p.integers = values_of(output.integers, rows, items);
  }
  return part;
}

std::vector<JudgedDecision> part_of(const std::vector<JudgedDecision>& decisions, const std::vector<int64_t>& rows,
                                    int64_t items) {
  std::map<std::string, std::vector<int32_t>> of_part;
  for (const JudgedDecision& d : decisions) {
    if (d.per_item == 0) failed(d.router, "decides over cells of " + d.dense_name + ", whose items are not known");
    std::vector<int32_t>& mask = of_part[d.dense_name];
    if (!mask.empty()) continue;
    mask.assign(items * d.per_item, 0);
    for (const int64_t row : rows) std::fill_n(mask.begin() + row * d.per_item, d.per_item, 1);
  }
  return only_computed(decisions, of_part);
}

void place_in_batch(std::vector<JudgedDecision>& decisions, const std::vector<int64_t>& rows) {
  for (JudgedDecision& d : decisions)
    for (int64_t c = 0; c < d.shape.cells; ++c) {
      int32_t& row = d.place[c * d.depth()];
      row = static_cast<int32_t>(rows[row / d.per_item] * d.per_item + row % d.per_item);
    }
}

OracleReplay choices_for_oracle(const std::vector<JudgedDecision>& decisions) {
  OracleReplay replay;
  for (const JudgedDecision& d : decisions) replay[d.router].push_back(d.choice);
  return replay;
}

std::vector<int64_t> further_rows(int64_t count, int64_t items) {
  std::vector<int64_t> rows;
  for (int64_t i = 1; i < count; ++i) rows.push_back(i * (items - 1) / (count - 1));
  return rows;
}

}  // namespace stormcell
