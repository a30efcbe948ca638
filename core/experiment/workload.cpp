#include "core/experiment/workload.h"

#include <algorithm>

#include "core/graph/annotations.h"
#include "core/machine/memory.h"

namespace stormcell {
namespace {

/// A state that is kept in bf16, or a value or weight in f32 that lies so because an annotation asks for it.
bool keeps_rounded_values(const Graph& graph) {
  return std::any_of(graph.values.begin(), graph.values.end(), [](const Value& v) {
    if (v.kind == ValueKind::state && v.type.dtype == DType::bf16) return true;
    return v.type.dtype == DType::f32 && (v.kind == ValueKind::weight ? format_in_products(v) : format_in_memory(v)) == DType::bf16;
  });
}

}  // namespace

std::vector<std::string> Workload::annotate(const std::vector<std::string>& annotations, const std::string& where) {
  if (annotations.empty()) return {};
  std::vector<std::string> idle = check_annotated_names(state_, phase_, annotations, where);
  const std::shared_ptr<const Graph> named = graph();
  const std::vector<std::string>& given = state_.options.annotations;
  for (const std::string& above : given)
    for (const std::string& text : annotations)
      if (is_overruled(*named, text, above)) idle.push_back("--annotate " + above + " stands above what " + where + " says: " + text);
  annotations_ = annotations;
  annotations_.insert(annotations_.end(), given.begin(), given.end());
  annotate_graphs(annotations_, where);
  state_.check_annotations(graph(), where, new_tokens_);
  return idle;
}

void Workload::check_fits(std::shared_ptr<const Graph> left, const PassConfiguration& configuration,
                          std::vector<std::string>& warnings) const {
  state_.check_fits(plan_graphs(state_, std::move(left), configuration, annotations_), available_memory(), warnings, new_tokens_);
}

Arithmetic Workload::arithmetic() const { return keeps_rounded_values(*graph()) ? Arithmetic::rounds_to_bf16 : state_.arithmetic(); }

double Workload::tolerance() const {
  return keeps_rounded_values(*graph()) ? std::max(state_.tolerance, kRoundedTolerance) : state_.tolerance;
}

const CellReach& Workload::reach(PictureSize size) const {
  return reach_.at(size, [this](PictureSize of) { return cell_reach(*judged_graph(of), stop_); });
}

std::vector<std::unique_ptr<Workload>> workloads(Experiment::State& state) {
  const std::string& phase = state.options.phase;
  check_phase(phase);
  std::vector<std::unique_ptr<Workload>> list;
  if (work_phase(phase) != WorkPhase::decode) list.push_back(std::make_unique<ForwardPass>(state));
  if (work_phase(phase) != WorkPhase::forward) list.push_back(std::make_unique<Decoding>(state));
  return list;
}

}  // namespace stormcell
