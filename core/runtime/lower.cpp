#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/runtime/program.h"

namespace stormcell {
namespace {

constexpr int64_t kAlign = 64;

class Lowering {
 public:
  explicit Lowering(std::shared_ptr<const Graph> graph) : graph_(*graph), operand_of_(graph_.values.size(), -1) {
    program_.graph = std::move(graph);
  }

  Program run() {
    for (size_t i = 0; i < graph_.values.size(); ++i)
      if (graph_.values[i].kind == ValueKind::input) program_.inputs.push_back(operand(static_cast<ValueId>(i)));
    alias_guard_outputs();
    block(graph_.top);
    leave_branches(0);
    for (const NamedValue& output : graph_.outputs) {
      program_.outputs.push_back(operand(output.value));
      outlives_.insert(program_.outputs.back());
    }
    liveness();
    mark_fallbacks();
    return std::move(program_);
  }

 private:
  int32_t dim(const Dim& d) {
    const auto at = std::find(program_.dims.begin(), program_.dims.end(), d);
    if (at != program_.dims.end()) return static_cast<int32_t>(at - program_.dims.begin());
    program_.dims.push_back(d);
    return static_cast<int32_t>(program_.dims.size()) - 1;
  }

  int32_t add_buffer(std::string name, BufferKind kind, Dim bytes) {
    program_.buffers.push_back({std::move(name), kind, std::move(bytes), INT32_MAX, -1});
    return static_cast<int32_t>(program_.buffers.size()) - 1;
  }

  // A guard's outputs share memory with what its bodies yield, where a body makes the value itself.
  void alias_guard_outputs() {
    for (const Node& node : graph_.nodes) {
      if (node.op->name != "guard") continue;
      for (size_t i = 0; i < node.outputs.size(); ++i)
        for (size_t b = 0; b < 2; ++b) {
          const ValueId yield = node.yields[b][i];
          if (makes(node.bodies[b], yield) && !alias_.count(yield)) alias_[yield] = node.outputs[i];
        }
    }
  }
  bool makes(const Block& body, ValueId v) const {
    const NodeId producer = graph_.value(v).producer;
    bool found = false;
    auto visit = [&](NodeId id, int) { found = found || id == producer; };
    graph_.for_each_node(body, 0, visit);
    return found && graph_.value(v).kind == ValueKind::result;
  }
  ValueId storage_of(ValueId v) const {
    for (auto at = alias_.find(v); at != alias_.end(); at = alias_.find(v)) v = at->second;
    return v;
  }

  int32_t operand(ValueId id) {
    if (!shadow_.empty())
      if (const auto at = shadow_.find(id); at != shadow_.end()) return at->second;
    if (operand_of_[static_cast<size_t>(id)] >= 0) return operand_of_[static_cast<size_t>(id)];
    const Value& v = graph_.value(id);
    Operand o;
    o.value = id;
    o.dtype = v.type.dtype;
    if (v.kind == ValueKind::decision) {
      decision_operand(v, o);
    } else {
      for (const Dim& d : v.type.content) o.width *= v.kind == ValueKind::weight || d.is_constant() ? d.constant() : 1;
      value_operand(id, v, o);
    }
    program_.operands.push_back(o);
    return operand_of_[static_cast<size_t>(id)] = static_cast<int32_t>(program_.operands.size()) - 1;
  }

  void decision_operand(const Value& v, Operand& o) {
    o.is_decision = true;
    o.branches = v.branches;
    o.fan_out = v.fan_out;
    const CellSpace& from = graph_.space(v.type.space);
    o.decision_cells = dim(from.count);
    rows_of(v.type.space, o);
    // decision_bytes() as a polynomial: 5 parts of slots, 2 of cells, 3 of branches, 1 word; each part rounded up to the alignment.
    const Dim slots = from.count * Dim(v.fan_out);
    o.buffer = add_buffer(v.name, BufferKind::arena,
                          slots * Dim(5 * 4) + from.count * Dim(2 * 4) + Dim(3 * 4 * (v.branches + 1) + 4 + 12 * kAlign));
    o.kind = BufferKind::arena;
  }

  void rows_of(SpaceId space, Operand& o) {
    if (space == kNone) return;
    const CellSpace& s = graph_.space(space);
    o.rows = dim(s.count);
    if (s.kind == SpaceKind::routed) {
      o.decision = operand(s.decision);
      o.branch = s.branch;
    }
  }

