// One loop over a program's steps for each submission, a function for each kind of step; it allocates nothing.
#include <time.h>

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/id_vector.h"
#include "core/cpu/buffer_lives.h"
#include "core/cpu/cpu_device.h"
#include "core/cpu/operands.h"
#include "core/cpu/router_records.h"
#include "core/cpu/step_kernels.h"
#include "core/runtime/resume.h"
#include "core/runtime/shared_memory.h"
#include "core/runtime/state_rows.h"

namespace stormcell::cpu {
namespace {

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

void add_event(const StatusArea& area, const DeviceEvent& event) {
  ExecutionStatus& status = *area.status;
  if (static_cast<size_t>(status.events) < area.events.size()) {
    area.events[status.events++] = event;
  } else {
    ++status.lost_events;
  }
}

/// The team polls the submission's token as long as the submission runs.
struct PollingTeam {
  PollingTeam(ThreadTeam& team, const CancellationToken* cancel) : team(team) { team.set_cancel(cancel); }
  ~PollingTeam() { team.set_cancel(nullptr); }
  PollingTeam(const PollingTeam&) = delete;
  PollingTeam& operator=(const PollingTeam&) = delete;
  ThreadTeam& team;
};

class CpuExecutable : public Executable {
 public:
  /// Lays everything out; allocate() makes it ready to run.
  CpuExecutable(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options,
                ThreadTeam& team)
      : Executable(std::move(program)),
        team_(team),
        bounds_(options.bounds),
        operands_(*program_),
        kernels_(make_kernels(*program_, weights, bounds_, team.size())),
        records_(*program_, operands_, layout_, bounds_, options.scores) {
    layout_.memory = plan_memory(*program_, bounds_, options.rows);
    layout_.scratch_bytes = kernels_.scratch_bytes;
    layout_.most_events = most_events(*program_, bounds_);
    sort_weights(*program_, kernels_.needs, weights, layout_);
    find_sites();
    layout_.ends_turns = options.end_turns;
    layout_.segments = segments_of(*program_, layout_);
  }

  void allocate(const CompileOptions& options, MemorySpace& space) {
    space_ = &space;
    memory_ = options.memory;
    if (!memory_)
      memory_ = std::make_shared<SharedMemory>(
          [&space](int64_t bytes, const std::string& what) { return space.allocate(bytes, what); });
    memory_->reserve(SharedPart::activations, layout_.memory.arena_bytes + layout_.scratch_bytes);
    memory_->reserve(SharedPart::records, layout_.record_bytes);
    memory_->reserve(SharedPart::status, StatusArea::bytes(*program_, layout_.most_events));
    states_ = space.allocate(layout_.memory.state_bytes, "states");
    place_operands();
  }

  const ExecutableLayout& layout() const override { return layout_; }
  /// Runs it now, on this thread.
  void submit(Stream&, const Submission& submission) override {
    // A larger plan that was compiled since has moved what they share.
    if (memory_->address(SharedPart::activations).value != placed_at_.value) place_operands();
    operands_.bind(submission);
    Running running{submission,
                    {reinterpret_cast<std::byte*>(status().value), *program_, layout_.most_events},
                    reinterpret_cast<std::byte*>(records().value)};
    weights_.addresses = reinterpret_cast<const DeviceAddress*>(submission.weights.value);
    run_steps(running, submission.leaf == 0 ? begin_anew(running) : resume(running));
  }
  DeviceAddress address(OperandId operand) const override {
    return {reinterpret_cast<uint64_t>(operands_.base(operand))};
  }
  DeviceAddress status() const override { return memory_->address(SharedPart::status); }
  DeviceAddress records() const override { return memory_->address(SharedPart::records); }

 private:
  /// A submission while it runs.
  struct Running {
    const Submission& submission;
    StatusArea area;
    std::byte* records;
  };

