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
#include "core/runtime/segments.h"
#include "core/runtime/shared_memory.h"
#include "core/runtime/state_rows.h"

namespace stormcell::cpu {
namespace {

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
}

/// A submission that goes on after weights were loaded keeps the counters.
void reset(const StatusArea& area, bool resumed) {
  if (resumed) {
    area.status->code = ExecutionStatus::done;
  } else {
    std::memset(static_cast<void*>(area.status), 0, static_cast<size_t>(area.without_events));
  }
}
void add_event(const StatusArea& area, const DeviceEvent& event) {
  ExecutionStatus& status = *area.status;
  if (static_cast<size_t>(status.events) < area.events.size()) {
    area.events[static_cast<size_t>(status.events++)] = event;
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
  CpuExecutable(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options, ThreadTeam& team,
                Communicator* communicator)
      : Executable(std::move(program)),
        team_(team),
        communicator_(communicator),
        bounds_(options.bounds),
        operands_(*program_),
        kernels_(make_kernels(*program_, weights, bounds_, team.size())),
        records_(*program_, operands_, layout_, bounds_, options.scores),
        turns_(program_->repeats.size()) {
    layout_.memory = plan_memory(*program_, bounds_);
    layout_.scratch_bytes = kernels_.scratch_bytes;
    layout_.most_events = most_events(*program_, bounds_);
    sort_weights(*program_, kernels_, weights, layout_);
    find_sites();
    segments_ = segments_of(*program_, layout_);
  }

  void allocate(const CompileOptions& options, MemorySpace& space) {
    space_ = &space;
    memory_ = options.memory;
    if (!memory_)
      memory_ = std::make_shared<SharedMemory>([&space](int64_t bytes, const std::string& what) { return space.allocate(bytes, what); });
    memory_->reserve(SharedPart::activations, layout_.memory.arena_bytes + layout_.scratch_bytes);
    memory_->reserve(SharedPart::records, layout_.record_bytes);
    memory_->reserve(SharedPart::status, StatusArea::bytes(*program_, layout_.most_events));
    states_ = space.allocate(layout_.memory.state_bytes, "states");
    place_operands();
  }

  const ExecutableLayout& layout() const override { return layout_; }
  void submit(Stream&, const Submission& submission) override { run(submission); }
  DeviceAddress address(int32_t operand) const override { return {reinterpret_cast<uint64_t>(operands_.base(operand))}; }
  DeviceAddress status() const override { return memory_->address(SharedPart::status); }
  DeviceAddress records() const override { return memory_->address(SharedPart::records); }

  void run(const Submission& submission) {
    try {
      run_steps(submission);
    } catch (...) {
      if (communicator_) communicator_->abandon();  // the other ranks must not wait for this one
      throw;
    }
  }

 private:
  /// A submission while it runs.
  struct Running {
    const Submission& submission;
    StatusArea area;
    std::byte* records;
  };
  static constexpr int32_t kStop = -1;  ///< instead of a next step: the submission ends, to be resumed at this one

  void find_sites() {
    site_of_.assign(program_->steps.size(), -1);
    parts_of_.resize(program_->operands.size());
    for (size_t i = 0; i < layout_.sites.size(); ++i) {
      const PartSite& site = layout_.sites[i];
      site_of_[site.step] = static_cast<int32_t>(i);
      std::vector<PartUse>& parts = parts_of_[site.decision];
      parts.insert(parts.end(), site.parts.begin(), site.parts.end());
      const auto branches = static_cast<size_t>(program_->operands[site.decision].branches);
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

  void run_steps(const Submission& s) {
    if (!begins_leaf(segments_, s.resume) && !program_->steps.empty())
      failed("plan", "a submission begins at step " + std::to_string(s.resume) + ", within a segment");
    // A larger plan that was compiled since has moved what they share.
    if (memory_->address(SharedPart::activations).value != placed_at_.value) place_operands();
    operands_.bind(s);
    Running running{
        s, {reinterpret_cast<std::byte*>(status().value), *program_, layout_.most_events}, reinterpret_cast<std::byte*>(records().value)};
    reset(running.area, s.resume != 0);
    weights_.addresses = reinterpret_cast<const DeviceAddress*>(s.weights.value);
    if (s.resume == 0) waiting_ = -1, waited_ns_ = 0;

    const PollingTeam polling(team_, s.cancel);
    const auto steps = static_cast<int32_t>(program_->steps.size());
    for (int32_t at = s.resume; at < steps;) {
      if (s.cancel) s.cancel->check();
      const Step& step = program_->steps[at];
      const uint64_t begin = s.events ? now_ns() : 0;
      if (at != waiting_) lives_.begin(at, *space_);  // else it has begun: waves before have left results
      const int32_t next = run_step(at, step, running);
      if (next == kStop) {
        if (s.events) waited_ns_ += now_ns() - begin;
        return;
      }
      if (s.events && step.kind == StepKind::kernel) {
        // One event a step: as long as its waves took together, what they waited for left out.
        add_event(running.area, {begin - waited_ns_, now_ns(), at, 0});
        waited_ns_ = 0;
      }
      lives_.end(at, next, *space_);
      if (running.area.status->code != ExecutionStatus::done) return;  // done, but for telling whom a router chose
      at = next;
    }
    if (s.cancel) s.cancel->check();  // the last kernel, too, may have ended early
  }

  /// The step to go on with.
  int32_t run_step(int32_t at, const Step& step, Running& running) {
    switch (step.kind) {
      case StepKind::kernel:
        return decide_or_compute(at, step, running);
      case StepKind::copy:
        return copy(at, step);
      case StepKind::save_rows:
        return save_rows(at, step);
      case StepKind::restore_rows:
        return restore_rows(at, step);
      case StepKind::skip_empty:
        return skip_empty(at, step, running);
      case StepKind::guard:
        return guard(at, step, running);
      case StepKind::need_weights:
        return need_weights(at, step, running);
      case StepKind::jump:
        return step.target;
      case StepKind::repeat_begin:
        return repeat_begin(at, step);
      case StepKind::repeat_end:
        return repeat_end(at, step);
      case StepKind::record:
        return record(at, step, running);
    }
    return at + 1;
  }

  int32_t decide_or_compute(int32_t at, const Step& step, Running& running) {
    const int32_t router = kernels_.router[at];
    if (router >= 0) {
      decide(at, step, running, router);
      tell_of_missing(at, step.outputs[0], running);
    } else if (site_of_[at] >= 0) {
      if (!compute_wave(at, step, running)) return kStop;
    } else {
      run_kernel(at, step, running, nullptr);
    }
    if (const int32_t ragged = kernels_.ragged[at]; ragged >= 0)
      running.area.ragged_cells[static_cast<size_t>(ragged)] += *operands_.ragged(step.outputs[0]).cells;
    return at + 1;
  }

  void decide(int32_t at, const Step& step, Running& running, int32_t router) {
    const Submission& s = running.submission;
    const auto index = static_cast<size_t>(router);
    int32_t* staged = index < s.replayed.size() ? reinterpret_cast<int32_t*>(s.replayed[index].value) : nullptr;
    const RouterTurn turn{router, turn_of(router)};
    run_kernel(at, step, running, staged ? records_.choices_to_replay(turn, staged, running.area.not_replayed[index]) : nullptr);
    if (staged) records_.leave_free_choices(turn, staged);
    if (s.record) records_.record_scores(router, kernels_.in[at][0], running.area.executions[index], running.records);
  }

  /// Of a step that reads parts, the branches whose parts are there and that no wave before has computed. False where others are left.
  bool compute_wave(int32_t at, const Step& step, Running& running) {
    const PartSite& site = layout_.sites[static_cast<size_t>(site_of_[at])];
    const DecisionView& d = operands_.decision(site.decision);
    if (waiting_ != at) std::fill(computed_.begin(), computed_.end(), uint8_t{0});
    const auto is_due = [&](const PartUse& part) { return d.load(part.branch) > 0 && !computed_[static_cast<size_t>(part.branch)]; };
    bool some = false, all = true;
    for (const PartUse& part : site.parts)
      if (is_due(part)) (weights_.address(part.handle) ? some : all) = bool(weights_.address(part.handle));
    if (some) run_kernel(at, step, running, nullptr, computed_.data());
    for (const PartUse& part : site.parts)
      if (is_due(part) && weights_.address(part.handle)) computed_[static_cast<size_t>(part.branch)] = 1;
    waiting_ = all ? -1 : at;
    if (!all) ask_for_parts(at, site.decision, running);
    return all;
  }

  /// Where a router chose branches whose parts are not there, the host is told at once: it reads them while what does not need them is
  /// computed.
  void tell_of_missing(int32_t at, int32_t decision, Running& running) const {
    const DecisionView& d = operands_.decision(decision);
    for (const PartUse& part : parts_of_[decision])
      if (d.load(part.branch) > 0 && !weights_.address(part.handle)) return ask_for_parts(at + 1, decision, running);
  }

  /// Ends the submission; it goes on at `resume`.
  void ask_for_parts(int32_t resume, int32_t decision, Running& running) const {
    ExecutionStatus& status = *running.area.status;
    status.code = ExecutionStatus::needs_weights;
    status.resume = resume;
    status.guard = -1;
    status.decision = decision;
    const DecisionView& d = operands_.decision(decision);
    for (int32_t b = 0; b < d.branches; ++b)
      running.area.branches[static_cast<size_t>(b)] = d.load(b) == 0                                                 ? kAbsentBranch
                                                      : resume == waiting_ && computed_[static_cast<size_t>(b)] != 0 ? kComputedBranch
                                                                                                                     : kWantedBranch;
  }

  void run_kernel(int32_t at, const Step& step, const Running& running, int32_t* replayed, const uint8_t* computed = nullptr) {
    std::vector<Rows>& in = kernels_.in[at];
    std::vector<Rows>& out = kernels_.out[at];
    for (size_t i = 0; i < in.size(); ++i) in[i] = operands_.resolve(step.inputs[i]);
    for (size_t i = 0; i < out.size(); ++i) out[i] = operands_.resolve(step.outputs[i]);
    const Submission& s = running.submission;
    kernels_.kernel[at]->run({team_, weights_, in, out, scratch_, s.bindings, replayed, communicator_, s.cancel, computed});
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
          std::memcpy(to.row(p, place), from.row(p, place), static_cast<size_t>(std::min(kPageRows, from.places - place) * from.row_bytes));
  }

  int32_t save_rows(int32_t at, const Step& step) const {
    range_of(step, step.inputs[0], step.outputs[0]).get(operands_.resolve(step.outputs[0]).data);
    return at + 1;
  }
  int32_t restore_rows(int32_t at, const Step& step) const {
    range_of(step, step.outputs[0], step.inputs[0]).put(operands_.resolve(step.inputs[0]).data);
    return at + 1;
  }
  /// Which rows of a state a save_rows or restore_rows step moves.
  PutRange range_of(const Step& step, int32_t state, int32_t saved) const {
    const PutRange range{operands_.resolve(state).state(operands_[state].row_bytes()), operands_.resolve(saved).groups,
                         step.inputs.size() > 1 ? operands_.resolve(step.inputs[1]).integers() : nullptr};
    range.check(program_->graph->node(step.node).name);
    return range;
  }

  /// Of an absent branch, what it would have made becomes empty; its routers have run over no cells, and are recorded so.
  int32_t skip_empty(int32_t at, const Step& step, Running& running) {
    if (operands_.decision(step.inputs[0]).load(step.branch) != 0) return at + 1;
    if (step.outputs.empty()) return step.target;
    for (const int32_t o : step.outputs)
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
    ++(hit ? running.area.hits : running.area.misses)[static_cast<size_t>(step.index)];
    return hit ? at + 1 : step.target;
  }

  int32_t need_weights(int32_t at, const Step& step, Running& running) const {
    for (const int32_t handle : layout_.lazy[step.index])
      if (!weights_.address(handle)) {
        running.area.status->code = ExecutionStatus::needs_weights;
        running.area.status->resume = at;
        running.area.status->guard = step.index;
        return kStop;
      }
    return at + 1;
  }

  int32_t repeat_begin(int32_t at, const Step& step) {
    turns_[step.index] = 0;
    return operands_.dim(step.most) <= 0 ? step.target : at + 1;
  }
  int32_t repeat_end(int32_t at, const Step& step) {
    const bool more = ++turns_[step.index] < operands_.dim(step.most);
    return more && operands_.scalar(step.inputs[0]) == 0 ? step.target : at + 1;
  }

  int32_t record(int32_t at, const Step& step, Running& running) {
    int32_t& execution = running.area.executions[static_cast<size_t>(step.index)];
    if (running.submission.record) records_.record(step, {step.index, turn_of(step.index)}, execution, running.records);
    ++execution;
    return at + 1;
  }
  // Not the executions so far: of a router that stands in both bodies of a guard, each has had its own.
  int32_t turn_of(int32_t router) const {
    const int32_t repeat = program_->routers[router].repeat;
    return repeat >= 0 ? static_cast<int32_t>(turns_[repeat]) : 0;
  }

  ThreadTeam& team_;
  Communicator* communicator_;
  MemorySpace* space_ = nullptr;
  Bindings bounds_;
  ExecutableLayout layout_;
  Operands operands_;
  StepKernels kernels_;
  RouterRecords records_;
  std::shared_ptr<SharedMemory> memory_;
  DeviceAddress placed_at_;  // of the activations that the operands and lives point into
  std::unique_ptr<DeviceBuffer> states_;
  BufferLives lives_;
  IdVector<int64_t> turns_;  // by repeat
  Segment segments_;
  WeightTable weights_;                      // of the submission
  IdVector<int32_t> site_of_;                // by step: index into layout_.sites, -1: it reads no parts under a budget
  IdVector<std::vector<PartUse>> parts_of_;  // by operand of a decision: of all its sites
  std::vector<uint8_t> computed_;            // by branch, of the step that waits
  int32_t waiting_ = -1;                     // the step that has run some of its waves
  uint64_t waited_ns_ = 0;                   // what those took
  std::byte* scratch_ = nullptr;
};

}  // namespace

std::unique_ptr<Executable> compile_for_cpu(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options,
                                            MemorySpace& space, ThreadTeam& team, Communicator* communicator) {
  auto executable = std::make_unique<CpuExecutable>(std::move(program), weights, options, team, communicator);
  executable->allocate(options, space);
  return executable;
}

ExecutableLayout layout_for_cpu(std::shared_ptr<const Program> program, WeightStore& weights, const CompileOptions& options,
                                ThreadTeam& team) {
  return CpuExecutable(std::move(program), weights, options, team, nullptr).layout();
}

void run_on_cpu(Executable& executable, const Submission& submission) { static_cast<CpuExecutable&>(executable).run(submission); }

}  // namespace stormcell::cpu
