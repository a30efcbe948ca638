#include "core/runtime/executor.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/graph/within.h"

namespace stormcell {
namespace {

/// All weights that the layout reads, those after a miss of a guard included.
std::vector<WeightHandle> weights_of(const ExecutableLayout& layout) {
  std::set<WeightHandle> weights(layout.always.begin(), layout.always.end());
  for (const auto& of_guard : layout.lazy) weights.insert(of_guard.begin(), of_guard.end());
  for (const PartSite& site : layout.sites)
    for (const PartUse& part : site.parts) weights.insert(part.handle);
  return {weights.begin(), weights.end()};
}

}  // namespace

Executor::Executor(Device& device, WeightStore& weights, std::shared_ptr<const Program> program,
                   const CompileOptions& options, const Progress& progress)
    : device_(device),
      weights_(weights),
      program_(std::move(program)),
      copies_(device),
      progress_(progress),
      memory_(options.memory ? options.memory : std::make_shared<SharedMemory>(device)),
      states_(options.states ? options.states : std::make_shared<StateStore>(device)),
      paged_(paged_states(*program_->graph)),
      key_(state_key(*program_)) {
  CompileOptions here = options;  // the whole size, but limited to the memory that it has
  here.memory = memory_;
  executable_ = device_.compile(program_, weights_, here);
  if (program_->ranks > 0) {
    if (!options.communicator)
      failed("plan", "is one of " + counted(program_->ranks, "rank") + ", and got no way to the others");
    exchange_ =
        std::make_unique<RankExchange>(*options.communicator, *program_, executable_->layout().segments, copies_);
  }
  stream_ = device_.create_stream();
  retained_.emplace(weights_, weights_of(executable_->layout()));
  weights_.arrange(progress.cancel);
  weights_.load(executable_->layout().always, progress);
  if (!executable_->layout().sites.empty())
    waves_ = std::make_unique<PartWaves>(weights_, *program_, executable_->layout());
  int64_t bytes = 0;
  for (const OperandId input : program_->inputs) {
    const Operand& o = program_->operands[input];
    input_offset_.push_back(bytes);
    bytes += align_up(program_->buffers[o.buffer].bytes.evaluate(options.bounds));
  }
  memory_->reserve(SharedPart::inputs, bytes);
  copies_.reserve(bytes);
  submission_.inputs.resize(program_->inputs.size());
  labels_ = label_inputs(*program_->graph);
  missed_.assign(program_->guards.size(), false);
  submission_.replayed.resize(program_->routers.size());
  const bool has_places = program_->places != kNone;
  const int64_t places =
      has_places ? program_->dims[program_->operands[program_->places].rows].evaluate(options.bounds) : 0;
  kept_ = device_.allocate_pinned(align_up(status_bytes()) + places * 4, "status of the host");
}

Executor::~Executor() {
  for (const SequenceId sequence : own_) states_->close(sequence);
}

void Executor::stage_inputs(const InputValues& inputs, const Bindings& bindings) {
  for (size_t i = 0; i < program_->inputs.size(); ++i) {
    const Operand& o = program_->operands[program_->inputs[i]];
    const std::string& name = program_->graph->value(o.value).name;
    const int64_t bytes = program_->buffers[o.buffer].bytes.evaluate(bindings);
    const void* data = nullptr;
    size_t came = 0;
    if (o.dtype == DType::i32) {
      const auto at = inputs.integers.find(name);
      if (at != inputs.integers.end()) data = at->second.data(), came = at->second.size() * 4;
    } else {
      const auto at = inputs.reals.find(name);
      if (at != inputs.reals.end()) data = at->second.data(), came = at->second.size() * 4;
    }
    if (!data && bytes > 0) bad_input("input " + name, "expected " + counted(bytes / 4, "value") + ", got none");
    if (static_cast<int64_t>(came) != bytes)
      bad_input("input " + name, "expected " + counted(bytes / 4, "value") + ", got " + std::to_string(came / 4));
    for (const LabelInput& label : labels_)
      if (label.input == o.value) check_labels(*program_->graph, label, {static_cast<const int32_t*>(data), came / 4});
    submission_.inputs[i] = memory_->address(SharedPart::inputs) + input_offset_[i];
    copies_.to_device(*stream_, submission_.inputs[i], data, bytes);
  }
}

// A device does not check replayed choices. So branches that the router lacks, and cells outside of its space, are
// refused here. Executions have a fixed stride, so that the device finds a turn's choices without the host. A router
// that runs more often than recorded is reported afterwards.
void Executor::stage_replayed(RouterId router, const Bindings& bindings, const ExecuteOptions& options,
                              std::vector<int32_t>& staged) {
  const ProgramRouter& r = program_->routers[router];
  const Operand& d = program_->decision_of(r);
  const auto wrong = [&](const std::string& what) {
    bad_input(options.replayed_from, "choices of router " + r.name + ": " + what, "record them again with profile");
  };
  const auto& turns = (*options.replayed)[router];
  const int64_t most = program_->dims[r.executions].evaluate(bindings);
  if (std::ssize(turns) > most)
    wrong("expected at most " + counted(most, "execution") + ", got " + std::to_string(turns.size()));
  const int64_t rows = program_->dims[program_->replayed_rows(r)].evaluate(bindings);
  staged.assign(rows * d.fan_out * most, kNotRecorded);
  for (size_t t = 0; t < turns.size(); ++t) {
    const auto& [choice, ancestor] = turns[t];
    const auto cells = std::ssize(choice) / d.fan_out;
    const bool by_row = r.by_row && !ancestor.empty();
    // A nested router may have got no cell, so it has no choices. A router that a pass made straight was nested in the
    // model, too.
    const bool nested = program_->graph->value(d.value).type.space != r.dense_space ||
                        !former_branches(program_->graph->node(r.node)).empty();
    const bool none = choice.empty() && nested;
    const std::string got = std::to_string(choice.size());
    if (r.by_row && !by_row && !none && std::ssize(choice) != rows * d.fan_out)
      wrong("expected " + std::to_string(rows * d.fan_out) + ", got " + got);
    if (std::ssize(choice) != cells * d.fan_out || cells > rows ||
        (by_row && ancestor.size() != static_cast<size_t>(cells)))
      wrong("expected " + std::to_string(d.fan_out) + " for each of at most " + std::to_string(rows) + " cells, got " +
            got);
    for (int64_t i = 0; i < std::ssize(choice); ++i)
      if (choice[i / d.fan_out * d.fan_out] != kNotRecorded && branch_of(choice[i]) >= d.branches)
        wrong("expected a branch below " + std::to_string(d.branches) + ", got " +
              std::to_string(branch_of(choice[i])));
    int32_t* to = staged.data() + static_cast<int64_t>(t) * rows * d.fan_out;
    for (int64_t c = 0; c < cells; ++c) {
      const int64_t row = by_row ? ancestor[c] : c;
      if (row < 0 || row >= rows)
        wrong("expected a cell below " + std::to_string(rows) + ", got " + std::to_string(row));
      std::copy_n(choice.begin() + c * d.fan_out, d.fan_out, to + row * d.fan_out);
    }
  }
}

void Executor::stage_all_replayed(const Bindings& bindings, const ExecuteOptions& options) {
  staged_.resize(program_->routers.size());
  std::fill(submission_.replayed.begin(), submission_.replayed.end(), DeviceAddress{});
  if (!options.replayed) return;
  const auto is_replayed = [&](RouterId r) { return options.replayed->holds(r) && !(*options.replayed)[r].empty(); };
  int64_t bytes = 0;
  for (const RouterId r : staged_.ids()) {
    if (!is_replayed(r)) continue;
    stage_replayed(r, bindings, options, staged_[r]);
    bytes += align_up(std::ssize(staged_[r]) * 4);
  }
  memory_->reserve(SharedPart::replayed, bytes);
  DeviceAddress to = memory_->address(SharedPart::replayed);
  for (const RouterId r : staged_.ids()) {
    if (!is_replayed(r)) continue;
    const auto size = std::ssize(staged_[r]) * 4;
    submission_.replayed[r] = to;
    copies_.to_device(*stream_, to, staged_[r].data(), size);
    to = to + align_up(size);
  }
}

void Executor::run(const InputValues& inputs, const Bindings& bindings, const ExecuteOptions& options,
                   ExecutionResult& result) {
  if (!exchange_) return run_batch(inputs, bindings, options, result);
  try {
    run_batch(inputs, bindings, options, result);
    exchange_->end_batch(progress_.cancel);
  } catch (const std::exception& e) {
    exchange_->abandon(e.what());
    throw;
  }
}

namespace {

/// Waits until nothing of a failed batch writes any more; reports the batch's error, not its own.
void settle(Stream& stream) {
  try {
    stream.synchronize();
  } catch (const std::exception&) {
  }
}

/// Pages behind a sequence's place; one that is not open has none.
void give_back_reserved(StateStore& states, SequenceId sequence) {
  try {
    states.set_place(sequence, states.place(sequence));
  } catch (const Error&) {
  }
}

}  // namespace

void Executor::run_batch(const InputValues& inputs, const Bindings& bindings, const ExecuteOptions& options,
                         ExecutionResult& result) {
  submission_.bindings = bindings;
  submission_.record = options.record;
  submission_.events = options.events;
  submission_.leaf = 0;
  submission_.turns.assign(program_->repeats.size(), 0);
  submission_.cancel = &progress_.cancel;
  result.late_loads = result.waves = result.exchanges = 0;
  result.outputs.clear();
  result.decisions.clear();
  result.events.clear();
  copies_.begin();
  try {
    stage_inputs(inputs, bindings);
    stage_all_replayed(bindings, options);
    stage_sequences(inputs, bindings, options, result);
    const StatusArea came = this->came();
    execute(came, bindings, options, result);
    read_status(came, result);
    check_replayed(came, options);
    if (copy_results(came, bindings, options, result)) copies_.synchronize(*stream_);
    if (options.record) read_records(result);
  } catch (...) {
    settle(*stream_);
    table_at_ = {};  // the table may not have arrived
    for (const SequenceId sequence : options.sequences) give_back_reserved(*states_, sequence);
    leave_sequences({});
    throw;
  }
  // Last: a batch that fails leaves them where they were.
  leave_sequences(options);
}

/// Copies the store's current addresses to the device. The parts in this table are in use until the submission is done.
void Executor::publish_weights() {
  const bool changed = weights_.take(table_, in_use_, table_version_);
  submission_.weights = weights_.device_table();
  if (!changed && submission_.weights.value == table_at_.value) return;
  table_at_ = submission_.weights;
  copies_.to_device(*stream_, table_at_, table_.data(), static_cast<int64_t>(table_.size() * sizeof(DeviceAddress)));
}

/// Again from where the device waits until the end is reached.
void Executor::execute(const StatusArea& came, const Bindings& bindings, const ExecuteOptions& options,
                       ExecutionResult& result) {
  struct EndUse {
    Executor& executor;
    bool done = false;
    void now() {
      executor.weights_.end_use(executor.in_use_);
      executor.in_use_.clear();
    }
    // The device may be at work with the parts still: they give way to none before it is not.
    ~EndUse() {
      if (!done) settle(*executor.stream_);
      now();
      if (!done && executor.waves_) executor.weights_.drop_waiting();
    }
  } use{*this};
  if (waves_) waves_->begin();
  heard_ = 0, told_ms_ = 0;
  bool stopped = false;
  const auto begin = std::chrono::steady_clock::now();
  for (;;) {
    publish_weights();
    executable_->submit(*stream_, submission_);
    stream_->copy_to_pinned(kept_->data(), executable_->status(), status_bytes());
    if (program_->places != kNone)
      stream_->copy_to_pinned(places_.data(), executable_->address(program_->places), std::ssize(places_) * 4);
    copies_.synchronize(*stream_);
    use.now();
    if (came.status->code == ExecutionStatus::done) break;
    if (came.status->code == ExecutionStatus::turn && !tell_turns(bindings, options)) {
      stopped = true;
      break;
    }
    if (came.status->code == ExecutionStatus::failed) {
      const StepFailure& failure = came.status->failure;
      throw_failure(failure.node == kNone ? std::string_view("plan") : program_->graph->node(failure.node).name,
                    failure, device_.free_bytes() ? device_.info().name : "");
    }
    submission_.leaf = came.status->leaf;
    submission_.turns.assign(came.turns.begin(), came.turns.end());
    bring_what_is_missing(came, result);
  }
  use.done = true;
  result.milliseconds =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count() - told_ms_;
  if (!stopped)
    tell_turns(bindings, options);
  else if (waves_)
    weights_.drop_waiting();
}

/// Tells the listener of all places that were written since it heard last. A column that nobody wrote is still to come.
/// Returns false if the listener wants no more.
bool Executor::tell_turns(const Bindings& bindings, const ExecuteOptions& options) {
  if (!options.turns) return true;
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    if (program_->graph->outputs[i].name != options.turn_output) continue;
    const Operand& o = program_->operands[program_->outputs[i]];
    const int64_t places = program_->dims[o.per_parent].evaluate(bindings),
                  rows = program_->dims[o.rows].evaluate(bindings);
    const DeviceAddress from = executable_->address(program_->outputs[i]);
    column_.resize(places > 0 ? rows / places : 0);
    for (; heard_ < places; ++heard_) {
      for (size_t s = 0; s < column_.size(); ++s)
        copies_.to_host(*stream_, &column_[s], from + (static_cast<int64_t>(s) * places + heard_) * 4, 4);
      copies_.synchronize(*stream_);
      if (std::ranges::all_of(column_, [](int32_t value) { return value < 0; })) break;
      const auto begin = std::chrono::steady_clock::now();
      const bool more = options.turns->hear(column_);
      told_ms_ += std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
      if (!more) return false;
    }
  }
  return true;
}

