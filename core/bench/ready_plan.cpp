#include "core/bench/ready_plan.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/bench/batch_inputs.h"
#include "core/bench/forced_choices.h"
#include "core/models/model.h"

namespace stormcell {
namespace {

bool same_work(const StepInfo& a, const StepInfo& b) {
  return a.name == b.name && a.op == b.op && a.router == b.router && a.branch == b.branch;
}

}  // namespace

void PlanPromises::add(const PassResult& pass) {
  same_bits = same_bits && pass.same_bits;
  if (pass.decides) return;
  for (const ConstantClaim& claim : pass.claims)
    undecided[claim.router] = {claim.branches.begin(), claim.branches.end()};
}

int64_t count_written(std::span<const int32_t> tokens) {
  return std::count_if(tokens.begin(), tokens.end(), [](int32_t token) { return token >= 0; });
}

void end_texts(std::span<const int64_t> stopped, int64_t most, std::vector<int32_t>& tokens) {
  for (size_t s = 0; s < stopped.size(); ++s)
    if (stopped[s] < most)
      std::fill_n(tokens.begin() + static_cast<int64_t>(s) * most + stopped[s], most - stopped[s], -1);
}

ReadyPlan::ReadyPlan(std::string name, const WeightStore& store, Lower lower, Compile compile, PictureSize first)
    : name_(std::move(name)), store_(store), lower_(std::move(lower)), compile_(std::move(compile)) {
  use(first);
  layout_ = records->layout;
}

CompiledPlan ReadyPlan::build(PictureSize size) {
  CompiledPlan plan = lower_(size);
  if (!layout_.steps.empty()) check_layout(size, plan.records->layout);
  compile_(plan, size);
  activation_bytes_ = std::max(activation_bytes_, plan.executor->activation_bytes());
  return plan;
}

void ReadyPlan::check_layout(PictureSize size, const RunLayout& other) const {
  const bool steps =
      std::equal(layout_.steps.begin(), layout_.steps.end(), other.steps.begin(), other.steps.end(), same_work);
  if (steps && layout_.spaces == other.spaces && layout_.routers == other.routers && layout_.edges == other.edges)
    return;
  failed("plan \"" + name_ + "\"",
         "has other " + std::string(steps ? "routers" : "steps") + " for pictures of " + to_text(size) +
             " than for the largest",
         "give pictures of one size, or leave passes out with --disable");
}

void ReadyPlan::use(PictureSize size) {
  if (executor && size == size_) return;
  if (executor) {
    const std::set<WeightHandle> needed = executor->needed_weights(), spared = executor->spared_weights();
    needed_.insert(needed.begin(), needed.end());
    spared_.insert(spared.begin(), spared.end());
  }
  static_cast<CompiledPlan&>(*this) = {};  // only the sizes that are held keep theirs
  static_cast<CompiledPlan&>(*this) = compiled_.at(size, [this](PictureSize of) { return build(of); });
  size_ = size;
}

Bindings ReadyPlan::bindings(const Batch& batch) const { return bindings_of(*graph, batch, new_tokens); }

void ReadyPlan::run(const Batch& batch, const ExecuteOptions& options) {
  ExecuteOptions execute = options;
  execute.outputs |= new_tokens > 0;  // tokens are few, and reading them is not measured
  use(batch.picture);
  ReplayedDecisions given;
  if (forced && !execute.replayed) {
    given = forced->of(batch, *program, bindings(batch));
    execute.replayed = &given;
    execute.replayed_from = forced->file();
  }
  executor->run(inputs_of(*graph, batch), bindings(batch), execute, result);
  keep_result(batch);
}

void ReadyPlan::keep_result(const Batch& batch) {
  if (result.state_bytes > states.taken_bytes)
    states.taken_bytes = result.state_bytes, states.taken_pages = result.state_pages;
  states.planned_bytes = std::max(states.planned_bytes, executor->layout().memory.page_bytes);
  lost_events += result.lost_events;
  for (const OutputValue& out : result.outputs)
    if (out.name == kGenerated) decoded[batch.index] = out.integers;
  for (const GuardId i : program->guards.ids()) {
    GuardCounts& counts = guards[program->guards[i].pass];
    counts.hits += result.guard_hits[i];
    counts.misses += result.guard_misses[i];
  }
}

int64_t ReadyPlan::weight_bytes() const {
  std::set<WeightHandle> needed = executor->needed_weights();
  needed.insert(needed_.begin(), needed_.end());
  int64_t bytes = store_.counters().slot_bytes;
  for (const WeightHandle handle : needed) bytes += store_.bytes(handle);
  return bytes;
}

int64_t ReadyPlan::unloaded_weight_bytes() const {
  const std::set<WeightHandle> needed = executor->needed_weights();
  std::set<WeightHandle> spared = executor->spared_weights();
  spared.insert(spared_.begin(), spared_.end());
  int64_t bytes = 0;
  for (const WeightHandle handle : spared)
    if (!needed.contains(handle) && !needed_.contains(handle)) bytes += store_.bytes(handle);
  return bytes;
}

}  // namespace stormcell
