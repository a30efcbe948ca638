#include "core/experiment/proved_plans.h"

#include <algorithm>
#include <new>

#include "core/bench/batch_inputs.h"
#include "core/bench/plan_graphs.h"
#include "core/machine/memory.h"
#include "core/models/model.h"

namespace stormcell {
namespace {

/// Pictures, or sequences of a few tokens, that a draw has at most.
constexpr int64_t kPictures = 4, kFewSequences = 3;
/// Tokens that a draw decodes at most.
constexpr int64_t kDrawnTokens = 3;
/// The part of the free memory that a proof may take.
constexpr int64_t kPartOfMemory = 4;

int64_t count_nodes(const Graph& graph) {
  int64_t count = 0;
  graph.for_each_node([&](NodeId, int) { ++count; });
  return count;
}

PictureSize smallest_picture(const ExperimentState& s) {
  if (s.picture.pixels() == 0 || !s.model->sizes) return s.picture;
  const PictureSize least{s.model->sizes->least, s.model->sizes->least};
  return least < s.picture ? least : s.picture;
}

FieldExtents drawn_extents(const Workload& work, const Graph& model) {
  const ExperimentState& s = work.state();
  FieldExtents extents;
  extents.items = s.picture.pixels() > 0 ? kPictures : kFewSequences;
  extents.vocabulary = s.model->vocabulary;
  const int64_t tokens = std::min(work.new_tokens(), kDrawnTokens);
  if (tokens > 0) extents.fixed.emplace_back(kDecoderLength, tokens);
  if (s.model->max_length > 0)
    extents.most_cells = std::clamp<int64_t>(s.model->max_length - tokens, 1, extents.most_cells);
  for (const auto& [mask, facts] : mask_facts(model, *s.data))
    extents.padding[mask] = {facts.real == facts.cells, facts.padding_last};
  return extents;
}

/// Branches that got cells while the profile was taken, or those that a pass takes for the only ones.
UsualBranches usual_branches(const LoadProfile& profile, const PipelineResult& passed) {
  UsualBranches usual;
  for (const auto& [router, loads] : profile.routers)
    for (size_t branch = 0; branch < loads.load.size(); ++branch)
      if (loads.load[branch] > 0) usual[router].push_back(static_cast<int32_t>(branch));
  for (const PassOutcome& outcome : passed.outcomes)
    if (outcome.cumulative.applied)
      for (const ConstantClaim& claim : outcome.cumulative.claims) usual[claim.router] = claim.branches;
  return usual;
}

bool any_applied(const PipelineResult& passed) {
  return std::any_of(passed.outcomes.begin(), passed.outcomes.end(),
                     [](const PassOutcome& o) { return o.cumulative.applied; });
}

bool is_stop(const Error& error) {
  return error.kind() == ErrorKind::interrupted || error.kind() == ErrorKind::terminated;
}

/// A pass that leaves decisions out computes something else on purpose; empty: none does.
std::string why_unequal_on_purpose(const PipelineResult& passed) {
  for (const PassOutcome& o : passed.outcomes)
    if (o.cumulative.applied && !o.cumulative.decides)
      return "pass " + std::string(o.pass->id) + " leaves decisions out, so the plan need not be equal";
  return {};
}

}  // namespace

void ProvedPlans::open(const PipelineResult& passed) {
  const ExperimentState& s = work_.state();
  size_ = smallest_picture(s);
  try {
    model_ = work_.judged_graph(size_);
    if (size_ != s.picture) graph_after(passed, passed.outcomes.size());
  } catch (const Error& error) {
    if (is_stop(error) || size_ == s.picture) throw;
    size_ = s.picture;  // the model or a pass takes no picture that small
    model_ = work_.judged_graph(size_);
  }
  ProofLimits limits;
  limits.seconds = seconds_;
  limits.bytes = available_memory() / kPartOfMemory;
  limits.threads = std::max(1, s.device->info().host_threads);
  proofs_ = std::make_unique<PlanProof>(model_, *s.model->weights, drawn_extents(work_, *model_),
                                        usual_branches(profile_, passed), limits, progress_);
}

/// A plan for the graph that is proved: the workload's own, one for smaller pictures, or one that keeps logits. Null: the
/// plan without passes.
std::shared_ptr<const Graph> ProvedPlans::graph_of(const Graph* plan, const PassConfiguration& configuration) const {
  const ExperimentState& s = work_.state();
  if (work_.new_tokens() > 0)
    return replay_or_fail(s.pass_input(*model_), configuration, "does not apply where the logits are kept");
  const std::shared_ptr<const Graph> own = plan ? std::make_shared<const Graph>(*plan) : work_.graph();
  return plan_graphs(s, own, configuration, work_.annotations(), work_.thresholds(), work_.intervention())(size_);
}

/// The plan of the first `passes` outcomes.
std::shared_ptr<const Graph> ProvedPlans::graph_after(const PipelineResult& passed, size_t passes) const {
  PassConfiguration configuration;
  const Graph* last = nullptr;
  for (size_t i = 0; i < passes; ++i) {
    const PassOutcome& outcome = passed.outcomes[i];
    if (!outcome.cumulative.applied) continue;
    last = &outcome.cumulative.graph;
    configuration.emplace(outcome.pass->id, saved_parameters(outcome));
  }
  return graph_of(last, configuration);
}

bool ProvedPlans::another_differs(const Graph& plan) {
  if (!proofs_->has_time_for_another()) return false;
  const ProofOutcome outcome = proofs_->prove(plan);
  if (outcome.equal == true) ++proof_->plans;
  if (outcome.equal != false) return false;
  proof_->first_difference = outcome.difference;
  return true;
}

/// Proves the plans on the way to the last one, and those of single passes.
std::optional<std::string> ProvedPlans::prove_others(const PipelineResult& passed) {
  bool is_first = true;
  for (size_t i = 0; i < passed.outcomes.size(); ++i) {
    const PassOutcome& outcome = passed.outcomes[i];
    const bool is_last = std::none_of(passed.outcomes.begin() + i + 1, passed.outcomes.end(),
                                      [](const PassOutcome& o) { return o.cumulative.applied; });
    if (outcome.cumulative.applied && !is_last && another_differs(*graph_after(passed, i + 1)))
      return std::string(outcome.pass->id);
    // The first pass upon nothing is alone.
    if (outcome.alone.applied && outcome.alone.decides && !is_first) {
      const PassConfiguration own{{std::string(outcome.pass->id), saved_parameters(outcome.options, outcome.alone)}};
      if (another_differs(*graph_of(&outcome.alone.graph, own))) return std::string(outcome.pass->id);
    }
    if (outcome.cumulative.applied) is_first = false;
  }
  return {};
}

std::optional<std::string> ProvedPlans::prove(const PipelineResult& passed) {
  proof_.reset();
  if (!any_applied(passed)) return {};
  ExactProof& proof = proof_.emplace();
  proof.nodes = count_nodes(passed.graph);
  proof.regions.assign(1, ExactRegion{proof.nodes, {}});  // the whole plan
  proof.reason = why_unequal_on_purpose(passed);
  if (!proof.reason.empty()) return {};
  try {
    if (!proofs_) open(passed);
    const ProofOutcome outcome = proofs_->prove(*graph_after(passed, passed.outcomes.size()));
    proof.draws = outcome.draws;
    proof.equal = outcome.equal;
    proof.branches_without_cells = outcome.branches_without_cells;
    proof.first_difference = outcome.difference;
    proof.reason = outcome.reason;
    proof.regions.front().equal = outcome.equal;
    if (!outcome.equal) proof.needs = ExactNeeds{outcome.needs.bytes, outcome.needs.seconds};
    if (outcome.equal == false) return blamed(passed);
    if (outcome.equal) {
      proof.plans = 1;
      return prove_others(passed);
    }
  } catch (const Error& error) {
    if (is_stop(error)) throw;
    // A plan that is known to differ still does where no pass could be asked.
    if (!proof.equal) proof.reason = error.what();
  } catch (const std::bad_alloc&) {
    if (!proof.equal) proof.reason = "the memory was refused";
  }
  return {};
}

std::optional<std::string> ProvedPlans::blamed(const PipelineResult& passed) {
  // No pass is to blame if the graph before all passes differs already.
  if (proofs_->differs_again(*graph_after(passed, 0))) return {};
  for (size_t i = 0; i < passed.outcomes.size(); ++i)
    if (passed.outcomes[i].cumulative.applied && proofs_->differs_again(*graph_after(passed, i + 1)))
      return std::string(passed.outcomes[i].pass->id);
  return {};
}

}  // namespace stormcell