  void value_operand(ValueId id, const Value& v, Operand& o) {
    rows_of(v.type.space, o);
    Dim bytes(static_cast<int64_t>(element_size(v.type.dtype)));
    for (const Dim& d : v.type.content) bytes = bytes * d;
    if (v.type.space != kNone) bytes = bytes * graph_.space(v.type.space).count;
    switch (v.kind) {
      case ValueKind::weight:
        o.kind = BufferKind::weight;
        program_.weights.push_back({id, v.name});
        o.buffer = static_cast<int32_t>(program_.weights.size()) - 1;
        return;
      case ValueKind::input:
        o.kind = BufferKind::input;
        o.buffer = add_buffer(v.name, BufferKind::input, bytes);
        return;
      case ValueKind::state:
        o.kind = BufferKind::state;
        o.buffer = add_buffer(v.name, BufferKind::state, bytes);
        return;
      default:
        break;
    }
    const ValueId storage = storage_of(id);
    if (storage != id) {
      o.buffer = program_.operands[static_cast<size_t>(operand(storage))].buffer;
      return;
    }
    if (v.type.space != kNone && graph_.space(v.type.space).kind == SpaceKind::routed &&
        graph_.space(v.type.space).branch != kAllBranches) {
      o.buffer = sibling_buffer(v);
      return;
    }
    o.buffer = add_buffer(v.name, BufferKind::arena, bytes);
  }

  // Values of sibling branches at the same place in their chains share one buffer of all slots, each its branch's slice: branches may
  // then all be alive at their gather, in no more memory than one branch that took every cell would need.
  int32_t sibling_buffer(const Value& v) {
    const CellSpace& space = graph_.space(v.type.space);
    int64_t row = static_cast<int64_t>(element_size(v.type.dtype));
    for (const Dim& d : v.type.content) row *= d.constant();
    const int place = places_[{v.type.space, row}]++;
    const auto key = std::make_tuple(space.decision, place, row);
    if (const auto at = siblings_.find(key); at != siblings_.end()) return at->second;
    const Value& d = graph_.value(space.decision);
    const Dim slots = graph_.space(space.parent).count * Dim(d.fan_out);
    return siblings_[key] = add_buffer(d.name + ".slots", BufferKind::arena, slots * Dim(row));
  }

  int32_t emit(Step step) {
    program_.steps.push_back(std::move(step));
    return static_cast<int32_t>(program_.steps.size()) - 1;
  }
  int32_t here() const { return static_cast<int32_t>(program_.steps.size()); }

  // The routed spaces from the outermost to `space`: those are the branches a node stands in.
  std::vector<SpaceId> branches_of(SpaceId space) const {
    std::vector<SpaceId> chain;
    for (; space != kNone; space = graph_.space(space).parent)
      if (graph_.space(space).kind == SpaceKind::routed && graph_.space(space).branch != kAllBranches) chain.insert(chain.begin(), space);
    return chain;
  }
  void leave_branches(size_t keep) {
    while (open_.size() > keep) {
      // Decisions made inside a skipped branch are empty, not left over from the last batch: gathers outside follow them.
      Step& skip = program_.steps[static_cast<size_t>(open_.back().second)];
      skip.target = here();
      for (int32_t s = open_.back().second; s < here(); ++s)
        if (program_.steps[static_cast<size_t>(s)].kind == StepKind::record)
          skip.outputs.push_back(program_.steps[static_cast<size_t>(s)].inputs[0]);
      open_.pop_back();
    }
  }
  void enter_branches(const std::vector<SpaceId>& chain) {
    size_t common = 0;
    while (common < chain.size() && common < open_.size() && open_[common].first == chain[common]) ++common;
    leave_branches(common);
    for (size_t i = common; i < chain.size(); ++i) {
      const CellSpace& s = graph_.space(chain[i]);
      Step skip;
      skip.kind = StepKind::skip_empty;
      skip.inputs = {operand(s.decision)};
      skip.branch = s.branch;
      open_.emplace_back(chain[i], emit(std::move(skip)));
    }
  }

  void block(const Block& block) {
    for (const NodeId id : block.nodes) {
      const Node& node = graph_.node(id);
      if (node.op->name == "guard") {
        leave_branches(0);
        guard(id, node);
        continue;
      }
      if (node.op->name == "repeat") {
        leave_branches(0);
        repeat(id, node);
        continue;
      }
      kernel(id, node);
    }
    leave_branches(0);
  }