  /// The step to begin with.
  int32_t begin_anew(const Running& running) {
    std::memset(static_cast<void*>(running.area.status), 0, static_cast<size_t>(running.area.without_events));
    waiting_ = -1;
    return 0;
  }

  /// The step at which the last submission ended. The status tells which branches it has computed.
  int32_t resume(const Running& running) {
    const StatusArea& area = running.area;
    const int32_t at = go_on(*program_, layout_.segments, running.submission, area).begin;
    waiting_ = -1;
    // A turn may begin with a step that waited in the turn before: what it computed then is no longer there.
    const bool waited = site_of_[at] >= 0 && area.status->decision != kNone;
    for (size_t b = 0; waited && b < computed_.size(); ++b) {
      computed_[b] = b < area.branches.size() && area.branches[b] == kComputedBranch;
      if (computed_[b]) waiting_ = at;
    }
    if (waiting_ < 0) area.status->waited_ns = 0;
    return at;
  }

  void find_sites() {
    site_of_.assign(program_->steps.size(), -1);
    parts_of_.resize(program_->operands.size());
    for (size_t i = 0; i < layout_.sites.size(); ++i) {
      const PartSite& site = layout_.sites[i];
      site_of_[site.step] = static_cast<int32_t>(i);
      std::vector<PartUse>& parts = parts_of_[site.decision];
      parts.insert(parts.end(), site.parts.begin(), site.parts.end());
      const size_t branches = program_->operands[site.decision].branches;
      if (computed_.size() < branches) computed_.resize(branches);
    }
  }

  void place_operands() {
    placed_at_ = memory_->address(SharedPart::activations);
    auto* arena = reinterpret_cast<std::byte*>(placed_at_.value);
    scratch_ = arena + layout_.memory.arena_bytes;
    operands_.place(layout_.memory, arena, reinterpret_cast<std::byte*>(states_->address().value), bounds_);
    if (space_->watches()) lives_.note(*program_, layout_.memory, arena, bounds_);
  }

  void run_steps(Running& running, int32_t first) {
    const Submission& s = running.submission;
    ExecutionStatus& status = *running.area.status;
    const PollingTeam polling(team_, s.cancel);
    const int32_t steps = program_->steps.size();
    for (int32_t at = first; at < steps;) {
      if (s.cancel) s.cancel->check();
      const Step& step = program_->steps[at];
      const uint64_t begin = s.events ? now_ns() : 0;
      if (at != waiting_) lives_.begin(at, *space_);  // else it has begun: waves before have left results
      const int32_t next = run_step(at, step, running);
      if (status.code == ExecutionStatus::failed) return;
      const bool ends = status.code != ExecutionStatus::done;
      if (ends && next == at) {
        if (s.events) status.waited_ns += now_ns() - begin;
        return;
      }
      if (s.events && step.kind == StepKind::kernel) {
        // One event a step: as long as its waves took together, what they waited for left out.
        add_event(running.area, {begin - status.waited_ns, now_ns(), at, 0});
        status.waited_ns = 0;
      }
      lives_.end(at, next, *space_);
      if (ends) return;
      at = next;
    }
    if (s.cancel) s.cancel->check();  // the last kernel, too, may have ended early
  }

  /// Runs a step and returns the one to go on with. If the status says that the submission ends, the next one goes on
  /// there: at the same step, if that one waits and is not done. Nowhere if it says that the step failed.
  int32_t run_step(int32_t at, const Step& step, Running& running) {
    switch (step.kind) {
      case StepKind::kernel:
        return decide_or_compute(at, step, running);
      case StepKind::send:
        return send(at, step, running);
      case StepKind::copy:
        return copy(at, step);
      case StepKind::save_rows:
        return save_rows(at, step, running);
      case StepKind::restore_rows:
        return restore_rows(at, step, running);
      case StepKind::skip_empty:
        return skip_empty(at, step, running);
      case StepKind::guard:
        return guard(at, step, running);
      case StepKind::need_weights:
        return need_weights(at, step, running);
      case StepKind::jump:
        return step.target;
      case StepKind::repeat_begin:
        return repeat_begin(at, step, running);
      case StepKind::repeat_end:
        return repeat_end(at, step, running);
      case StepKind::record:
        return record(at, step, running);
    }
    return at + 1;
  }

