// Steps to kernels and memory, once; then one loop over the steps for each submission, which allocates nothing.
#include <time.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "core/base/error.h"
#include "core/cpu/cell_chain.h"
#include "core/cpu/cpu_device.h"
#include "core/cpu/cpu_kernel.h"
#include "core/runtime/put_range.h"
#include "core/runtime/shared_memory.h"

namespace stormcell::cpu {
namespace {

uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1000000000u + static_cast<uint64_t>(t.tv_nsec);
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
      : Executable(std::move(program)), weights_(weights), team_(team), communicator_(communicator) {
    layout_.memory = plan_memory(*program_, options.bounds);
    compile_steps(options.bounds);
    find_chains(options.bounds);
    collect_weights();
    lay_out_records(options);
    count_events(options.bounds);
  }

  void allocate(const CompileOptions& options, MemorySpace& space) {
    space_ = &space;
    bounds_ = options.bounds;
    memory_ = options.memory;
    if (!memory_)
      memory_ = std::make_shared<SharedMemory>([&space](int64_t bytes, const std::string& what) { return space.allocate(bytes, what); });
    memory_->reserve(SharedPart::activations, layout_.memory.arena_bytes + layout_.scratch_bytes);
    memory_->reserve(SharedPart::records, layout_.record_bytes);
    memory_->reserve(SharedPart::status, status_bytes() + int64_t{layout_.most_events} * static_cast<int64_t>(sizeof(DeviceEvent)));
    states_ = space.allocate(layout_.memory.state_bytes, "states");
    place_operands();
    dims_.resize(program_->dims.size());
    turns_.resize(program_->repeats.size());
  }

  const ExecutableLayout& layout() const override { return layout_; }
  void submit(Stream&, const Submission& submission) override { run(submission); }
  DeviceAddress address(int32_t operand) const override { return {reinterpret_cast<uint64_t>(base_[static_cast<size_t>(operand)])}; }
  DeviceAddress status() const override { return memory_->address(SharedPart::status); }
  DeviceAddress records() const override { return memory_->address(SharedPart::records); }

  void run(const Submission& s) {
    try {
      run_steps(s);
    } catch (...) {
      if (communicator_) communicator_->abandon();  // the other ranks must not wait for this one
      throw;
    }
  }

