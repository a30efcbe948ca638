#include "core/bench/plan_checks.h"

#include <algorithm>
#include <set>

#include "core/base/error.h"
#include "core/bench/pass_report.h"
#include "core/graph/annotation_rules.h"
#include "core/runtime/lower.h"

namespace stormcell {
namespace {

/// Runs calls(), and adds the place to an error of bad input.
template <class Calls>
auto said_by(const std::string& where, Calls calls) {
  try {
    return calls();
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::bad_input) throw;
    bad_input(where, e.what());
  }
}

/// A sentence for each that keeps in memory what would stay there anyway.
std::vector<std::string> idle_residency(const Graph& graph, const WeightStore& asked, const SaidAnnotations& said) {
  std::set<std::string> of_branches;
  for (const WeightHandle weight : asked.weights_of_branches()) of_branches.insert(asked.key(weight).tensor);
  const auto serves_a_branch = [&](const std::string& name) {
    return of_branches.contains(weight_text(graph.value(graph.find_value(name))));
  };
  std::vector<std::string> idle;
  for (const std::string& text : said.list) {
    const AnnotatedNames of = annotated_names(graph, text, said.where);
    if (of.key != kResidency || of.names.empty()) continue;
    if (asked.budget() == 0) {
      idle.push_back(said.where + " " + text + " has no effect: without --weight-budget all weights stay in memory");
    } else if (std::none_of(of.names.begin(), of.names.end(), serves_a_branch)) {
      idle.push_back(said.where + " " + text + " has no effect: only weights of branches are loaded on demand, and " +
                     (of.names.size() == 1 ? "this is not one" : "none of these is one"));
    }
  }
  return idle;
}

}  // namespace

std::shared_ptr<const Graph> annotated(std::shared_ptr<const Graph> graph, const SaidAnnotations& said) {
  std::shared_ptr<Graph> changed;
  for (const std::string& text : said.list) {
    if (!may_annotate(*graph, text, said.where)) continue;
    if (!changed) changed = std::make_shared<Graph>(*graph);
    annotate(*changed, text, said.where);
  }
  return changed ? changed : graph;
}

std::vector<std::string> check_annotated_names(const PhaseGraphs& graphs, WorkPhase phase,
                                               const SaidAnnotations& said) {
  std::vector<std::string> idle;
  for (const std::string& text : said.list) {
    const bool forward = may_annotate(*graphs.forward, text, said.where),
               decode = graphs.decode && may_annotate(*graphs.decode, text, said.where);
    if (!forward && !decode) {
      Graph none = *graphs.forward;
      annotate(none, text, said.where);  // reports that
    }
    if ((forward && phase != WorkPhase::decode) || (decode && phase != WorkPhase::forward)) continue;
    idle.push_back(said.where + " " + text + " has no effect: only the graph of " +
                   (decode ? "decoding" : "a forward pass") + " has this name, and --phase " +
                   std::string(to_text(phase)) + " does not run it");
  }
  return idle;
}

std::vector<std::string> overruled(const Graph& graph, const SaidAnnotations& said) {
  std::vector<std::string> list;
  for (size_t second = 1; second < said.list.size(); ++second)
    for (size_t first = 0; first < second; ++first)
      if (is_overruled(graph, said.list[first], said.list[second]))
        list.push_back(said.where + " " + said.list[second] + " overrules " + said.where + " " + said.list[first]);
  return list;
}

std::vector<std::string> overruled(const Graph& graph, const SaidAnnotations& said, const SaidAnnotations& above) {
  std::vector<std::string> list;
  for (const std::string& second : above.list)
    for (const std::string& first : said.list)
      if (is_overruled(graph, first, second))
        list.push_back(above.where + " " + second + " overrules what " + said.where + " says: " + first);
  return list;
}

std::unique_ptr<WeightStore> asked_weights(const PlanSite& site, std::shared_ptr<const Graph> graph,
                                           const Bindings& bounds) {
  auto store = std::make_unique<WeightStore>(site.device, site.weights, site.budget);
  site.device.layout_of(std::make_shared<const Program>(lower(std::move(graph))), *store, {bounds});
  return store;
}

std::vector<std::string> check_annotations(const PlanSite& site, const std::shared_ptr<const Graph>& graph,
                                           const Bindings& bounds, const SaidAnnotations& said) {
  if (said.list.empty()) return {};
  return said_by(said.where, [&] { return idle_residency(*graph, *asked_weights(site, graph, bounds), said); });
}

void check_phase_of(const PlanConfig& config, WorkPhase phase, const std::string& file) {
  const std::string found_for(to_text(config.phase));
  if (config.phase != phase)
    bad_input(file, "was found for --phase " + found_for + ", not for " + std::string(to_text(phase)),
              "use --phase " + found_for);
}

void check_model_of(const PlanConfig& config, const Model& model, const std::string& file) {
  if (!config.fingerprint.empty() && !model.is_known_as(config.fingerprint))
    bad_input(file, "was found for another model, " + config.model + ", and not for " + model.name,
              "make one for this model: optimize --config-out FILE");
}

PipelineResult replay_config(const PassInput& input, const PlanConfig& config, const std::string& file) {
  return said_by(file, [&] { return replay_passes(input, {config.passes.begin(), config.passes.end()}); });
}

std::vector<std::string> not_taken_over(const PipelineResult& replayed) {
  std::vector<std::string> list;
  for (const PassOutcome& outcome : replayed.outcomes) {
    const PassReport pass = report_of(outcome);
    if (!pass.applied) list.push_back("pass " + pass.name + " could not be taken over: " + pass.reason);
    for (const std::string& key : outcome.not_taken_over)
      list.push_back("what the configuration says of " + key + " could not be taken over by pass " + pass.name + ": " +
                     pass.reason);
  }
  return list;
}

}  // namespace stormcell