  int32_t decide_or_compute(int32_t at, const Step& step, Running& running) {
    const RouterId router = kernels_.needs[at].router;
    if (router != kNone) {
      decide(at, step, running, router);
    } else if (site_of_[at] >= 0) {
      if (!compute_wave(at, step, running)) return at;
    } else {
      run_kernel(at, step, running, nullptr);
    }
    // The outputs of a failed step are not there.
    if (running.area.status->code == ExecutionStatus::failed) return at;
    if (const int32_t ragged = kernels_.needs[at].ragged; ragged >= 0)
      running.area.ragged_cells[ragged] += *operands_.ragged(step.outputs[0]).cells;
    if (!step.outputs.empty()) tell_of_missing(at, step.outputs[0], running);
    return at + 1;
  }

  int32_t send(int32_t at, const Step& step, Running& running) {
    run_kernel(at, step, running, nullptr);
    if (running.area.status->code == ExecutionStatus::failed) return at;
    end_at(at + 1, ExecutionStatus::exchange, running);
    return at + 1;
  }

  /// The submission ends, to go on at the leaf that begins with a step.
  ExecutionStatus& end_at(int32_t step, ExecutionStatus::Code code, Running& running) const {
    ExecutionStatus& status = *running.area.status;
    status.code = code;
    status.leaf = layout_.segments.leaf_at(step);
    status.guard = kNone;
    status.decision = kNone;
    if (status.leaf < 0) failed("plan", "step " + std::to_string(step) + " asks for the host within a segment");
    return status;
  }

  void decide(int32_t at, const Step& step, Running& running, RouterId router) {
    const Submission& s = running.submission;
    const auto index = static_cast<size_t>(router);
    int32_t* staged = s.replayed.holds(router) ? reinterpret_cast<int32_t*>(s.replayed[router].value) : nullptr;
    const RouterTurn turn{router, turn_of(router, running)};
    run_kernel(at, step, running,
               staged ? records_.choices_to_replay(turn, staged, running.area.not_replayed[index]) : nullptr);
    if (running.area.status->code == ExecutionStatus::failed) return;
    if (staged) records_.leave_free_choices(turn, staged);
    if (s.record)
      records_.record_scores(router, kernels_.of[at].in[0], running.area.executions[index], running.records);
  }

  /// Computes, for a step that reads parts, the branches whose parts are there, except those of an earlier wave. False:
  /// others are left.
  bool compute_wave(int32_t at, const Step& step, Running& running) {
    const PartSite& site = layout_.sites[site_of_[at]];
    const DecisionView& d = operands_.decision(site.decision);
    if (waiting_ != at) std::fill(computed_.begin(), computed_.end(), uint8_t{0});
    const auto is_due = [&](const PartUse& part) { return d.load(part.branch) > 0 && !computed_[part.branch]; };
    bool some = false, all = true;
    for (const PartUse& part : site.parts) {
      if (!is_due(part)) continue;
      const bool is_there = bool(weights_.address(part.handle));
      if (is_there) some = true;
      if (!is_there) all = false;
    }
    if (some) run_kernel(at, step, running, nullptr, computed_.data());
    if (running.area.status->code == ExecutionStatus::failed) return false;
    for (const PartUse& part : site.parts)
      if (is_due(part) && weights_.address(part.handle)) computed_[part.branch] = 1;
    waiting_ = all ? -1 : at;
    if (!all) ask_for_parts(at, site.decision, running);
    return all;
  }