 private:
  void run_steps(const Submission& s) {
    const Program& p = *program_;
    // A larger plan that was compiled since has moved what they share.
    if (memory_->address(SharedPart::activations).value != placed_at_.value) place_operands();
    for (size_t i = 0; i < dims_.size(); ++i) dims_[i] = p.dims[i].evaluate(s.bindings);
    for (size_t i = 0; i < p.inputs.size(); ++i) base_[static_cast<size_t>(p.inputs[i])] = reinterpret_cast<std::byte*>(s.inputs[i].value);
    auto* state = reinterpret_cast<std::byte*>(this->status().value);
    auto& status = *reinterpret_cast<ExecutionStatus*>(state);
    auto* hits = reinterpret_cast<int32_t*>(state + sizeof(ExecutionStatus));
    int32_t* misses = hits + p.guards.size();
    int32_t* executions = misses + p.guards.size();
    int32_t* unforced = executions + p.routers.size();
    int32_t* ragged_cells = unforced + p.routers.size();
    auto* events = reinterpret_cast<DeviceEvent*>(state + status_bytes());
    if (s.resume == 0) {
      std::memset(state, 0, static_cast<size_t>(status_bytes()));
    } else {
      status.code = ExecutionStatus::done;
    }

    const PollingTeam polling(team_, s.cancel);
    const auto steps = static_cast<int32_t>(p.steps.size());
    for (int32_t at = s.resume; at < steps;) {
      if (s.cancel) s.cancel->check();
      const Step& step = p.steps[static_cast<size_t>(at)];
      const uint64_t begin = s.events ? now_ns() : 0;
      int32_t next = at + 1;
      if (!begins_.empty()) forget(begins_[static_cast<size_t>(at)]);
      switch (step.kind) {
        case StepKind::kernel: {
          int32_t* forced = nullptr;
          const int32_t router = router_of_[static_cast<size_t>(at)];
          if (router >= 0 && static_cast<size_t>(router) < s.forced.size() && s.forced[static_cast<size_t>(router)])
            forced = choices_to_replay(router, reinterpret_cast<int32_t*>(s.forced[static_cast<size_t>(router)].value), unforced[router]);
          run_kernel(at, s, forced);
          if (forced) leave_free_choices(router, reinterpret_cast<int32_t*>(s.forced[static_cast<size_t>(router)].value));
          // Here, and not in the record step: the scores' memory is free for others as soon as this step is done.
          if (s.record && router >= 0) record_scores(router, ins_[static_cast<size_t>(at)][0], executions[router]);
          if (const int32_t ragged = ragged_of_[static_cast<size_t>(at)]; ragged >= 0)
            ragged_cells[ragged] += *raggeds_[static_cast<size_t>(step.outputs[0])].cells;
          break;
        }
        case StepKind::copy: {
          const Rows from = resolve(step.inputs[0]), to = resolve(step.outputs[0]);
          const Operand& o = p.operands[static_cast<size_t>(step.inputs[0])];
          std::memmove(to.data, from.data, static_cast<size_t>(from.rows * o.row_bytes()));
          break;
        }
        case StepKind::save_rows:
          range_of(step, step.outputs[0]).get(resolve(step.inputs[0]).data, resolve(step.outputs[0]).data);
          break;
        case StepKind::restore_rows:
          range_of(step, step.inputs[0]).put(resolve(step.outputs[0]).data, resolve(step.inputs[0]).data);
          break;
        case StepKind::skip_empty:
          if (decision(step.inputs[0]).load(step.branch) == 0) {
            next = step.target;
            for (const int32_t o : step.outputs)
              if (p.operands[static_cast<size_t>(o)].is_ragged) clear(raggeds_[static_cast<size_t>(o)]);
            for (int32_t inner = at + 1; inner < step.target && !step.outputs.empty(); ++inner)
              if (const Step& skipped = p.steps[static_cast<size_t>(inner)]; skipped.kind == StepKind::record) {
                DecisionView d = decision(skipped.inputs[0]);
                index_decision(d, 0);
                if (s.record) record(skipped, executions[skipped.index]);
                ++executions[skipped.index];
              }
          }
          break;
        case StepKind::guard:
          if (*resolve(step.inputs[0]).integers() != 0) {
            ++hits[step.index];
          } else {
            ++misses[step.index];
            next = step.target;
          }
          break;
        case StepKind::need_weights:
          for (const int32_t handle : layout_.lazy[static_cast<size_t>(step.index)])
            if (!weights_.loaded(handle)) {
              status.code = ExecutionStatus::needs_weights;
              status.resume = at;
              status.guard = step.index;
              return;
            }
          break;
        case StepKind::jump:
          next = step.target;
          break;
        case StepKind::repeat_begin:
          turns_[static_cast<size_t>(step.index)] = 0;
          if (dims_[static_cast<size_t>(step.most)] <= 0) next = step.target;
          break;
        case StepKind::repeat_end:
          if (++turns_[static_cast<size_t>(step.index)] < dims_[static_cast<size_t>(step.most)] && *resolve(step.inputs[0]).integers() == 0)
            next = step.target;
          break;
        case StepKind::record:
          if (s.record) record(step, executions[step.index]);
          ++executions[step.index];
          break;
      }
      if (s.events && step.kind == StepKind::kernel) {
        if (status.events < layout_.most_events) {
          events[status.events++] = {begin, now_ns(), at, 0};
        } else {
          ++status.lost_events;
        }
      }
      // What a jump passes over ends, too; nothing ends where a repeat begins anew.
      if (!ends_.empty())
        for (int32_t passed = at; passed < next; ++passed) forget(ends_[static_cast<size_t>(passed)]);
      at = next;
    }
    if (s.cancel) s.cancel->check();  // the last kernel, too, may have ended early
  }