/// Serves a fallback whose weights are not there yet, branches whose parts are not, and rows for other ranks.
void Executor::bring_what_is_missing(const StatusArea& came, ExecutionResult& result) {
  if (came.status->code == ExecutionStatus::turn) return;  // nothing is missing
  if (came.status->code == ExecutionStatus::exchange) {
    exchange_->run(came, executable_->status(), *stream_, progress_.cancel);
    ++result.exchanges;
  } else if (came.status->guard != kNone) {
    weights_.load(executable_->layout().lazy[came.status->guard], {progress_.cancel});
    ++result.late_loads;
  } else {
    waves_->bring(came, progress_, in_use_);
    ++result.waves;
  }
}

void Executor::read_status(const StatusArea& came, ExecutionResult& result) {
  result.guard_hits.assign(came.hits.begin(), came.hits.end());
  result.guard_misses.assign(came.misses.begin(), came.misses.end());
  for (const GuardId g : missed_.ids())
    if (result.guard_misses[g] > 0) missed_[g] = true;
  result.not_replayed.assign(came.not_replayed.begin(), came.not_replayed.end());
  result.ragged_cells.assign(came.ragged_cells.begin(), came.ragged_cells.end());
  result.lost_events = came.status->lost_events;
}

void Executor::check_replayed(const StatusArea& came, const ExecuteOptions& options) const {
  if (!options.replayed) return;
  for (const RouterId r : options.replayed->ids()) {
    if (!program_->routers.holds(r)) return;
    const size_t held = (*options.replayed)[r].size();
    const int32_t executions = came.executions[r];
    if (held > 0 && static_cast<size_t>(executions) > held)
      bad_input(options.replayed_from,
                "choices of router " + program_->routers[r].name + ": expected those of " +
                    counted(executions, "execution") + ", got " + std::to_string(held),
                "record them again with profile");
  }
}

