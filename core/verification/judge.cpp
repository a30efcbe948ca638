#include "core/verification/judge.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace stormcell {

Observed observed(const Graph& graph, const Bindings& bindings, OracleResult<float>&& result, const CellReach& reach) {
  Observed o;
  o.by_item = reach.by_item;
  for (auto& [name, tensor] : result.outputs)
    o.outputs.push_back({name, tensor.reals.empty() ? DType::i32 : DType::f32, tensor.dims, std::move(tensor.reals),
                         std::move(tensor.integers)});
  o.decisions = decisions_of(graph, bindings, std::move(result), reach);
  return o;
}

Observed observed(const Program& program, const NamedRouters& named, const Bindings& bindings, ExecutionResult& result,
                  const CellReach* as_reference) {
  Observed o;
  o.decisions = decisions_of(program, named, bindings, result, as_reference);
  o.outputs = std::move(result.outputs);
  return o;
}

namespace {

/// 1 for each cell that counts, by output: not those of items that a difference may have reached.
std::map<std::string, std::vector<int32_t>> not_reached(const Observed& reference, const Reached& reached) {
  std::map<std::string, std::vector<int32_t>> counts = reference.real;
  if (!reached.any) return counts;
  for (const OutputValue& output : reference.outputs) {
    std::vector<int32_t>& cells = counts[output.name];
    const size_t items = reference.items;
    if (cells.empty()) cells.assign(items, 1);
    if (reached.every_item || !reference.by_item.contains(output.name) || cells.size() % items != 0) {
      cells.assign(1, 0);
      continue;
    }
    for (size_t i = 0; i < cells.size(); ++i)
      if (reached.items.contains(static_cast<int64_t>(i / (cells.size() / items)))) cells[i] = 0;
  }
  return counts;
}

}  // namespace

std::string Judge::of_tolerance(double difference) const {
  char text[96];
  std::snprintf(text, sizeof text, "%.2g of its largest value, the tolerance is %.2g", difference, tolerance_);
  return text;
}

Reached Judge::add(int64_t batch, const Observed& reference, const Observed& replayed, const Observed* free) {
  add_replayed(batch, reference, replayed.outputs);
  return add_free(batch, reference, reference.decisions, replayed.decisions, free);
}

void Judge::add_replayed(int64_t batch, const Observed& reference, const std::vector<OutputValue>& outputs) {
  replayed_.add(outputs, reference.outputs, reference.real, reference.items, batch);
}

Reached Judge::add_free(int64_t batch, const Observed& reference, const std::vector<JudgedDecision>& expected,
                        const std::vector<JudgedDecision>& replayed, const Observed* free) {
  Reached reached = routing_.add(batch, expected, replayed, free ? &free->decisions : nullptr);
  if (!free) return reached;
  free_.add(free->outputs, reference.outputs, reference.real, reference.items, batch);
  free_alike_.add(free->outputs, reference.outputs, not_reached(reference, reached), reference.items, batch);
  return reached;
}

void Judge::add_reference_replaying(int64_t batch, const Observed& reference, const Observed& plan,
                                    const std::vector<JudgedDecision>& whole_batch) {
  routing_.add_reference_replaying(batch, reference.decisions, plan.decisions, whole_batch);
  for (OutputJudge* judge : {&replayed_, &free_})
    judge->add(plan.outputs, reference.outputs, reference.real, reference.items, batch);
}

Verification Judge::verdict() const {
  Verification v;
  v.tolerance = tolerance_;
  v.outputs = replayed_.differences();
  bool is_nonfinite = false;
  const std::vector<OutputDifference> free = free_.differences();
  for (OutputDifference& output : v.outputs) {
    for (const OutputDifference& f : free)
      if (f.name == output.name) output.free_max_rel_diff = f.max_rel_diff;
    v.max_abs_diff = std::max(v.max_abs_diff, output.max_abs_diff);
    v.max_rel_diff = std::max(v.max_rel_diff, output.max_rel_diff);
    v.free_max_rel_diff = std::max(v.free_max_rel_diff, output.free_max_rel_diff);
    const std::string what = replayed_.nonfinite_in(output.name);
    is_nonfinite |= !what.empty();
    if (!what.empty())
      v.reasons.push_back("output " + output.name + " is not finite: " + what);
    else if (!(output.max_rel_diff <= tolerance_))
      v.reasons.push_back("output " + output.name + " differs by " + of_tolerance(output.max_rel_diff));
  }
  v.nonfinite = replayed_.allowed_nonfinite();
  if (is_nonfinite) v.what_to_do = kNonFiniteAdvice;
  for (const OutputDifference& output : free_alike_.differences_on_scale_of(replayed_))
    if (const std::string what = free_alike_.nonfinite_in(output.name); !what.empty())
      v.reasons.push_back("output " + output.name + ", running freely, is not finite: " + what);
    else if (!(output.max_rel_diff <= tolerance_))
      v.reasons.push_back("output " + output.name + ", running freely, differs by " +
                          of_tolerance(output.max_rel_diff) +
                          ", though every cell that it depends on goes where the reference sends it");
  routing_.judge(v);
  v.passed = v.reasons.empty();
  return v;
}

}  // namespace stormcell