  void compile_steps(const Bindings& bounds) {
    const Program& p = *program_;
    kernels_.resize(p.steps.size());
    requested_.resize(p.steps.size());
    router_of_.assign(p.steps.size(), -1);
    ragged_of_.assign(p.steps.size(), -1);
    ins_.resize(p.steps.size());
    outs_.resize(p.steps.size());
    for (size_t i = 0; i < p.steps.size(); ++i) {
      const Step& step = p.steps[i];
      if (step.kind != StepKind::kernel) continue;
      ins_[i].resize(step.inputs.size());
      outs_[i].resize(step.outputs.size());
      const Node& node = p.graph->node(step.node);
      const Making making{p, step, weights_, bounds, team_.size(), requested_[i]};
      for (const KernelRow& row : kernel_list()) {
        if (row.op != node.op->name) continue;
        if ((kernels_[i] = row.make(making))) break;
      }
      if (!kernels_[i]) failed(std::string(node.op->name) + " \"" + node.name + "\"", "no CPU kernel");
      layout_.scratch_bytes = std::max(layout_.scratch_bytes, (kernels_[i]->scratch_bytes() + 63) / 64 * 64);
      for (size_t r = 0; r < p.routers.size(); ++r)
        if (p.routers[r].node == step.node) router_of_[i] = static_cast<int32_t>(r);
      for (size_t r = 0; r < p.raggeds.size(); ++r)
        if (!step.outputs.empty() && p.raggeds[r] == step.outputs[0]) ragged_of_[i] = static_cast<int32_t>(r);
    }
  }

  // How a decision's cells are followed to the dense ones: the record step behind each router has what that takes as inputs.
  void find_chains(const Bindings& bounds) {
    const Program& p = *program_;
    chains_.resize(p.routers.size());
    score_operand_.resize(p.routers.size());
    int64_t choices = 0;
    for (size_t i = 0; i < p.steps.size(); ++i) {
      const Step& step = p.steps[i];
      if (step.kind != StepKind::record) continue;
      const ProgramRouter& router = p.routers[static_cast<size_t>(step.index)];
      const Operand& d = p.operands[static_cast<size_t>(router.decision)];
      const SpaceId space = p.graph->value(d.value).type.space;
      auto& [chain, operands, rows] = chains_[static_cast<size_t>(step.index)];
      chain = CellChain(cell_chain(*p.graph, space, router.dense_space), 1);
      operands = step.inputs;
      rows.resize(operands.size());
      // The router's own step stands before its record.
      score_operand_[static_cast<size_t>(step.index)] = p.steps[i - 1].inputs[0];
      choices = std::max(choices, p.dims[static_cast<size_t>(d.decision_cells)].evaluate(bounds) * d.fan_out);
    }
    forced_.resize(static_cast<size_t>(choices));
  }

  // A handle that only steps of fallbacks read is loaded when the first guard misses whose fallback reads it.
  void collect_weights() {
    const Program& p = *program_;
    layout_.lazy.resize(p.guards.size());
    std::map<int32_t, std::set<int32_t>> guards;  // -1: a step outside of fallbacks
    for (size_t i = 0; i < p.steps.size(); ++i)
      for (const int32_t handle : requested_[i]) guards[handle].insert(p.steps[i].fallback);
    for (const auto& [handle, readers] : guards) {
      if (readers.contains(-1)) {
        layout_.always.push_back(handle);
      } else {
        for (const int32_t guard : readers) layout_.lazy[static_cast<size_t>(guard)].push_back(handle);
      }
    }
  }

  /// Columns of the scores that a router reads: none of one that goes by labels.
  int32_t score_columns(const ProgramRouter& router) const {
    const Graph& g = *program_->graph;
    const Node& node = g.node(router.node);
    const TensorType& scores = g.value(node.inputs[0]).type;
    if (node.op->name != "route" || scores.dtype != DType::f32) return 0;
    return static_cast<int32_t>(scores.content.at(0).constant());
  }

  void lay_out_records(const CompileOptions& options) {
    const Program& p = *program_;
    const Bindings& bounds = options.bounds;
    for (const ProgramRouter& r : p.routers) {
      layout_.score_columns.push_back(options.scores ? score_columns(r) : 0);
      const Operand& d = p.operands[static_cast<size_t>(r.decision)];
      const int64_t cells = p.dims[static_cast<size_t>(d.decision_cells)].evaluate(bounds);
      const int64_t bytes = record_parts({cells, d.fan_out, d.branches}, layout_.score_columns.back()).bytes;
      layout_.record_offset.push_back(layout_.record_bytes);
      layout_.record_size.push_back(bytes);
      layout_.record_cells.push_back(cells);
      layout_.record_bytes += bytes * p.dims[static_cast<size_t>(r.executions)].evaluate(bounds);
    }
  }