/// Begins the copies of all results that the options ask for; they are there when the stream is done. False: none.
bool Executor::copy_results(const StatusArea& came, const Bindings& bindings, const ExecuteOptions& options,
                            ExecutionResult& result) {
  bool copies = options.record || options.outputs;
  if (const int64_t events = came.status->events; options.events && events > 0) {
    result.events.resize(events);
    copies_.to_host(*stream_, result.events.data(), executable_->status() + came.without_events,
                    events * static_cast<int64_t>(sizeof(DeviceEvent)));
    copies = true;
  }
  if (options.record) {
    records_ = copies_.bring(*stream_, executable_->records(), executable_->layout().record_bytes);
    for (const RouterId r : submission_.replayed.ids())
      if (submission_.replayed[r])
        copies_.to_host(*stream_, staged_[r].data(), submission_.replayed[r],
                        static_cast<int64_t>(staged_[r].size() * 4));
  }
  if (options.outputs) copy_outputs(bindings, result);
  return copies;
}

void Executor::copy_outputs(const Bindings& bindings, ExecutionResult& result) {
  for (size_t i = 0; i < program_->outputs.size(); ++i) {
    const Operand& o = program_->operands[program_->outputs[i]];
    OutputValue& out = result.outputs.emplace_back();
    out.name = program_->graph->outputs[i].name;
    out.dtype = o.dtype;
    for (const Dim& d : program_->graph->shape(o.value)) out.shape.push_back(d.evaluate(bindings));
    int64_t elements = 1;
    for (const int64_t d : out.shape) elements *= d;
    void* to = nullptr;
    if (o.dtype == DType::i32) {
      out.integers.resize(elements);
      to = out.integers.data();
    } else {
      out.reals.resize(elements);
      to = out.reals.data();
    }
    copies_.to_host(*stream_, to, executable_->address(program_->outputs[i]), elements * 4);
  }
}

