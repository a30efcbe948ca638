#include "core/experiment/ready_plan.h"

#include "core/base/error.h"

namespace stormcell {
namespace {

bool same_work(const StepInfo& a, const StepInfo& b) {
  return a.name == b.name && a.op == b.op && a.router == b.router && a.branch == b.branch;
}

}  // namespace

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
  const bool steps = std::equal(layout_.steps.begin(), layout_.steps.end(), other.steps.begin(), other.steps.end(), same_work);
  if (steps && layout_.spaces == other.spaces && layout_.routers == other.routers && layout_.edges == other.edges) return;
  failed("plan \"" + name_ + "\"",
         "has other " + std::string(steps ? "routers" : "steps") + " for pictures of " + to_text(size) + " than for the largest",
         "give pictures of one size, or leave passes out with --disable");
}

void ReadyPlan::use(PictureSize size) {
  if (executor && size == size_) return;
  if (executor) {
    const std::set<int32_t> needed = executor->weights(true), spared = executor->weights(false);
    needed_.insert(needed.begin(), needed.end());
    spared_.insert(spared.begin(), spared.end());
  }
  static_cast<CompiledPlan&>(*this) = {};  // only the sizes that are held keep theirs
  static_cast<CompiledPlan&>(*this) = compiled_.at(size, [this](PictureSize of) { return build(of); });
  size_ = size;
}

int64_t ReadyPlan::weight_bytes() const {
  std::set<int32_t> needed = executor->weights(true);
  needed.insert(needed_.begin(), needed_.end());
  int64_t bytes = store_.counters().slot_bytes;
  for (const int32_t handle : needed) bytes += store_.bytes(handle);
  return bytes;
}

int64_t ReadyPlan::unloaded_weight_bytes() const {
  const std::set<int32_t> needed = executor->weights(true);
  std::set<int32_t> spared = executor->weights(false);
  spared.insert(spared_.begin(), spared_.end());
  int64_t bytes = 0;
  for (const int32_t handle : spared)
    if (!needed.contains(handle) && !needed_.contains(handle)) bytes += store_.bytes(handle);
  return bytes;
}

}  // namespace stormcell
