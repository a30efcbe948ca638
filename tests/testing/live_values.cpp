#include "tests/testing/live_values.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/graph/operator.h"

namespace stormcell::testing {
namespace {

/// One value in memory: an operand, or several that a guard or an operator in place makes one of.
struct Held {
  std::set<int32_t> touches;
  int32_t first = INT32_MAX, last = -1;
  int64_t row_bytes = 0, rows = 1;
  ValueId decision;  // of the branch it belongs to, if any
  int32_t branch = kAllBranches;
  bool survives = false;
  int place = 0;  // which of the surviving values of its branch and size it is
};

class Counting {
 public:
  Counting(const Program& program, const Bindings& bounds)
      : program_(program),
        graph_(*program.graph),
        bounds_(bounds),
        steps_(static_cast<int32_t>(program.steps.size())) {}

  LiveBytes run() {
    follow_branches();
    unite_values();
    touch_all();
    for (auto& [id, held] : held_) measure(id, held);
    number_places();
    std::vector<std::vector<const Held*>> begins(static_cast<size_t>(steps_) + 1),
        ends(static_cast<size_t>(steps_) + 1);
    for (const auto& [id, held] : held_) {
      begins[static_cast<size_t>(held.first)].push_back(&held);
      ends[static_cast<size_t>(held.last)].push_back(&held);
    }
    std::set<const Held*> alive;
    LiveBytes most;
    for (size_t s = 0; s < begins.size(); ++s) {
      alive.insert(begins[s].begin(), begins[s].end());
      const LiveBytes now = bytes_of(alive);
      most.by_place = std::max(most.by_place, now.by_place);
      most.by_load = std::max(most.by_load, now.by_load);
      for (const Held* held : ends[s]) alive.erase(held);
    }
    return most;
  }

 private:
  const Operand& operand(OperandId o) const { return program_.operands[o]; }

  // Which branch of each decision a step belongs to.
  void follow_branches() {
    branch_at_.resize(static_cast<size_t>(steps_) + 1);
    for (int32_t s = 0; s < steps_; ++s) {
      const Step& step = program_.steps[s];
      if (step.kind != StepKind::skip_empty) continue;
      for (int32_t inner = s + 1; inner < step.target; ++inner)
        branch_at_[static_cast<size_t>(inner)][operand(step.inputs[0]).value] = step.branch;
    }
  }

  // The value that a body yields is the guard's output, unless a step copies it; what is made in place is its input.
  void unite_values() {
    for (const OperandId o : program_.operands.ids()) one_.push_back(o);
    std::map<ValueId, OperandId> of_value;
    std::set<std::pair<ValueId, ValueId>> copies;
    for (const Step& step : program_.steps) {
      if (step.kind == StepKind::copy) copies.emplace(operand(step.inputs[0]).value, operand(step.outputs[0]).value);
      if (step.kind == StepKind::copy || step.kind == StepKind::save_rows || step.kind == StepKind::restore_rows)
        continue;
      for (const OperandId o : step.inputs) of_value[operand(o).value] = o;
      for (const OperandId o : step.outputs) of_value[operand(o).value] = o;
    }
    for (const OperandId o : program_.outputs) of_value[operand(o).value] = o;
    for (const Node& node : graph_.nodes)
      for (size_t b = 0; node.op->name == "guard" && b < 2; ++b)
        for (size_t i = 0; i < node.outputs.size(); ++i) {
          const ValueId from = node.yields[b][i], to = node.outputs[i];
          if (of_value.contains(from) && of_value.contains(to) && !copies.contains({from, to}))
            one_[root(of_value[from])] = root(of_value[to]);
        }
    for (const Node& node : graph_.nodes)
      if (node.op->in_place && of_value.contains(node.inputs[0]) && of_value.contains(node.outputs[0]))
        if (const OperandId from = of_value[node.inputs[0]], to = of_value[node.outputs[0]];
            operand(from).buffer == operand(to).buffer)
          one_[root(from)] = root(to);
    for (const auto& [value, o] : of_value)
      if (graph_.value(value).kind == ValueKind::decision) decision_[value] = o;
  }
  OperandId root(OperandId o) const {
    while (one_[o] != o) o = one_[o];
    return o;
  }

  void touch(OperandId o, int32_t step) {
    if (operand(o).kind != BufferKind::arena) return;
    held_[root(o)].touches.insert(step);
    const SpaceId space = graph_.value(operand(o).value).type.space;
    if (space == kNone || graph_.space(space).kind != SpaceKind::routed || operand(o).is_decision) return;
    held_[decision_.at(graph_.space(space).decision)].touches.insert(step);
  }

