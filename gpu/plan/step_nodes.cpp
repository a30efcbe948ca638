#include "gpu/plan/step_nodes.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/runtime/status_area.h"
#include "gpu/plan/kernel_rows.h"

namespace stormcell::gpu {
namespace {

[[noreturn]] void not_yet(const std::string& where, const std::string& what) {
  failed(where, "CUDA does not run " + what + " yet", "run it with --device cpu");
}

}  // namespace

Format plan_format(DType type) { return format_of(type).rounds_rows ? Format::bf16 : Format::f32; }

std::unique_ptr<PlanKernel> planned(std::string_view name, std::function<void(StepNodes&)> add) {
  auto kernel = std::make_unique<PlanKernel>();
  kernel->name = name;
  kernel->add_nodes = std::move(add);
  return kernel;
}

PlanBuilder::PlanBuilder(const Program& program, const CompileOptions& compile, const PlanOptions& options,
                         PlannedSteps steps)
    : program_(program), compile_(compile), options_(options), steps_(std::move(steps)) {
  status_.resize(StatusArea::bytes(program) + 64);
}

Plan PlanBuilder::build() {
  refuse_what_is_missing();
  place_entries();
  place_words();
  begin();
  for (const int32_t at : program_.steps.ids()) {
    while (!open_.empty() && open_.back().end <= at) open_.pop_back();
    if (const auto begun = begins_.find(at); begun != begins_.end()) open_.push_back(begun->second);
    while (leaf_ + 1 < std::ssize(steps_.layout.segments.leaves) && steps_.layout.segments.leaves[leaf_].end <= at)
      ++leaf_;
    add_step(at, open_.empty() ? -1 : open_.back().word);
    const Step& step = program_.steps[at];
    if (step.kind == StepKind::skip_empty)
      open_.push_back({step.target, static_cast<int32_t>(words_at_) + 4 * word_of_.at({step.inputs[0], step.branch})});
  }
  find_edges(plan_.nodes);
  plan_.layout = std::move(steps_.layout);
  plan_.layout.scratch_bytes = align_up(control_bytes_);
  plan_.bytes.control = control_bytes_;
  plan_.bytes.call = call_block_bytes(program_);
  plan_.regions = static_cast<int32_t>(word_branches_.size());
  return std::move(plan_);
}

void PlanBuilder::refuse_what_is_missing() const {
  const Graph& graph = *program_.graph;
  for (const Step& step : program_.steps) {
    if (has_kernel(step) && step.kind != StepKind::send) continue;
    const std::string where = step.node == kNone ? "plan" : node_text(graph.node(step.node));
    switch (step.kind) {
      case StepKind::kernel:
      case StepKind::skip_empty:
      case StepKind::record:
      case StepKind::repeat_begin:
      case StepKind::repeat_end:
      case StepKind::guard:
      case StepKind::jump:
      case StepKind::need_weights:
      case StepKind::save_rows:
      case StepKind::restore_rows:
        break;
      case StepKind::copy:
        for (const OperandId o : {step.inputs[0], step.outputs[0]})
          if (program_.operands[o].paged_index >= 0) not_yet(where, "copies of whole states in pages");
        break;
      default:
        not_yet(where, "programs of several ranks");
    }
  }
  for (const Leaf& leaf : steps_.layout.segments.leaves)
    if (!leaf.repeats.empty()) not_yet("plan", "weights that come within repeats");
}

// Entries of one decision, or of one ragged value, are contiguous, so that the node that fills them declares one range.
void PlanBuilder::place_entries() {
  entry_of_.assign(program_.operands.size(), -1);
  const auto has_rows = [](const Operand& o) { return !o.is_decision && !o.is_ragged && o.kind != BufferKind::weight; };
  const auto add_all = [&](OperandId by) {
    const auto first = static_cast<int32_t>(entries_.size());
    for (const OperandId id : program_.operands.ids()) {
      const Operand& o = program_.operands[id];
      if (has_rows(o) && (o.ragged != kNone ? o.ragged : o.decision) == by) add_entry(id);
    }
    entries_of_[by] = {first, static_cast<int32_t>(entries_.size()) - first};
  };
  add_all(kNone);
  for (const OperandId id : program_.operands.ids())
    if (program_.operands[id].is_decision || program_.operands[id].is_ragged) add_all(id);
  plans_at_ = constants(entries_.data(), entries_.size());
  control_bytes_ = align_up(std::ssize(entries_) * static_cast<int64_t>(sizeof(RowsEntry)));
}

void PlanBuilder::add_entry(OperandId id) {
  const Operand& o = program_.operands[id];
  EntryPlan e;
  if (o.kind == BufferKind::input) {
    const auto at = std::find(program_.inputs.begin(), program_.inputs.end(), id);
    e.input = static_cast<int32_t>(at - program_.inputs.begin());
  } else if (o.kind != BufferKind::paged) {
    e.memory = o.kind == BufferKind::state ? Memory::states : Memory::activations;
    e.offset = steps_.layout.memory.offset[o.buffer];
  }
  const auto place = [](DimId dim) { return dim == kNone ? -1 : static_cast<int32_t>(dim); };
  e.row_bytes = o.row_bytes();
  e.rows = place(o.rows), e.times = place(o.times), e.per_parent = place(o.per_parent);
  e.is_routed = o.decision != kNone, e.branch = o.branch, e.in_slots = o.in_slots;
  e.is_ragged = o.ragged != kNone;
  entry_of_[id] = static_cast<int32_t>(entries_.size());
  entries_.push_back(e);
}

/// A region is a branch of a decision: it is due if the branch got cells. A branch within an absent one got none,
/// because its decision is empty then.
void PlanBuilder::place_words() {
  std::map<OperandId, std::vector<int32_t>> branches;
  for (const Step& step : program_.steps) {
    if (step.kind != StepKind::skip_empty) continue;
    std::vector<int32_t>& of = branches[step.inputs[0]];
    if (std::find(of.begin(), of.end(), step.branch) == of.end()) of.push_back(step.branch);
  }
  words_at_ = control_bytes_;
  for (const auto& [decision, of] : branches) {
    words_of_[decision] = {static_cast<int32_t>(word_branches_.size()), static_cast<int32_t>(of.size())};
    for (const int32_t branch : of) {
      word_of_[{decision, branch}] = static_cast<int32_t>(word_branches_.size());
      word_branches_.push_back(branch);
    }
  }
  control_bytes_ += align_up(std::ssize(word_branches_) * 4);
}

void PlanBuilder::begin() {
  SettleArgs args = settling(kNone, -1);
  const int64_t status = StatusArea(status_.data(), program_).without_events;
  args.status_words = static_cast<int32_t>(status / 4);
  Ref& of = args.ref[SettleArgs::kStatus];
  of.memory = Memory::status, of.access = Access::write, of.bytes = status;
  add<SettleKernel>(args, 1, -1, -1);
}

SettleArgs PlanBuilder::settling(OperandId by, int32_t word) const {
  const auto [first, count] = entries_of_.at(by);
  SettleArgs args;
  args.region = word;
  args.plans = plans_at_;
  args.first_entry = first, args.entries = count;
  if (count > 0)
    args.ref[SettleArgs::kEntries] =
        control(first * int64_t{sizeof(RowsEntry)}, count * int64_t{sizeof(RowsEntry)}, Access::write);
  return args;
}

void PlanBuilder::add_settle(const SettleArgs& args, int32_t step, int32_t word) {
  std::vector<Ref> list;
  if (word >= 0) list.push_back(control(word, sizeof(int32_t), Access::read));
  add<SettleKernel>(args, 1, step, -1, list);
}

void PlanBuilder::settle(OperandId decision, RouterId router, int32_t step, int32_t word) {
  SettleArgs args = settling(decision, word);
  args.ref[SettleArgs::kExecutions] = counter(&StatusArea(status_.data(), program_).executions[router]);
  args.decision = places(decision);
  args.ref[SettleArgs::kDecision] = ref(decision, Access::read);
  if (const auto words = words_of_.find(decision); words != words_of_.end()) {
    args.words = words->second.second;
    args.branches = constants(word_branches_.data() + words->second.first, static_cast<size_t>(args.words));
    args.ref[SettleArgs::kWords] = control(words_at_ + 4 * words->second.first, 4 * args.words, Access::write);
  }
  add_settle(args, step, word);
}

void PlanBuilder::add_step(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  switch (step.kind) {
    case StepKind::kernel: {
      StepNodes nodes(*this, at, word);
      steps_.kernels[at]->add_nodes(nodes);
      if (steps_.needs[at].router != kNone) settle(step.outputs[0], steps_.needs[at].router, at, word);
      if (steps_.needs[at].ragged >= 0) settle_ragged(step.outputs[0], steps_.needs[at].ragged, at, word);
      return ask_for_parts(at, word);
    }
    case StepKind::record:
      return record(at, word);
    case StepKind::skip_empty:
      return absent(at, word);
    case StepKind::guard:
      return guard(at, word);
    case StepKind::need_weights:
      return need_weights(at, word);
    case StepKind::copy:
      return copy(at, word);
    case StepKind::save_rows:
    case StepKind::restore_rows:
      return move_rows(at, word);
    case StepKind::repeat_begin:
      return begin_loop(at, word);
    case StepKind::repeat_end:
      return end_loop(at);
    default:
      return;
  }
}

void PlanBuilder::record(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  const RecordRoom::Router& room = steps_.records[step.router];
  RecordArgs args;
  args.decision = places(step.inputs[0]);
  args.places = record_places(step.router);
  args.ref[RecordArgs::kDecision] = ref(step.inputs[0], Access::read);
  args.ref[RecordArgs::kExecutions] = counter(&StatusArea(status_.data(), program_).executions[step.router]);
  args.ref[RecordArgs::kExecutions].access = Access::read;
  args.ref[RecordArgs::kRecord] = record_area(step.router);
  args.ref[RecordArgs::kTurn] = turn_of(step.router);
  args.records = records_of(step.router);
  args.score_columns = steps_.layout.records[step.router].score_columns;
  if (args.score_columns > 0) args.ref[RecordArgs::kScores] = ref(room.scores, Access::read);
  std::vector<Ref> list;
  args.chain = chain_of(step.router, list);
  const int64_t choices = most(program_.operands[step.inputs[0]].decision_cells) * args.decision.fan_out;
  const int64_t blocks =
      std::clamp<int64_t>(parts<int64_t>(choices, RecordKernel::kThreads), 1, options_.multiprocessors);
  // Scores live as long as the router's own step: the record reads them as if it stood there.
  add<RecordKernel>(args, blocks, at - 1, word, list);
}

Replaying PlanBuilder::replaying(RouterId router, std::vector<Ref>& list) const {
  const ProgramRouter& r = program_.routers[router];
  Replaying of;
  of.router = static_cast<int32_t>(router);
  of.rows = static_cast<int32_t>(program_.replayed_rows(r));
  of.by_row = r.by_row;
  if (of.by_row) of.chain = chain_of(router, list);
  return of;
}

Ref PlanBuilder::not_replayed(RouterId router) {
  return counter(&StatusArea(status_.data(), program_).not_replayed[router]);
}

Ref PlanBuilder::turn_of(RouterId router) {
  const RepeatId repeat = program_.routers[router].repeat;
  if (repeat == kNone) return {};
  Ref turn = counter(&StatusArea(status_.data(), program_).turns[repeat]);
  turn.access = Access::read;
  return turn;
}

Ref PlanBuilder::failure(int32_t at, FailurePlaces& places) {
  may_fail_ = true;
  ExecutionStatus& s = *StatusArea(status_.data(), program_).status;
  const auto place = [&](const void* part) { return static_cast<int32_t>(place_of(part, status_.data())); };
  places = {place(&s.code),           place(&s.leaf),       place(&s.failure.what), place(&s.failure.node),
            place(&s.failure.parent), place(&s.failure.at), place(&s.failure.got),  place(&s.failure.most)};
  places.node = static_cast<int32_t>(program_.steps[at].node);
  places.rows_beyond_places = StepFailure::rows_beyond_places, places.missing_page = StepFailure::missing_page;
  places.failed = ExecutionStatus::failed;
  if (places.code != 0) failed("plan", "the status does not begin with its code");  // KernelArgs::is_due() reads it
  Ref of;
  of.memory = Memory::status, of.access = Access::both;
  of.bytes = sizeof(ExecutionStatus);
  return of;
}

std::optional<int32_t> PlanBuilder::extent_place(const Dim& dim) const {
  const auto at = std::find(program_.dims.begin(), program_.dims.end(), dim);
  if (at == program_.dims.end()) return std::nullopt;
  return static_cast<int32_t>(at - program_.dims.begin());
}

void PlanBuilder::absent(int32_t at, int32_t word) {
  const Step& step = program_.steps[at];
  std::vector<AbsentDecision> inner;
  std::vector<Ref> list;
  const auto take = [&](const Ref& of) {
    list.push_back(of);
    return static_cast<int32_t>(list.size()) - 1;
  };
  for (int32_t s = at + 1; s < step.target; ++s) {
    const Step& skipped = program_.steps[s];
    if (skipped.kind != StepKind::record) continue;
    AbsentDecision decision;
    decision.decision = take(ref(skipped.inputs[0], Access::write));
    decision.executions = take(counter(&StatusArea(status_.data(), program_).executions[skipped.router]));
    decision.record = take(record_area(skipped.router));
    if (const Ref turn = turn_of(skipped.router); turn.access != Access::none) decision.turn = take(turn);
    decision.records = records_of(skipped.router);
    decision.places = places(skipped.inputs[0]);
    decision.record_places = record_places(skipped.router);
    inner.push_back(decision);
  }
  if (inner.empty()) return;
  AbsentArgs args;
  args.decision = places(step.inputs[0]);
  args.branch = step.branch;
  args.ref[AbsentArgs::kDecision] = ref(step.inputs[0], Access::read);
  args.count = static_cast<int32_t>(inner.size());
  args.inner = constants(inner.data(), inner.size());
  // Within an absent branch, that branch's node has already made the decisions empty.
  add<AbsentKernel>(args, std::min<int64_t>(args.count, options_.multiprocessors), at, word, list);
}

Ref PlanBuilder::ref(OperandId operand, Access access) const {
  const Operand& o = program_.operands[operand];
  Ref of;
  of.access = access;
  of.entry = entry_of_[operand];
  if (o.kind == BufferKind::input) {
    of.memory = Memory::outside;
    return of;
  }
  if (o.kind == BufferKind::paged) {
    of.memory = Memory::pages;
    of.offset = o.paged_index, of.bytes = 1;
    return of;
  }
  of.memory = o.kind == BufferKind::state ? Memory::states : Memory::activations;
  of.offset = steps_.layout.memory.offset[o.buffer];
  of.bytes = program_.buffers[o.buffer].bytes.evaluate(compile_.bounds);
  if (o.in_slots && o.branch != kAllBranches) {
    of.decision = static_cast<int32_t>(o.decision), of.branch = o.branch;
    of.row_bytes = static_cast<int32_t>(o.row_bytes());
  }
  return of;
}

DecisionPlaces PlanBuilder::places(OperandId decision) const {
  const Operand& o = program_.operands[decision];
  const DecisionShape shape{most(o.decision_cells), o.fan_out, o.branches};
  std::vector<std::byte> memory(decision_bytes(shape));
  const DecisionView d = decision_view(memory.data(), shape);
  const auto at = [&](const void* part) { return static_cast<int32_t>(place_of(part, memory.data())); };
  return {at(d.cells), at(d.offsets), at(d.cell),   at(d.weight), at(d.choice), at(d.choice_weight),
          at(d.slot),  at(d.wanted),  at(d.padded), at(d.margin), o.fan_out,    o.branches};
}

RecordPlaces PlanBuilder::record_places(RouterId router) const {
  RecordLayout layout = steps_.layout.records[router];
  layout.first = 0;
  std::vector<std::byte> memory(layout.bytes());
  const RecordView r = layout.at(memory.data(), 0);
  const auto at = [&](const void* part) { return static_cast<int32_t>(place_of(part, memory.data())); };
  return {at(r.header), at(r.choice), at(r.weight), at(r.margin), at(r.ancestor), at(r.padded), at(r.scores)};
}

Ref PlanBuilder::record_area(RouterId router) const {
  const RecordLayout& layout = steps_.layout.records[router];
  Ref of;
  of.memory = Memory::records, of.access = Access::write;
  of.offset = layout.first, of.bytes = layout.bytes() * most(program_.routers[router].executions);
  return of;
}

RecordsOf PlanBuilder::records_of(RouterId router) const {
  return {static_cast<int32_t>(steps_.layout.records[router].bytes()),
          static_cast<int32_t>(program_.routers[router].executions)};
}

Ref PlanBuilder::counter(const int32_t* of) const {
  Ref ref;
  ref.memory = Memory::status, ref.access = Access::both;
  ref.offset = place_of(of, status_.data()), ref.bytes = sizeof(int32_t);
  return ref;
}

Ref PlanBuilder::control(int64_t offset, int64_t bytes, Access access) const {
  Ref of;
  of.memory = Memory::control, of.access = access;
  of.offset = offset, of.bytes = bytes;
  return of;
}

Ref PlanBuilder::scratch(int64_t bytes) {
  const int64_t at = align_up<int64_t>(control_bytes_, 256);
  control_bytes_ = at + bytes;
  return control(at, bytes, Access::write);
}

PlanBuilder::TileMap PlanBuilder::map_of(OperandId decision, OperandId ragged, int32_t times) {
  const OperandId rows = ragged == kNone ? decision : ragged;
  const auto known = maps_.find({leaf_, loop_, guarded(), rows, times});
  if (known != maps_.end()) return known->second;
  PlannedMapArgs args;
  args.decision = places(decision);
  args.limits.gemv_rows = 0;
  args.times = times;
  args.ref[PlannedMapArgs::kDecision] = ref(decision, Access::read);
  TileMap made;
  made.map = args.ref[PlannedMapArgs::kMap] = scratch(sizeof(int32_t) * kTileMapInts);
  made.map.access = Access::read;
  if (ragged != kNone) {
    args.members = ragged_places(ragged);
    args.ref[PlannedMapArgs::kMembers] = ref(ragged, Access::read);
  }
  if (ragged != kNone || times != 1) {
    made.offsets = args.ref[PlannedMapArgs::kOffsets] =
        scratch((args.decision.branches + 1) * int64_t{sizeof(int32_t)});
    made.offsets.access = Access::read;
  }
  // Runs in every branch: an absent one has an empty decision. In a body of a guard that is not due, no decision was
  // made.
  add<PlannedMapKernel>(args, 1, -1, guarded());
  return maps_[{leaf_, loop_, guarded(), rows, times}] = made;
}

void PlanBuilder::add_range(PlanNode& node, const Ref& of) {
  if (of.access == Access::none) return;
  if (of.entry >= 0) {
    const int64_t entry = of.entry * int64_t{sizeof(RowsEntry)};
    node.ranges.push_back({Memory::control, entry, entry + int64_t{sizeof(RowsEntry)}, false});
  }
  if (of.memory == Memory::outside || of.bytes == 0) return;
  node.ranges.push_back(
      {of.memory, of.offset, of.offset + of.bytes, of.access != Access::read, of.decision, of.branch, of.row_bytes});
}

Plan make_plan(const Program& program, WeightStore& weights, const CompileOptions& compile,
               const PlanOptions& options) {
  CompileOptions copied = compile;
  copied.rows = SentRows::copied;  // nobody looks whether rows could be lent
  PlannedSteps steps = plan_steps(program, weights, copied, plan_rows());
  if (options.change_memory) options.change_memory(program, steps.layout.memory);
  return PlanBuilder(program, copied, options, std::move(steps)).build();
}

}  // namespace stormcell::gpu
