#include "core/runtime/slot_sharing.h"

#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/base/id_vector.h"

namespace stormcell {
namespace {

/// A buffer that holds rows of one branch.
struct BranchBuffer {
  BufferId buffer;
  int32_t branch = -1;
  int32_t first = 0, last = 0;
};

/// One buffer of all slots in the making.
struct Slots {
  std::map<int32_t, std::vector<BranchBuffer>> of_branch;
  int32_t first = INT32_MAX, last = -1;

  bool has_room(const BranchBuffer& v) const {
    const auto at = of_branch.find(v.branch);
    return at == of_branch.end() || std::all_of(at->second.begin(), at->second.end(), [&](const BranchBuffer& x) {
             return x.last < v.first || v.last < x.first;
           });
  }
  void add(const BranchBuffer& v) {
    of_branch[v.branch].push_back(v);
    first = std::min(first, v.first);
    last = std::max(last, v.last);
  }
};

/// Steps that only run where a branch got cells: [begin, end).
struct BranchRun {
  int32_t begin, end, branch;
};

class SlotSharing {
 public:
  explicit SlotSharing(Program& program) : program_(program) {}

  void run() {
    find_runs();
    // Slices of one buffer begin at a branch's slots: only rows of one size can share it.
    std::map<std::pair<OperandId, int64_t>, std::vector<BranchBuffer>> alike;
    IdVector<BufferId, bool> seen(program_.buffers.size(), false);
    for (const Operand& o : program_.operands) {
      if (o.kind != BufferKind::arena || o.is_decision || o.decision == kNone || o.branch == kAllBranches) continue;
      if (o.ragged != kNone || o.times != kNone)
        continue;  // rows of members and of dense cells below: no slice of the decision's slots
      if (seen[o.buffer]) continue;
      seen[o.buffer] = true;
      const ProgramBuffer& b = program_.buffers[o.buffer];
      alike[{o.decision, o.row_bytes()}].push_back({o.buffer, o.branch, b.first, b.last});
    }
    moved_.assign(program_.buffers.size(), kNone);
    for (auto& [key, buffers] : alike) share(key.first, key.second, buffers);
    for (Operand& o : program_.operands)
      if (has_place(o) && moved_[o.buffer] != kNone) o.buffer = moved_[o.buffer], o.in_slots = true;
    drop_unused();
  }

 private:
  static bool has_place(const Operand& o) { return o.kind != BufferKind::weight; }

  void find_runs() {
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      if (step.kind == StepKind::skip_empty)
        runs_[step.inputs[0]].push_back({static_cast<int32_t>(s) + 1, step.target, step.branch});
    }
  }

  /// Runs of a decision's branches follow each other and do not overlap: the first that ends behind a step.
  std::vector<BranchRun>::const_iterator run_at(OperandId decision, int32_t step) const {
    const std::vector<BranchRun>& runs = runs_.at(decision);
    return std::partition_point(runs.begin(), runs.end(), [&](const BranchRun& r) { return r.end <= step; });
  }
  /// Alive only while no other branch of the decision is: nothing outside writes or reads it.
  bool stays_inside(OperandId decision, const BranchBuffer& v) const {
    if (!runs_.contains(decision)) return false;
    auto run = run_at(decision, v.first);
    const auto end = runs_.at(decision).end();
    if (run == end || run->begin > v.first) return false;
    for (; run != end && run->begin <= v.last; ++run) {
      if (run->branch != v.branch) return false;
      if (v.last < run->end) return true;
    }
    return false;
  }