  // One event a kernel, those of a repeat in each of its turns, as far as the bound goes.
  void count_events(const Bindings& bounds) {
    int64_t events = 0;
    std::vector<int64_t> turns{1};  // of the repeats that are open
    for (const Step& step : program_->steps) {
      if (step.kind == StepKind::kernel) events += turns.back();
      if (step.kind == StepKind::repeat_end) turns.pop_back();
      if (step.kind == StepKind::repeat_begin)
        turns.push_back(
            std::clamp<int64_t>(turns.back() * program_->dims[static_cast<size_t>(step.most)].evaluate(bounds), 0, kMostEvents));
    }
    layout_.most_events = static_cast<int32_t>(std::min<int64_t>(events, kMostEvents));
  }

  void place_operands() {
    const Program& p = *program_;
    placed_at_ = memory_->address(SharedPart::activations);
    auto* arena = reinterpret_cast<std::byte*>(placed_at_.value);
    auto* states = reinterpret_cast<std::byte*>(states_->address().value);
    scratch_ = arena + layout_.memory.arena_bytes;
    base_.assign(p.operands.size(), nullptr);
    decisions_.resize(p.operands.size());
    raggeds_.resize(p.operands.size());
    for (size_t i = 0; i < p.operands.size(); ++i) {
      const Operand& o = p.operands[i];
      if (o.kind == BufferKind::arena) base_[i] = arena + layout_.memory.offset[static_cast<size_t>(o.buffer)];
      if (o.kind == BufferKind::state) base_[i] = states + layout_.memory.offset[static_cast<size_t>(o.buffer)];
      if (o.is_ragged)
        raggeds_[i] = ragged_view(base_[i], {p.dims[static_cast<size_t>(o.ragged_parents)].evaluate(bounds_),
                                             p.dims[static_cast<size_t>(o.ragged_cells)].evaluate(bounds_)});
      if (o.is_decision)
        decisions_[i] = decision_view(base_[i], {p.dims[static_cast<size_t>(o.decision_cells)].evaluate(bounds_), o.fan_out, o.branches});
    }
    if (space_->watches()) note_lives(bounds_);
  }

  struct Life {
    std::byte* from;
    int64_t bytes;
  };
  void note_lives(const Bindings& bounds) {
    begins_.assign(program_->steps.size(), {});
    ends_.assign(program_->steps.size(), {});
    for (size_t i = 0; i < program_->buffers.size(); ++i) {
      const ProgramBuffer& b = program_->buffers[i];
      if (b.kind != BufferKind::arena) continue;
      const Life life{reinterpret_cast<std::byte*>(placed_at_.value) + layout_.memory.offset[i], b.bytes.evaluate(bounds)};
      if (b.first < static_cast<int32_t>(begins_.size())) begins_[static_cast<size_t>(b.first)].push_back(life);
      if (b.last < static_cast<int32_t>(ends_.size())) ends_[static_cast<size_t>(b.last)].push_back(life);
    }
  }
  void forget(const std::vector<Life>& lives) const {
    for (const Life& life : lives) space_->forget(life.from, life.bytes);
  }

  const DecisionView& decision(int32_t operand) const { return decisions_[static_cast<size_t>(operand)]; }

