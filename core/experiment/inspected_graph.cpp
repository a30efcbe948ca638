#include "core/experiment/inspected_graph.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "core/base/error.h"
#include "core/bench/converted_graph.h"
#include "core/bench/devices.h"
#include "core/bench/plan_checks.h"
#include "core/configuration/plan_config.h"
#include "core/formats/file_text.h"
#include "core/graph/input_specs.h"
#include "core/summary/settings.h"

namespace stormcell {
namespace {

constexpr int64_t kSequencesOfCase = 8, kLengthOfCase = 128;

/// The model's graph of the size that is asked for.
std::shared_ptr<const Graph> forward_graph(const Model& model, const std::string& size) {
  if (size.empty()) return model.forward;
  const std::optional<PictureSize> asked = parse_picture_size(size);
  if (!asked) bad_input("--size", in_quotes(size) + " is not HEIGHTxWIDTH in pixels", "for example 48x64");
  return model.forward_for(*asked);
}

std::shared_ptr<const Graph> stored_graph(const Model& model, const InspectOptions& options) {
  check_phase(options.phase);
  if (work_phase(options.phase) == WorkPhase::forward) return forward_graph(model, options.size);
  if (work_phase(options.phase) != WorkPhase::decode)
    bad_input("--phase", "inspect shows one phase", "use forward or decode");
  if (!model.generates)
    bad_input(model.name, "this model cannot generate", "it has no decoder with a head; use --phase forward");
  return model.generate();
}

/// There are no data to ask. Padding is assumed behind the real cells of every sequence, as it was for a plan that
/// leaves it out.
std::map<std::string, MaskFacts, std::less<>> assumed_masks(const Graph& graph) {
  std::map<std::string, MaskFacts, std::less<>> masks;
  for (const InputSpec& input : input_specs(graph))
    if (input.role == InputRole::mask)
      masks[input.name] = {.cells = 2, .real = 1, .padding_last = true, .some_in_each = true};
  return masks;
}

class Inspected {
 public:
  Inspected(const Model& model, Device& device, const InspectOptions& options)
      : model_(model), options_(options), given_{options.annotations, "--annotate"}, device_(device) {
    if (options.config.empty()) return;
    config_ = parse_plan_config(options.config, options.config_name);
    check_model_of(*config_, model, options.config_name);
    dtype_ = parse_dtype(config_->dtype);
  }

  InspectedGraph make() {
    std::shared_ptr<const Graph> graph = prepared(stored_graph(model_, options_));
    if (!given_.list.empty()) {
      warn(check_annotated_names(phase_graphs(), phase(), given_));
      warn(overruled(*graph, given_));
      warn(check_annotations(site(), graph, typical_case(model_, *graph), given_));
    }
    if (config_) graph = configured(std::move(graph));
    return {std::move(graph), std::move(warnings_)};
  }

 private:
  WorkPhase phase() const { return work_phase(options_.phase); }
  /// The plan is asked for with its segments alone: without them nothing depends on the budget.
  PlanSite site() const {
    return {device_, model_.weights, options_.segments ? options_.weight_budget : kBudgetForAll};
  }
  std::shared_ptr<const Graph> prepared(std::shared_ptr<const Graph> stored) const {
    if (dtype_ && *dtype_ != model_.dtype) stored = in_format(*stored, *dtype_);
    return annotated(std::move(stored), given_);
  }
  PhaseGraphs phase_graphs() const {
    return {prepared(model_.forward), model_.generates ? prepared(model_.generate()) : nullptr};
  }
  void warn(std::vector<std::string> sentences) {
    warnings_.insert(warnings_.end(), std::make_move_iterator(sentences.begin()),
                     std::make_move_iterator(sentences.end()));
  }

  /// The configuration as this machine would write it.
  PlanConfig here() const {
    PlanConfig here = *config_;
    here.device = devices().front().name;
    if (options_.segments) here.weight_budget = options_.weight_budget;
    return here;
  }

  std::shared_ptr<const Graph> configured(std::shared_ptr<const Graph> graph) {
    const SaidAnnotations said{config_->annotations, options_.config_name};
    check_phase_of(*config_, phase(), said.where);
    warn(differences(*config_, here()));
    if (!said.list.empty()) {
      warn(check_annotated_names(phase_graphs(), phase(), said));
      warn(overruled(*graph, said, given_));
      graph = annotated(annotated(std::move(graph), said), given_);
      warn(check_annotations(site(), graph, typical_case(model_, *graph), said));
    }
    const DeviceInfo info = device_.info();
    static const LoadProfile none;
    PassInput input{*graph, none};
    input.masks = assumed_masks(*graph);
    if (info.rounds_bf16_inputs) input.bf16_rows = &info.bf16_rows;
    input.operators = info.operators;
    PipelineResult passed = replay_config(input, *config_, said.where);
    warn(not_taken_over(passed));
    return std::make_shared<Graph>(std::move(passed.graph));
  }

  const Model& model_;
  const InspectOptions& options_;
  const SaidAnnotations given_;
  Device& device_;
  std::optional<PlanConfig> config_;
  std::optional<DType> dtype_;  // that the configuration was found with
  std::vector<std::string> warnings_;
};

}  // namespace

Bindings typical_case(const Model& model, const Graph& graph) {
  const int64_t length = model.max_length > 0 ? std::min(model.max_length, kLengthOfCase) : kLengthOfCase;
  Bindings bindings(graph.symbols.size(), 1);
  bind_cells(
      graph, kSequencesOfCase, [&](std::string_view) { return length; }, bindings);
  return bindings;
}

InspectedGraph inspected_graph(const Model& model, Device& device, const InspectOptions& options) {
  return Inspected(model, device, options).make();
}

}  // namespace stormcell