  void kernel(NodeId id, const Node& node) {
    // A scatter runs where its flow lives, a gather where its result lives, everything else where its outputs live.
    SpaceId place = kNone;
    if (!node.outputs.empty())
      place = node.op->name == "scatter" ? graph_.value(node.inputs[0]).type.space : graph_.value(node.outputs[0]).type.space;
    enter_branches(branches_of(place));
    Step step;
    step.node = id;
    for (const ValueId v : node.inputs) step.inputs.push_back(operand(v));
    for (const ValueId v : node.outputs) step.outputs.push_back(operand(v));
    if (node.op->name == "gather") add_chains(node, step);
    const int32_t at = emit(std::move(step));
    if (node.op->name == "route") {
      ProgramRouter router;
      router.node = id;
      router.name = node.name;
      router.decision = program_.steps[static_cast<size_t>(at)].outputs[0];
      router.dense_space = graph_.dense_ancestor(graph_.value(node.outputs[0]).type.space);
      router.executions = repeat_ >= 0 ? program_.repeats[static_cast<size_t>(repeat_)].most : dim(Dim(1));
      router.repeat = repeat_;
      Step record;
      record.kind = StepKind::record;
      record.node = id;
      record.inputs = {router.decision};
      // The chain of decisions up to the dense cells, so that a nested decision's cells can be named.
      for (SpaceId s = graph_.value(node.outputs[0]).type.space; s != router.dense_space; s = graph_.space(s).parent)
        record.inputs.push_back(operand(graph_.space(s).decision));
      record.index = static_cast<int32_t>(program_.routers.size());
      program_.routers.push_back(router);
      emit(std::move(record));
    }
  }

  // A gather follows each input's rows up to its own space through decisions: they are inputs too, in the order of the inputs.
  void add_chains(const Node& node, Step& step) {
    const auto target = static_cast<SpaceId>(node.attributes.integer("space"));
    const size_t values = node.inputs.size() - extra_count(node);
    for (size_t i = 0; i < values; ++i)
      for (SpaceId s = graph_.value(node.inputs[i]).type.space; s != target; s = graph_.space(s).parent)
        step.inputs.push_back(operand(graph_.space(s).decision));
  }

  std::set<ValueId> states_written(const Block& body) const {
    std::set<ValueId> states;
    auto visit = [&](NodeId id, int) {
      const Node& n = graph_.node(id);
      if (n.op->name == "state_write" || n.op->name == "state_fill" || n.op->name == "state_put") states.insert(n.inputs[0]);
    };
    graph_.for_each_node(body, 0, visit);
    return states;
  }
  void copy(int32_t from, int32_t to) {
    Step step;
    step.kind = StepKind::copy;
    step.inputs = {from};
    step.outputs = {to};
    emit(std::move(step));
  }

  void guard(NodeId id, const Node& node) {
    const auto index = static_cast<int32_t>(program_.guards.size());
    program_.guards.push_back({id, node.name});
    const bool late = node.inputs.empty();
    std::set<ValueId> written = states_written(node.bodies[0]);
    written.merge(states_written(node.bodies[1]));
    std::map<ValueId, int32_t> shadows = shadow_;
    for (const ValueId s : written) {
      Operand shadow = program_.operands[static_cast<size_t>(operand(s))];
      shadow.buffer =
          add_buffer(graph_.value(s).name + ".shadow", BufferKind::state, program_.buffers[static_cast<size_t>(shadow.buffer)].bytes);
      program_.operands.push_back(shadow);
      shadows[s] = static_cast<int32_t>(program_.operands.size()) - 1;
    }
    const auto fill_shadows = [&] {
      for (const ValueId s : written) copy(operand(s), shadows[s]);
    };
    const auto body = [&](size_t b) {
      fill_shadows();
      std::swap(shadow_, shadows);
      block(node.bodies[b]);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        const int32_t from = operand(node.yields[b][i]), to = operand(node.outputs[i]);
        if (program_.operands[static_cast<size_t>(from)].buffer != program_.operands[static_cast<size_t>(to)].buffer ||
            program_.operands[static_cast<size_t>(from)].kind != program_.operands[static_cast<size_t>(to)].kind)
          copy(from, to);
      }
      std::swap(shadow_, shadows);
    };
    const auto test = [&](ValueId predicate) {
      Step step;
      step.kind = StepKind::guard;
      step.node = id;
      step.index = index;
      step.inputs = {operand(predicate)};
      return emit(std::move(step));
    };
    int32_t tested = -1;
    if (!late) tested = test(node.inputs[0]);
    body(0);
    if (late) tested = test(node.yields[0].back());
    Step over;
    over.kind = StepKind::jump;
    const int32_t jump = emit(std::move(over));
    program_.steps[static_cast<size_t>(tested)].target = here();
    Step need;
    need.kind = StepKind::need_weights;
    need.index = index;
    fallbacks_.push_back({emit(std::move(need)), 0, index});
    body(1);
    const size_t mine =
        std::find_if(fallbacks_.begin(), fallbacks_.end(), [&](const Range& r) { return r.index == index; }) - fallbacks_.begin();
    fallbacks_[mine].end = here();
    program_.steps[static_cast<size_t>(jump)].target = here();
    for (const ValueId s : written) copy(shadows[s], operand(s));
    regions_.push_back({tested, here(), index});
  }