  Rows resolve(int32_t index) const {
    const Operand& o = program_->operands[static_cast<size_t>(index)];
    Rows r;
    r.data = base_[static_cast<size_t>(index)];
    r.width = o.width;
    if (o.is_decision) {
      r.decision = &decision(index);
      r.rows = *r.decision->cells;
      return r;
    }
    if (o.is_ragged) {
      r.ragged = &raggeds_[static_cast<size_t>(index)];
      r.rows = *r.ragged->cells;
      return r;
    }
    if (o.rows < 0) return r;
    if (o.ragged >= 0) {
      const RaggedView& v = raggeds_[static_cast<size_t>(o.ragged)];
      int32_t first = 0, end = *v.parents;
      if (o.decision >= 0 && o.branch != kAllBranches) {
        const DecisionView& d = decision(o.decision);
        first = d.offsets[o.branch], end = d.offsets[o.branch + 1];
      }
      r.groups = ragged_groups(v, first, end);
      r.rows = r.groups.cells();
    } else if (o.decision >= 0) {
      const DecisionView& d = decision(o.decision);
      r.rows = o.branch == kAllBranches ? d.offsets[d.branches] : d.load(o.branch);
      if (o.in_slots) r.data += d.offsets[o.branch] * o.row_bytes();
    } else {
      r.rows = dims_[static_cast<size_t>(o.rows)];
    }
    if (o.times >= 0) r.rows *= dims_[static_cast<size_t>(o.times)];
    if (o.per_parent >= 0) {
      const int64_t each = dims_[static_cast<size_t>(o.per_parent)];
      r.groups = {};
      r.groups.per_parent = each;
      r.groups.parents = each > 0 ? r.rows / each : 0;
    }
    return r;
  }

  /// Which rows of a state a save_rows or restore_rows step moves; `saved` is the operand of the saved rows.
  PutRange range_of(const Step& step, int32_t saved) const {
    const int64_t places = dims_[static_cast<size_t>(step.room)], rows = dims_[static_cast<size_t>(step.rows)];
    const int64_t at = step.inputs.size() > 1 ? *resolve(step.inputs[1]).integers() : 0;
    expect_places(program_->graph->node(step.node).name, places, rows, at);
    const int64_t all = resolve(saved).rows;
    return {places, rows, at, rows > 0 ? all / rows : 0, program_->operands[static_cast<size_t>(saved)].row_bytes()};
  }

  // Not the executions so far: of a router that stands in both bodies of a guard, each has had its own.
  int32_t turn_of(int32_t router) const {
    const int32_t repeat = program_->routers[static_cast<size_t>(router)].repeat;
    return repeat >= 0 ? static_cast<int32_t>(turns_[static_cast<size_t>(repeat)]) : 0;
  }

  /// The choices of the cells that came, from those of all cells of the dense space; kNotRecorded where a cell has none.
  int32_t* choices_to_replay(int32_t index, const int32_t* staged, int32_t& unforced) {
    const ProgramRouter& router = program_->routers[static_cast<size_t>(index)];
    const Operand& d = program_->operands[static_cast<size_t>(router.decision)];
    auto& [chain, operands, rows] = chains_[static_cast<size_t>(index)];
    for (size_t i = 1; i < operands.size(); ++i) rows[i] = resolve(operands[i]);
    const int64_t cells = rows_of_scores(index), all = dims_[static_cast<size_t>(router.by_row ? router.dense_cells : d.decision_cells)];
    staged += turn_of(index) * all * d.fan_out;
    for (int64_t c = 0; c < cells; ++c) {
      const int32_t* from = staged + (router.by_row ? chain.follow(rows, c) : c) * d.fan_out;
      std::copy_n(from, d.fan_out, forced_.data() + c * d.fan_out);
      unforced += from[0] == kNotRecorded;
    }
    return forced_.data();
  }
  /// What the cells would have chosen freely, as the router's kernel left it, to where their choices came from.
  void leave_free_choices(int32_t index, int32_t* staged) {
    const ProgramRouter& router = program_->routers[static_cast<size_t>(index)];
    const Operand& d = program_->operands[static_cast<size_t>(router.decision)];
    auto& [chain, operands, rows] = chains_[static_cast<size_t>(index)];
    const int64_t cells = rows_of_scores(index), all = dims_[static_cast<size_t>(router.by_row ? router.dense_cells : d.decision_cells)];
    staged += turn_of(index) * all * d.fan_out;
    for (int64_t c = 0; c < cells; ++c)
      std::copy_n(forced_.data() + c * d.fan_out, d.fan_out, staged + (router.by_row ? chain.follow(rows, c) : c) * d.fan_out);
  }
  /// Cells that the router will decide about.
  int64_t rows_of_scores(int32_t router) const { return resolve(score_operand_[static_cast<size_t>(router)]).rows; }

  static void clear(RaggedView& r) { *r.cells = *r.parents = r.offsets[0] = 0; }