  void share(OperandId decision, int64_t row_bytes, std::vector<BranchBuffer>& buffers) {
    std::sort(buffers.begin(), buffers.end(), [](const BranchBuffer& a, const BranchBuffer& b) {
      return a.first != b.first ? a.first < b.first : a.branch < b.branch;
    });
    const auto inside = std::stable_partition(buffers.begin(), buffers.end(),
                                              [&](const BranchBuffer& v) { return !stays_inside(decision, v); });
    std::vector<Slots> all;
    for (auto at = buffers.begin(); at != inside;) {
      // Buffers that begin at one step are the outputs of one scatter and stay together: one copy then moves all rows.
      auto next = at + 1;
      while (next != inside && next->first == at->first && next->branch != (next - 1)->branch) ++next;
      add_together(all, {at, next});
      at = next;
    }
    const Operand& d = program_.operands[decision];
    dissolve(all, d.fan_out);
    for (auto v = inside; v != buffers.end(); ++v)
      for (Slots& s : all)
        if (s.first <= v->first && v->last <= s.last && s.has_room(*v)) {
          s.add(*v);
          break;
        }
    for (const Slots& s : all) {
      const Dim bytes = program_.dims[d.decision_cells] * Dim(d.fan_out) * Dim(row_bytes);
      const BufferId made = program_.buffers.add(
          {program_.graph->value(d.value).name + ".slots", BufferKind::arena, bytes, s.first, s.last});
      for (const auto& [branch, members] : s.of_branch)
        for (const BranchBuffer& v : members) moved_[v.buffer] = made;
    }
  }

  /// Puts values into the slots that grow least in time, among those that are in use when the values begin.
  static void add_together(std::vector<Slots>& all, std::span<const BranchBuffer> values) {
    int32_t last = -1;
    for (const BranchBuffer& v : values) last = std::max(last, v.last);
    Slots* best = nullptr;
    for (Slots& s : all) {
      if (s.last < values.front().first ||
          !std::all_of(values.begin(), values.end(), [&](const BranchBuffer& v) { return s.has_room(v); }))
        continue;
      if (!best || std::max(last, s.last) - s.last < std::max(last, best->last) - best->last) best = &s;
    }
    if (!best) best = &all.emplace_back();
    for (const BranchBuffer& v : values) best->add(v);
  }

  /// Most rows that are held at one step, in bounds of one branch: as many as the fan-out by slots, one by a buffer of
  /// its own.
  static int32_t most_held(const std::vector<Slots>& all, const std::vector<bool>& shared, int32_t fan_out) {
    std::map<int32_t, int32_t> change;
    for (size_t i = 0; i < all.size(); ++i) {
      if (shared[i]) change[all[i].first] += fan_out, change[all[i].last + 1] -= fan_out;
      for (const auto& [branch, members] : all[i].of_branch)
        for (const BranchBuffer& v : members)
          if (!shared[i]) ++change[v.first], --change[v.last + 1];
    }
    int32_t held = 0, most = 0;
    for (const auto& [step, delta] : change) most = std::max(most, held += delta);
    return most;
  }
  /// Takes slots apart where buffers of their own hold no more: few branches, or a large fan-out.
  static void dissolve(std::vector<Slots>& all, int32_t fan_out) {
    std::vector<bool> shared(all.size(), true);
    const std::vector<bool> none(all.size(), false);
    if (most_held(all, none, fan_out) <= most_held(all, shared, fan_out)) return all.clear();
    for (size_t i = 0; i < all.size(); ++i) {
      const int32_t with = most_held(all, shared, fan_out);
      shared[i] = false;
      shared[i] = most_held(all, shared, fan_out) > with;
    }
    size_t at = 0;
    std::erase_if(all, [&](const Slots&) { return !shared[at++]; });
  }

  void drop_unused() {
    IdVector<BufferId, bool> used(program_.buffers.size(), false);
    for (const Operand& o : program_.operands)
      if (has_place(o)) used[o.buffer] = true;
    IdVector<BufferId, BufferId> now(program_.buffers.size());
    BufferId next(0);
    for (const BufferId b : program_.buffers.ids()) {
      if (!used[b]) continue;
      now[b] = next;
      if (next != b) program_.buffers[next] = std::move(program_.buffers[b]);
      ++next;
    }
    program_.buffers.resize(static_cast<size_t>(next));
    for (Operand& o : program_.operands)
      if (has_place(o)) o.buffer = now[o.buffer];
  }

  Program& program_;
  std::map<OperandId, std::vector<BranchRun>> runs_;  // by decision
  IdVector<BufferId, BufferId> moved_;                // the slots it lies in now; kNone: it stays
};

}  // namespace

void share_slots(Program& program) { SlotSharing(program).run(); }

}  // namespace stormcell