  /// Tells the host at once if branches get cells, by a router or from other ranks, and their parts are not there: the
  /// host reads them while steps that do not need them are computed.
  void tell_of_missing(int32_t at, OperandId decision, Running& running) const {
    const DecisionView& d = operands_.decision(decision);
    for (const PartUse& part : parts_of_[decision])
      if (d.load(part.branch) > 0 && !weights_.address(part.handle)) return ask_for_parts(at + 1, decision, running);
  }

  /// Ends the submission; it goes on at `resume`.
  void ask_for_parts(int32_t resume, OperandId decision, Running& running) const {
    end_at(resume, ExecutionStatus::needs_weights, running).decision = decision;
    const DecisionView& d = operands_.decision(decision);
    for (int32_t b = 0; b < d.branches; ++b)
      running.area.branches[b] = d.load(b) == 0                            ? kAbsentBranch
                                 : resume == waiting_ && computed_[b] != 0 ? kComputedBranch
                                                                           : kWantedBranch;
  }

  void run_kernel(int32_t at, const Step& step, const Running& running, int32_t* replayed,
                  const uint8_t* computed = nullptr) {
    StepKernel& of = kernels_.of[at];
    for (size_t i = 0; i < of.in.size(); ++i) of.in[i] = operands_.resolve(step.inputs[i]);
    for (size_t i = 0; i < of.out.size(); ++i) of.out[i] = operands_.resolve(step.outputs[i]);
    const Submission& s = running.submission;
    of.kernel->run({team_, weights_, of.in, of.out, scratch_, s.bindings, replayed, &running.area, s.cancel, computed});
  }

  int32_t copy(int32_t at, const Step& step) const {
    const Rows from = operands_.resolve(step.inputs[0]), to = operands_.resolve(step.outputs[0]);
    const int64_t row_bytes = operands_[step.inputs[0]].row_bytes();
    if (from.pages || to.pages) {
      copy_pages(from.state(row_bytes), to.state(row_bytes), from.groups.parents);
    } else {
      std::memmove(to.data, from.data, static_cast<size_t>(from.rows * row_bytes));
    }
    return at + 1;
  }
  static void copy_pages(const StateRows& from, const StateRows& to, int64_t parents) {
    for (int64_t p = 0; p < parents; ++p)
      for (int64_t place = 0; place < from.places; place += kPageRows)
        if (from.has(p, place) && to.has(p, place))
          std::memcpy(to.row(p, place), from.row(p, place),
                      static_cast<size_t>(std::min(kPageRows, from.places - place) * from.row_bytes));
  }

  int32_t save_rows(int32_t at, const Step& step, Running& running) const {
    const PutRange range = range_of(step, step.inputs[0], step.outputs[0]);
    if (is_there(range, step, running)) range.get(operands_.resolve(step.outputs[0]).data);
    return at + 1;
  }
  int32_t restore_rows(int32_t at, const Step& step, Running& running) const {
    const PutRange range = range_of(step, step.outputs[0], step.inputs[0]);
    if (is_there(range, step, running)) range.put(operands_.resolve(step.inputs[0]).data);
    return at + 1;
  }
  /// The rows of a state that a save_rows or restore_rows step moves.
  PutRange range_of(const Step& step, OperandId state, OperandId saved) const {
    return {operands_.resolve(state).state(operands_[state].row_bytes()), operands_.resolve(saved).groups,
            step.inputs.size() > 1 ? operands_.resolve(step.inputs[1]).integers() : nullptr};
  }
  /// False where the step fails: the state has no room for the rows.
  static bool is_there(const PutRange& range, const Step& step, Running& running) {
    const StepFailure failure = range.check();
    if (failure) running.area.status->fail(step.node, failure);
    return !failure;
  }