  void run_kernel(int32_t at, const Submission& s, int32_t* forced) {
    const Step& step = program_->steps[static_cast<size_t>(at)];
    std::vector<Rows>& in = ins_[static_cast<size_t>(at)];
    std::vector<Rows>& out = outs_[static_cast<size_t>(at)];
    for (size_t i = 0; i < in.size(); ++i) in[i] = resolve(step.inputs[i]);
    for (size_t i = 0; i < out.size(); ++i) out[i] = resolve(step.outputs[i]);
    kernels_[static_cast<size_t>(at)]->run({team_, weights_, in, out, scratch_, s.bindings, forced, communicator_, s.cancel});
  }

  /// Where an execution's record lies; nullptr where there is no room for it.
  std::byte* record_at(size_t router, int32_t execution) const {
    if (execution >= dims_[static_cast<size_t>(program_->routers[router].executions)]) return nullptr;
    return reinterpret_cast<std::byte*>(records().value) + layout_.record_offset[router] + execution * layout_.record_size[router];
  }
  RecordParts parts_of(size_t router) const {
    const Operand& d = program_->operands[static_cast<size_t>(program_->routers[router].decision)];
    return record_parts({layout_.record_cells[router], d.fan_out, d.branches}, layout_.score_columns[router]);
  }

  void record_scores(int32_t index, const Rows& scores, int32_t execution) {
    const auto router = static_cast<size_t>(index);
    std::byte* to = layout_.score_columns[router] > 0 ? record_at(router, execution) : nullptr;
    if (to) std::memcpy(to + parts_of(router).scores, scores.data, static_cast<size_t>(scores.elements()) * 4);
  }

  void record(const Step& step, int32_t execution) {
    const auto router = static_cast<size_t>(step.index);
    std::byte* to = record_at(router, execution);
    if (!to) return;
    const DecisionView& d = decision(step.inputs[0]);
    const RecordParts parts = parts_of(router);
    const auto cells = static_cast<size_t>(*d.cells);
    *reinterpret_cast<RecordHeader*>(to) = {*d.cells, turn_of(step.index)};
    std::memcpy(to + parts.choice, d.choice, cells * static_cast<size_t>(d.fan_out) * 4);
    std::memcpy(to + parts.weight, d.choice_weight, cells * static_cast<size_t>(d.fan_out) * 4);
    std::memcpy(to + parts.margin, d.margin, cells * 4);
    std::memcpy(to + parts.padded, d.padded, static_cast<size_t>(d.branches) * 4);
    auto* ancestor = reinterpret_cast<int32_t*>(to + parts.ancestor);
    auto& [chain, operands, rows] = chains_[router];
    for (size_t i = 1; i < operands.size(); ++i) rows[i] = resolve(operands[i]);
    for (size_t c = 0; c < cells; ++c) ancestor[c] = static_cast<int32_t>(chain.follow(rows, static_cast<int64_t>(c)));
  }

  WeightStore& weights_;
  ThreadTeam& team_;
  Communicator* communicator_;
  MemorySpace* space_ = nullptr;
  ExecutableLayout layout_;
  std::vector<std::vector<int32_t>> requested_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<int32_t> router_of_, ragged_of_;  // by step
  std::vector<std::vector<Rows>> ins_, outs_;
  Bindings bounds_;
  std::shared_ptr<SharedMemory> memory_;
  DeviceAddress placed_at_;  // of the activations that base_, decisions_ and the lives point into
  std::unique_ptr<DeviceBuffer> states_;
  std::vector<std::byte*> base_;
  std::vector<DecisionView> decisions_;
  std::vector<RaggedView> raggeds_;
  struct Chain {
    CellChain chain;
    std::vector<int32_t> operands;
    std::vector<Rows> rows;
  };
  std::vector<Chain> chains_;           // by router
  std::vector<int32_t> score_operand_;  // by router: what its cells are told by
  std::vector<int32_t> forced_;         // choices of the cells that came, for the router that runs
  std::vector<int64_t> dims_;
  std::vector<int64_t> turns_;
  std::byte* scratch_ = nullptr;
  std::vector<std::vector<Life>> begins_, ends_;  // by step, where the memory watches lives
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
