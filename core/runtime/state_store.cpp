#include "core/runtime/state_store.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/runtime/device.h"

namespace stormcell {
namespace {

/// Pages are allocated so many at a time.
constexpr int64_t kSlabPages = 16;

const SequenceState* find(const std::vector<SequenceState>& states, const std::string& name) {
  const auto at = std::find_if(states.begin(), states.end(), [&](const SequenceState& s) { return s.name == name; });
  return at == states.end() ? nullptr : &*at;
}

std::string text(const SequenceState& s) {
  return std::string(to_text(s.dtype)) + " [" + std::to_string(s.width) + "], " + std::to_string(s.page_rows) +
         " rows a page";
}

}  // namespace

bool StateKey::fits(const StateKey& other, std::string* why) const {
  const auto differs = [&](const std::string& what) {
    if (why) *why = what;
    return false;
  };
  for (const SequenceState& s : states) {
    const SequenceState* theirs = find(other.states, s.name);
    if (!theirs) return differs("they lack " + s.name);
    if (*theirs != s) return differs(s.name + " is " + text(*theirs) + ", this plan's " + text(s));
  }
  for (const SequenceState& s : other.states)
    if (!find(states, s.name)) return differs("this plan has no " + s.name);
  return true;
}

StateKey state_key(const Program& program) {
  StateKey key;
  for (const OperandId o : program.paged) {
    const Operand& operand = program.operands[o];
    key.states.push_back({program.graph->value(operand.value).name, operand.dtype, operand.width});
  }
  return key;
}

StateStore::StateStore(Device& device) : device_(device) {}
StateStore::~StateStore() = default;

StateStore::Sequence& StateStore::at(SequenceId sequence) {
  const auto found = sequences_.find(sequence);
  if (found == sequences_.end()) failed("sequence " + std::to_string(static_cast<int64_t>(sequence)), "is not open");
  return found->second;
}
const StateStore::Sequence& StateStore::at(SequenceId sequence) const {
  return const_cast<StateStore*>(this)->at(sequence);
}

SequenceId StateStore::open() {
  const auto id = static_cast<SequenceId>(next_++);
  sequences_[id];
  return id;
}

void StateStore::close(SequenceId sequence) {
  for (Pages& pages : at(sequence).states) give_back(pages, 0);
  sequences_.erase(sequence);
}

int32_t StateStore::place(SequenceId sequence) const { return at(sequence).place; }

void StateStore::set_place(SequenceId sequence, int32_t place) {
  Sequence& s = at(sequence);
  for (const Pages& pages : s.states)
    if (place < 0 || pages_for(place) > std::ssize(pages.addresses))
      failed("sequence " + std::to_string(static_cast<int64_t>(sequence)),
             "expected at most " + std::to_string(pages.addresses.size() * kPageRows) + " rows of " + pages.state.name +
                 ", got " + std::to_string(place));
  s.place = place;
  for (Pages& pages : s.states) give_back(pages, static_cast<size_t>(pages_for(place)));
}

void StateStore::expect_key(const Sequence& sequence, const StateKey& key) const {
  StateKey held;
  for (const Pages& pages : sequence.states) held.states.push_back(pages.state);
  std::string why;
  if (!held.states.empty() && !key.fits(held, &why))
    bad_input("states of a sequence", "are those of another plan: " + why,
              "go on with a plan of the same model and format, or begin anew");
}

void StateStore::reserve(SequenceId sequence, const StateKey& key, int64_t rows) {
  Sequence& s = at(sequence);
  // A sequence without rows has nothing that another plan has written.
  if (s.place == 0 && !s.states.empty()) {
    for (Pages& pages : s.states) give_back(pages, 0);
    s.states.clear();
  }
  expect_key(s, key);
  if (s.states.empty())
    for (const SequenceState& state : key.states) s.states.push_back({state, {}});
  const size_t pages_needed = pages_for(rows);
  try {
    for (Pages& pages : s.states)
      while (pages.addresses.size() < pages_needed) {
        pages.addresses.push_back(take(pages.state.page_bytes()));
        used_ += pages.state.page_bytes();
      }
  } catch (...) {
    for (Pages& pages : s.states) give_back(pages, static_cast<size_t>(pages_for(s.place)));
    throw;
  }
}

void StateStore::table(std::span<const SequenceId> sequences, const StateKey& key, int64_t pages,
                       std::vector<uint64_t>& addresses) const {
  const size_t each = pages;
  addresses.assign(key.states.size() * sequences.size() * each, 0);
  for (size_t i = 0; i < sequences.size(); ++i) {
    const Sequence& s = at(sequences[i]);
    expect_key(s, key);
    for (size_t state = 0; state < key.states.size(); ++state)
      for (const Pages& held : s.states)
        if (held.state.name == key.states[state].name)
          std::copy_n(held.addresses.begin(), std::min(held.addresses.size(), each),
                      addresses.begin() + (state * sequences.size() + i) * each);
  }
}

uint64_t StateStore::take(int64_t page_bytes) {
  std::vector<uint64_t>& free = free_[page_bytes];
  if (free.empty()) {
    slabs_.push_back(device_.allocate(kSlabPages * page_bytes, "pages of states"));
    const uint64_t first = slabs_.back()->address().value;
    for (int64_t i = kSlabPages - 1; i >= 0; --i) free.push_back(first + static_cast<uint64_t>(i * page_bytes));
  }
  const uint64_t page = free.back();
  free.pop_back();
  return page;
}

void StateStore::give_back(Pages& pages, size_t keep) {
  std::vector<uint64_t>& free = free_[pages.state.page_bytes()];
  while (pages.addresses.size() > keep) {
    free.push_back(pages.addresses.back());
    pages.addresses.pop_back();
    used_ -= pages.state.page_bytes();
  }
}

int64_t StateStore::bytes() const {
  int64_t bytes = 0;
  for (const auto& slab : slabs_) bytes += slab->bytes();
  return bytes;
}

}  // namespace stormcell