  /// Empties what an absent branch would have made. Its routers have run over no cells, and are recorded so.
  int32_t skip_empty(int32_t at, const Step& step, Running& running) {
    if (operands_.decision(step.inputs[0]).load(step.branch) != 0) return at + 1;
    if (step.outputs.empty()) return step.target;
    for (const OperandId o : step.outputs)
      if (operands_[o].is_ragged) {
        const RaggedView& r = operands_.ragged(o);
        *r.cells = *r.parents = r.offsets[0] = 0;
      }
    for (int32_t inner = at + 1; inner < step.target; ++inner)
      if (const Step& skipped = program_->steps[inner]; skipped.kind == StepKind::record) {
        DecisionView d = operands_.decision(skipped.inputs[0]);
        index_decision(d, 0);
        record(inner, skipped, running);
      }
    return step.target;
  }

  int32_t guard(int32_t at, const Step& step, Running& running) const {
    const bool hit = operands_.scalar(step.inputs[0]) != 0;
    ++(hit ? running.area.hits : running.area.misses)[step.guard];
    return hit ? at + 1 : step.target;
  }

  int32_t need_weights(int32_t at, const Step& step, Running& running) const {
    for (const WeightHandle handle : layout_.lazy[step.guard])
      if (!weights_.address(handle)) {
        end_at(at, ExecutionStatus::needs_weights, running).guard = step.guard;
        return at;
      }
    return at + 1;
  }

  int32_t repeat_begin(int32_t at, const Step& step, Running& running) const {
    running.area.turns[step.repeat] = 0;
    return operands_.dim(step.most) <= 0 ? step.target : begin_turn(at + 1, running);
  }
  int32_t repeat_end(int32_t at, const Step& step, Running& running) const {
    const bool more = ++running.area.turns[step.repeat] < operands_.dim(step.most);
    return more && operands_.scalar(step.inputs[0]) == 0 ? begin_turn(step.target, running) : at + 1;
  }
  /// The first step of a turn.
  int32_t begin_turn(int32_t first, Running& running) const {
    if (layout_.ends_turns) end_at(first, ExecutionStatus::turn, running);
    return first;
  }

  int32_t record(int32_t at, const Step& step, Running& running) {
    int32_t& execution = running.area.executions[step.router];
    if (running.submission.record)
      records_.record(step, {step.router, turn_of(step.router, running)}, execution, running.records);
    ++execution;
    return at + 1;
  }
  // Not the executions so far: a router in both bodies of a guard has its own in each.
  int32_t turn_of(RouterId router, const Running& running) const {
    const RepeatId repeat = program_->routers[router].repeat;
    return repeat != kNone ? running.area.turns[repeat] : 0;
  }

  ThreadTeam& team_;
  MemorySpace* space_ = nullptr;
  Bindings bounds_;
  ExecutableLayout layout_;
  Operands operands_;
  StepKernels kernels_;
  RouterRecords records_;
  std::shared_ptr<SharedMemory> memory_;
  DeviceAddress placed_at_;  // the activations that the operands and lives point into
  std::unique_ptr<DeviceBuffer> states_;
  BufferLives lives_;
  WeightTable weights_;                 // weights of the submission
  IdVector<int32_t, int32_t> site_of_;  // by step: index into layout_.sites; -1: it reads no parts under a budget
  IdVector<OperandId, std::vector<PartUse>> parts_of_;  // by decision: the parts of all its sites
  std::vector<uint8_t> computed_;  // by branch, for the step that waits: as the status has it between submissions
  int32_t waiting_ = -1;           // the step that has run some of its waves
  std::byte* scratch_ = nullptr;
};

}  // namespace

std::unique_ptr<Executable> compile_for_cpu(std::shared_ptr<const Program> program, WeightStore& weights,
                                            const CompileOptions& options, MemorySpace& space, ThreadTeam& team) {
  auto executable = std::make_unique<CpuExecutable>(std::move(program), weights, options, team);
  executable->allocate(options, space);
  return executable;
}

ExecutableLayout layout_for_cpu(std::shared_ptr<const Program> program, WeightStore& weights,
                                const CompileOptions& options, ThreadTeam& team) {
  return CpuExecutable(std::move(program), weights, options, team).layout();
}

}  // namespace stormcell::cpu