  void repeat(NodeId id, const Node& node) {
    const auto index = static_cast<int32_t>(program_.repeats.size());
    program_.repeats.push_back({id, dim(Dim::parse(node.attributes.word("most"), graph_.symbols, node.name))});
    const int32_t outer = std::exchange(repeat_, index);
    Step begin;
    begin.kind = StepKind::repeat_begin;
    begin.node = id;
    begin.index = index;
    begin.most = program_.repeats.back().most;
    const int32_t first = emit(std::move(begin));
    block(node.bodies[0]);
    Step end;
    end.kind = StepKind::repeat_end;
    end.node = id;
    end.index = index;
    end.inputs = {operand(node.yields[0][0])};
    end.target = first + 1;
    end.most = program_.repeats[static_cast<size_t>(index)].most;
    const int32_t last = emit(std::move(end));
    program_.steps[static_cast<size_t>(first)].target = last + 1;  // where to go when there is no turn at all
    loops_.push_back({first, last, index});
    repeat_ = outer;
  }

  void liveness() {
    std::vector<ProgramBuffer>& buffers = program_.buffers;
    const auto touch = [&](int32_t operand, int32_t step) {
      for (int32_t o = operand; o >= 0; o = program_.operands[static_cast<size_t>(o)].decision) {
        const Operand& x = program_.operands[static_cast<size_t>(o)];
        if (x.kind == BufferKind::weight) continue;
        ProgramBuffer& b = buffers[static_cast<size_t>(x.buffer)];
        b.first = std::min(b.first, step);
        b.last = std::max(b.last, step);
      }
    };
    for (int32_t s = 0; s < here(); ++s) {
      for (const int32_t o : program_.steps[static_cast<size_t>(s)].inputs) touch(o, s);
      for (const int32_t o : program_.steps[static_cast<size_t>(s)].outputs) touch(o, s);
    }
    for (const int32_t o : outlives_) touch(o, here());
    // What a loop reads from outside must survive all its turns.
    for (bool changed = true; changed;) {
      changed = false;
      for (const Range& loop : loops_)
        for (ProgramBuffer& b : buffers)
          if (b.first < loop.begin && b.last >= loop.begin && b.last < loop.end) b.last = loop.end, changed = true;
    }
    for (ProgramBuffer& b : buffers)
      if (b.last < 0) b.first = b.last = 0;
  }

  // Steps know the outermost fallback they belong to: weights that only one fallback reads are loaded when its guard misses.
  void mark_fallbacks() {
    for (const Range& f : fallbacks_)
      for (int32_t s = f.begin; s < f.end; ++s)
        if (int32_t& mark = program_.steps[static_cast<size_t>(s)].fallback; mark < 0) mark = f.index;
  }

  struct Range {
    int32_t begin, end, index;
  };
  const Graph& graph_;
  Program program_;
  std::vector<int32_t> operand_of_;
  std::map<ValueId, ValueId> alias_;
  std::map<ValueId, int32_t> shadow_;
  std::map<std::pair<SpaceId, int64_t>, int> places_;
  std::map<std::tuple<ValueId, int, int64_t>, int32_t> siblings_;
  std::vector<std::pair<SpaceId, int32_t>> open_;
  std::set<int32_t> outlives_;
  std::vector<Range> fallbacks_, regions_, loops_;
  int32_t repeat_ = -1;
};

}  // namespace

Program lower(std::shared_ptr<const Graph> graph) { return Lowering(std::move(graph)).run(); }

std::string_view to_text(StepKind kind) {
  static constexpr std::string_view names[] = {"kernel", "copy",         "skip_empty", "guard", "need_weights",
                                               "jump",   "repeat_begin", "repeat_end", "record"};
  return names[static_cast<size_t>(kind)];
}

std::string Program::to_text() const {
  std::string text;
  const auto names = [&](const std::vector<int32_t>& list) {
    std::string out;
    for (const int32_t o : list) {
      const Operand& x = operands[static_cast<size_t>(o)];
      out += (out.empty() ? "" : ", ") + graph->value(x.value).name;
    }
    return out;
  };
  for (size_t i = 0; i < steps.size(); ++i) {
    const Step& s = steps[i];
    text += std::to_string(i) + " " + std::string(stormcell::to_text(s.kind));
    if (s.kind == StepKind::kernel) text += " " + std::string(graph->node(s.node).op->name);
    text += "(" + names(s.inputs) + ")";
    if (!s.outputs.empty()) text += " -> " + names(s.outputs);
    if (s.branch >= 0) text += " branch " + std::to_string(s.branch);
    if (s.target >= 0) text += " else " + std::to_string(s.target);
    text += "\n";
  }
  return text;
}

}  // namespace stormcell
