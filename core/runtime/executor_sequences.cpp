// The sequences of a batch: gives their states to a submission, and takes them back after it.
#include <algorithm>
#include <set>

#include "core/base/align.h"
#include "core/base/error.h"
#include "core/runtime/executor.h"

namespace stormcell {

/// Stages pages for what the batch may write, their table, and the sequences' places.
void Executor::stage_sequences(const InputValues& inputs, const Bindings& bindings, const ExecuteOptions& options,
                               ExecutionResult& result) {
  result.state_pages = result.state_bytes = 0;
  if (program_->places == kNone) {
    if (!options.sequences.empty())
      bad_input("sequences", "expected none: the plan has no states of sequences", "give it none");
    return;
  }
  const Operand& places = program_->operands[program_->places];
  const size_t count = program_->dims[places.rows].evaluate(bindings);
  if (!options.sequences.empty() && options.sequences.size() != count)
    bad_input("sequences", "expected one for each of " + std::to_string(count) + " of the batch, got " +
                               std::to_string(options.sequences.size()));
  sequences_.assign(options.sequences.begin(), options.sequences.end());
  if (std::set(sequences_.begin(), sequences_.end()).size() != sequences_.size())
    bad_input("sequences", "one appears twice in the batch", "give each sequence once");
  for (; sequences_.size() < count; sequences_.push_back(own_.back())) own_.push_back(states_->open());
  const std::vector<int64_t> added =
      rows_added(*program_->graph, paged_, bindings, [&](ValueId mask) -> std::span<const int32_t> {
        const auto at = inputs.integers.find(program_->graph->value(mask).name);
        return at == inputs.integers.end() ? std::span<const int32_t>() : std::span<const int32_t>(at->second);
      });
  places_ = {reinterpret_cast<int32_t*>(kept_->data() + align_up(status_bytes())), count};
  const int64_t room = program_->dims[program_->operands[program_->paged[0]].per_parent].evaluate(bindings);
  int64_t most = 1;
  for (size_t i = 0; i < count; ++i) {
    const int64_t place = places_[i] = states_->place(sequences_[i]);
    const int64_t rows = std::max(place, std::min(place + added[i], room));
    states_->reserve(sequences_[i], key_, rows);
    most = std::max(most, pages_for(rows));
    for (const SequenceState& state : key_.states)
      result.state_pages += pages_for(rows), result.state_bytes += pages_for(rows) * state.page_bytes();
  }
  states_->table(sequences_, key_, most, pages_);
  const int64_t bytes = pages_.size() * sizeof(uint64_t);
  memory_->reserve(SharedPart::pages, bytes);
  submission_.pages = memory_->address(SharedPart::pages);
  submission_.pages_of_sequence = most;
  copies_.to_device(*stream_, submission_.pages, pages_.data(), bytes);
  stream_->copy_pinned_to_device(executable_->address(program_->places), places_.data(),
                                 static_cast<int64_t>(count) * 4);
}

/// Leaves the sequences at the places that the plan says; those that nobody else knows have ended.
void Executor::leave_sequences(const ExecuteOptions& options) {
  for (size_t i = 0; i < options.sequences.size(); ++i) states_->set_place(sequences_[i], places_[i]);
  for (; !own_.empty(); own_.pop_back()) states_->close(own_.back());
}

}  // namespace stormcell