void Executor::read_records(ExecutionResult& result) {
  const StatusArea came = this->came();
  const ExecutableLayout& layout = executable_->layout();
  for (const RouterId r : program_->routers.ids()) {
    const ProgramRouter& router = program_->routers[r];
    const DecisionShape& bound = layout.records[r].bound;
    const int32_t columns = layout.records[r].score_columns;
    const int64_t kept = program_->dims[router.executions].evaluate(submission_.bindings);
    for (int32_t e = 0; e < std::min<int64_t>(came.executions[r], kept); ++e) {
      const RecordView record = layout.records[r].at(records_, e);
      const RecordHeader header = *record.header;
      ExecutedDecision& out = result.decisions.emplace_back();
      out.router = r;
      out.turn = header.turn;
      out.shape = {header.cells, bound.fan_out, bound.branches};
      out.choice.assign(record.choice, record.choice + out.shape.slot_count());
      out.weight.assign(record.weight, record.weight + out.shape.slot_count());
      out.margin.assign(record.margin, record.margin + header.cells);
      out.ancestor.assign(record.ancestor, record.ancestor + header.cells);
      out.padded.assign(record.padded, record.padded + bound.branches);
      out.score_columns = columns;
      out.scores.assign(record.scores, record.scores + int64_t{header.cells} * columns);
      if (!submission_.replayed[r]) continue;
      const int64_t rows = program_->dims[program_->replayed_rows(router)].evaluate(submission_.bindings);
      for (int64_t c = 0; c < header.cells; ++c) {
        const int64_t row = header.turn * rows + (router.by_row ? out.ancestor[c] : c);
        const auto first = staged_[r].begin() + row * bound.fan_out;
        out.free_choice.insert(out.free_choice.end(), first, first + bound.fan_out);
      }
    }
  }
}

int64_t Executor::activation_bytes() const {
  const ExecutableLayout& l = executable_->layout();
  return l.memory.arena_bytes + l.memory.state_bytes + l.memory.page_bytes + l.scratch_bytes;
}
std::set<WeightHandle> Executor::needed_weights() const {
  const ExecutableLayout& layout = executable_->layout();
  std::set<WeightHandle> needed(layout.always.begin(), layout.always.end());
  for (const GuardId g : layout.lazy.ids())
    if (missed_[g]) needed.insert(layout.lazy[g].begin(), layout.lazy[g].end());
  return needed;
}

/// A weight of several fallbacks is needed as soon as one of them has run.
std::set<WeightHandle> Executor::spared_weights() const {
  const std::set<WeightHandle> needed = needed_weights();
  std::set<WeightHandle> spared;
  for (const std::vector<WeightHandle>& of_fallback : executable_->layout().lazy)
    for (const WeightHandle handle : of_fallback)
      if (!needed.contains(handle)) spared.insert(handle);
  return spared;
}

}  // namespace stormcell
