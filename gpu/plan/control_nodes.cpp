// Nodes of the steps that control others: repeats, guards with their saved states, and the ends of submissions.
#include <algorithm>

#include "core/runtime/status_area.h"
#include "gpu/plan/move_nodes.h"

namespace stormcell::gpu {

// The node of the loop gets its ranges when the last node within is known.
void PlanBuilder::begin_loop(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  const Ref again = scratch(sizeof(int32_t));
  TurnArgs args;
  args.begins = true;
  args.most = static_cast<int32_t>(step.most);
  args.ref[TurnArgs::kTurns] = counter(&StatusArea(status_.data(), program_).turns[step.repeat]);
  args.ref[TurnArgs::kAgain] = again;
  add<TurnKernel>(args, 1, at, word);
  PlanLoop loop;
  loop.node = static_cast<int32_t>(plan_.nodes.size()), loop.first = loop.node + 1;
  loop.word = static_cast<int32_t>(again.offset);
  loop.first_step = at, loop.last_step = step.target - 1;
  PlanNode node;
  node.kernel_name = "loop";
  node.step = at;
  node.loop = loop_, node.leaf = leaf_;
  node.runs = static_cast<int32_t>(plan_.loops.size());
  plan_.nodes.push_back(std::move(node));
  loop_of_[step.repeat] = loop_ = static_cast<int32_t>(plan_.loops.size());
  plan_.loops.push_back(loop);
}

void PlanBuilder::end_loop(int32_t at) {
  const Step& step = program_.steps[at];
  PlanLoop& loop = plan_.loops[loop_of_.at(step.repeat)];
  TurnArgs args;
  args.most = static_cast<int32_t>(step.most);
  args.ref[TurnArgs::kTurns] = counter(&StatusArea(status_.data(), program_).turns[step.repeat]);
  args.ref[TurnArgs::kAgain] = control(loop.word, sizeof(int32_t), Access::write);
  args.ref[TurnArgs::kEnds] = ref(step.inputs[0], Access::read);
  add<TurnKernel>(args, 1, at, -1);
  loop.end = static_cast<int32_t>(plan_.nodes.size());
  PlanNode& node = plan_.nodes[loop.node];
  loop_ = node.loop;
  for (int32_t n = loop.first; n < loop.end; ++n)
    for (const ByteRange& range : plan_.nodes[n].ranges)
      if (std::find(node.ranges.begin(), node.ranges.end(), range) == node.ranges.end()) node.ranges.push_back(range);
}

int32_t PlanBuilder::guarded() const {
  for (auto region = open_.rbegin(); region != open_.rend(); ++region)
    if (region->guards) return region->word;
  return -1;
}

// [guard, taken body, jump, fallback body]; a late guard is behind its taken body, right before the jump.
void PlanBuilder::guard(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  const int32_t jump = step.target - 1;
  const StatusArea area(status_.data(), program_);
  GuardArgs args;
  args.ref[GuardArgs::kTest] = ref(step.inputs[0], Access::read);
  args.ref[GuardArgs::kHits] = counter(&area.hits[step.guard]);
  args.ref[GuardArgs::kMisses] = counter(&area.misses[step.guard]);
  const Ref fallback = scratch(sizeof(int32_t));
  args.ref[GuardArgs::kFallback] = fallback;
  begins_[step.target] = {program_.steps[jump].target, static_cast<int32_t>(fallback.offset), true};
  if (jump > at + 1) {
    const Ref taken = scratch(sizeof(int32_t));
    args.ref[GuardArgs::kTaken] = taken;
    begins_[at + 1] = {jump, static_cast<int32_t>(taken.offset), true};
  }
  add<GuardKernel>(args, 1, at, word);
}

// The leaf that begins here is the one to go on with.
void PlanBuilder::need_weights(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  const std::vector<WeightHandle>& lazy = steps_.layout.lazy[step.guard];
  if (lazy.empty()) return;
  std::vector<int32_t> handles;
  for (const WeightHandle handle : lazy) handles.push_back(static_cast<int32_t>(handle));
  ExecutionStatus& s = *StatusArea(status_.data(), program_).status;
  const auto place = [&](const void* part) { return static_cast<int32_t>(place_of(part, status_.data())); };
  NeedArgs args;
  args.handles = constants(handles.data(), handles.size());
  args.count = static_cast<int32_t>(handles.size());
  args.code_at = place(&s.code), args.leaf_at = place(&s.leaf);
  args.guard_at = place(&s.guard), args.decision_at = place(&s.decision);
  args.code = ExecutionStatus::needs_weights, args.leaf = leaf_, args.guard = static_cast<int32_t>(step.guard);
  Ref& status = args.ref[NeedArgs::kStatus];
  status.memory = Memory::status, status.access = Access::both, status.bytes = sizeof(ExecutionStatus);
  add<NeedKernel>(args, 1, at, word);
  plan_.nodes.back().leads = true;
  may_fail_ = true;  // the submission may have ended
}

// A step that reads weights of branches is a leaf of its own: where some are not there, it runs again, and computes the
// branches anew whose weights are there still. That changes nothing, and those that are gone it leaves alone.
void PlanBuilder::ask_for_parts(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  const std::vector<PartSite>& sites = steps_.layout.sites;
  const auto computed_by = [&](const PartSite& site) -> Ref {
    const auto known = computed_.find(site.step);
    if (known != computed_.end()) return known->second;
    const Ref made = scratch(program_.operands[site.decision].branches * int64_t{sizeof(int32_t)});
    return computed_[site.step] = made;
  };
  const auto site = std::find_if(sites.begin(), sites.end(), [&](const PartSite& s) { return s.step == at; });
  AskArgs args;
  if (site != sites.end()) {
    args.leaf = leaf_;
    args.ref[AskArgs::kComputed] = computed_by(*site);
    args.ref[AskArgs::kComputed].access = Access::both;
    add_ask(args, site->parts, site->decision, at, word, {});
  }
  if (step.outputs.empty() || !program_.operands[step.outputs[0]].is_decision) return;
  std::vector<PartUse> parts;
  std::vector<Ref> clears;
  for (const PartSite& of : sites) {
    if (of.decision != step.outputs[0]) continue;
    parts.insert(parts.end(), of.parts.begin(), of.parts.end());
    clears.push_back(computed_by(of));
  }
  if (parts.empty()) return;
  args.ref[AskArgs::kComputed] = {};
  args.leaf = steps_.layout.segments.leaf_at(at + 1);
  add_ask(args, parts, step.outputs[0], at, word, clears);
}

void PlanBuilder::add_ask(AskArgs args, const std::vector<PartUse>& parts, OperandId decision, int32_t step,
                          int32_t word, const std::vector<Ref>& clears) {
  std::vector<AskedPart> asked;
  for (const PartUse& part : parts) asked.push_back({part.branch, static_cast<int32_t>(part.handle)});
  const StatusArea area(status_.data(), program_);
  const auto place = [&](const void* part) { return static_cast<int32_t>(place_of(part, status_.data())); };
  args.decision = places(decision);
  args.parts = constants(asked.data(), asked.size());
  args.count = static_cast<int32_t>(asked.size());
  args.code_at = place(&area.status->code), args.leaf_at = place(&area.status->leaf);
  args.guard_at = place(&area.status->guard), args.decision_at = place(&area.status->decision);
  args.branches_at = place(area.branches.data());
  args.code = ExecutionStatus::needs_weights, args.operand = static_cast<int32_t>(decision);
  args.absent = kAbsentBranch, args.wanted = kWantedBranch, args.computed = kComputedBranch;
  args.ref[AskArgs::kDecision] = ref(decision, Access::read);
  Ref& status = args.ref[AskArgs::kStatus];
  status.memory = Memory::status, status.access = Access::both;
  status.bytes = args.branches_at + args.decision.branches * int64_t{sizeof(int32_t)};
  add<AskKernel>(args, 1, step, word, clears);
  plan_.nodes.back().ends = true;
  may_fail_ = true;  // the submission may have ended
}

void PlanBuilder::copy(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  const Operand &from = program_.operands[step.inputs[0]], &to = program_.operands[step.outputs[0]];
  MoveArgs args = moving(from, to);
  args.ref[MoveArgs::kFrom] = ref(step.inputs[0], Access::read);
  StepNodes nodes(*this, at, word);
  add_move(nodes, args, nodes.most_rows(to), {ref(step.outputs[0], Access::write)});
}

void PlanBuilder::move_rows(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  const bool saves = step.kind == StepKind::save_rows;
  const OperandId state = saves ? step.inputs[0] : step.outputs[0], rows = saves ? step.outputs[0] : step.inputs[0];
  PutArgs args;
  args.gets = saves;
  args.paged = paged(state);
  args.row_bytes = static_cast<int32_t>(program_.operands[state].row_bytes());
  args.ref[PutArgs::kState] = ref(state, saves ? Access::read : Access::write);
  args.ref[PutArgs::kRows] = ref(rows, saves ? Access::write : Access::read);
  if (step.inputs.size() > 1) args.ref[PutArgs::kAt] = ref(step.inputs[1], Access::read);
  args.ref[PutArgs::kFailure] = failure(at, args.failure);
  StepNodes nodes(*this, at, word);
  args.ref[PutArgs::kCells] = nodes.cells_of(program_.operands[rows], args.ragged);
  nodes.add<PutKernel>(
      args, nodes.blocks(nodes.most_rows(program_.operands[rows]) * args.row_bytes, 4 * PutKernel::kThreads));
}

}  // namespace stormcell::gpu
