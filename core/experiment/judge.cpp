#include "core/experiment/judge.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace stormcell {

Observed observed(const Graph& graph, const Bindings& bindings, OracleResult<float>&& result,
                  const std::map<std::string, CellRelation>& reach) {
  Observed o;
  for (auto& [name, tensor] : result.outputs)
    o.outputs.push_back(
        {name, tensor.reals.empty() ? DType::i32 : DType::f32, tensor.dims, std::move(tensor.reals), std::move(tensor.integers)});
  o.decisions = decisions_of(graph, bindings, std::move(result), reach);
  return o;
}

Observed observed(const Program& program, const NamedRouters& named, const Bindings& bindings, ExecutionResult& result) {
  return {decisions_of(program, named, bindings, result), std::move(result.outputs), {}};
}

std::string Judge::of_tolerance(double difference) const {
  char text[96];
  std::snprintf(text, sizeof text, "%.2g of its largest value, the tolerance is %.2g", difference, tolerance_);
  return text;
}

void Judge::add(int64_t batch, const Observed& reference, const Observed& replayed, const Observed* free) {
  add_replayed(reference, replayed.outputs);
  add_free(batch, reference, reference.decisions, replayed.decisions, free);
}

void Judge::add_replayed(const Observed& reference, const std::vector<OutputValue>& outputs) {
  replayed_.add(outputs, reference.outputs, reference.real);
}

void Judge::add_free(int64_t batch, const Observed& reference, const std::vector<JudgedDecision>& expected,
                     const std::vector<JudgedDecision>& replayed, const Observed* free) {
  const bool alike = routing_.add(batch, expected, replayed, free ? &free->decisions : nullptr);
  if (free) free_.add(free->outputs, reference.outputs, reference.real);
  if (alike) free_alike_.add(free->outputs, reference.outputs, reference.real);
}

Verification Judge::verdict() const {
  Verification v;
  v.tolerance = tolerance_;
  v.outputs = replayed_.differences();
  const std::vector<OutputDifference> free = free_.differences();
  for (OutputDifference& output : v.outputs) {
    for (const OutputDifference& f : free)
      if (f.name == output.name) output.free_max_rel_diff = f.max_rel_diff;
    v.max_abs_diff = std::max(v.max_abs_diff, output.max_abs_diff);
    v.max_rel_diff = std::max(v.max_rel_diff, output.max_rel_diff);
    v.free_max_rel_diff = std::max(v.free_max_rel_diff, output.free_max_rel_diff);
    if (output.max_rel_diff > tolerance_) v.reasons.push_back("output " + output.name + " differs by " + of_tolerance(output.max_rel_diff));
  }
  for (const OutputDifference& output : free_alike_.differences_on_scale_of(replayed_))
    if (output.max_rel_diff > tolerance_)
      v.reasons.push_back("output " + output.name + ", running freely, differs by " + of_tolerance(output.max_rel_diff) +
                          ", though every cell goes where the reference sends it");
  routing_.judge(v);
  v.passed = v.reasons.empty();
  return v;
}

}  // namespace stormcell