  void touch_all() {
    for (int32_t s = 0; s < steps_; ++s) {
      for (const OperandId o : program_.steps[s].inputs) touch(o, s);
      for (const OperandId o : program_.steps[s].outputs) touch(o, s);
    }
    for (const OperandId o : program_.outputs) touch(o, steps_);
    for (auto& [id, held] : held_) held.first = *held.touches.begin(), held.last = *held.touches.rbegin();
    for (bool changed = true; changed;) {
      changed = false;
      for (int32_t s = 0; s < steps_; ++s) {
        const Step& step = program_.steps[s];
        if (step.kind != StepKind::repeat_begin) continue;
        for (auto& [id, held] : held_)
          if (held.first < s && held.last >= s && held.last < step.target - 1)
            held.last = step.target - 1, changed = true;
      }
    }
  }

  void measure(OperandId id, Held& held) {
    const Operand& o = operand(id);
    const Value& v = graph_.value(o.value);
    if (o.is_decision) {
      held.row_bytes = static_cast<int64_t>(
          decision_bytes({graph_.space(v.type.space).count.evaluate(bounds_), v.fan_out, v.branches}));
      return;
    }
    held.row_bytes = o.row_bytes();  // as it lies
    if (v.type.space == kNone) return;
    const CellSpace& space = graph_.space(v.type.space);
    held.rows = space.count.evaluate(bounds_);
    if (space.kind != SpaceKind::routed || space.branch == kAllBranches) return;
    held.decision = space.decision;
    held.branch = space.branch;
    const auto branch_at = [&](int32_t step) {
      const auto& here = branch_at_[static_cast<size_t>(step)];
      const auto at = here.find(held.decision);
      return at == here.end() ? -1 : at->second;
    };
    for (const int32_t step : held.touches) held.survives = held.survives || branch_at(step) != held.branch;
    for (int32_t s = held.first; s <= held.last; ++s)
      if (const int32_t branch = branch_at(s); branch >= 0) held.survives = held.survives || branch != held.branch;
  }

  void number_places() {
    std::map<std::tuple<ValueId, int32_t, int64_t>, std::vector<Held*>> chains;
    for (auto& [id, held] : held_)
      if (held.survives) chains[{held.decision, held.branch, held.row_bytes}].push_back(&held);
    for (auto& [key, chain] : chains) {
      std::stable_sort(chain.begin(), chain.end(), [](const Held* a, const Held* b) { return a->first < b->first; });
      for (size_t i = 0; i < chain.size(); ++i) chain[i]->place = static_cast<int>(i);
    }
  }

  LiveBytes bytes_of(const std::set<const Held*>& alive) const {
    LiveBytes bytes;
    // By decision and row size: how many values live on by place, and by branch.
    std::map<std::pair<ValueId, int64_t>, std::pair<std::map<int, int64_t>, std::map<int32_t, int64_t>>> surviving;
    std::map<ValueId, int64_t> rows;
    for (const Held* held : alive) {
      if (held->survives) {
        auto& [places, branches] = surviving[{held->decision, held->row_bytes}];
        ++places[held->place], ++branches[held->branch];
        rows[held->decision] = held->rows;
      } else {
        bytes.by_place += held->row_bytes * held->rows, bytes.by_load += held->row_bytes * held->rows;
      }
    }
    for (const auto& [key, counts] : surviving) {
      const int64_t fan_out = graph_.value(key.first).fan_out, unit = rows[key.first] * key.second;
      for (const auto& [place, count] : counts.first) bytes.by_place += std::min(count, fan_out) * unit;
      std::vector<int64_t> of_branches;
      for (const auto& [branch, count] : counts.second) of_branches.push_back(count);
      std::sort(of_branches.rbegin(), of_branches.rend());
      of_branches.resize(std::min(of_branches.size(), static_cast<size_t>(fan_out)));
      bytes.by_load += std::accumulate(of_branches.begin(), of_branches.end(), int64_t{0}) * unit;
    }
    return bytes;
  }

  const Program& program_;
  const Graph& graph_;
  const Bindings& bounds_;
  int32_t steps_;
  std::vector<std::map<ValueId, int32_t>> branch_at_;
  IdVector<OperandId, OperandId> one_;
  std::map<ValueId, OperandId> decision_;
  std::map<OperandId, Held> held_;
};

}  // namespace

LiveBytes most_live_bytes(const Program& program, const Bindings& bounds) { return Counting(program, bounds).run(); }

}  // namespace stormcell::testing
