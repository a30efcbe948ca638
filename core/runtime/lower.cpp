#include "core/runtime/lower.h"

#include <set>
#include <utility>

#include "core/graph/roles.h"
#include "core/runtime/cell_chain.h"
#include "core/runtime/liveness.h"
#include "core/runtime/slot_sharing.h"
#include "core/runtime/storage.h"

namespace stormcell {
namespace {

Program program_of(std::shared_ptr<const Graph> graph) {
  Program program;
  program.graph = std::move(graph);
  return program;
}

/// The steps of a graph, in the order of its nodes.
class Lowering {
 public:
  explicit Lowering(std::shared_ptr<const Graph> graph)
      : program_(program_of(std::move(graph))), graph_(*program_.graph), storage_(program_) {}

  Program run() {
    block(graph_.top);
    leave_branches(0);
    for (const NamedValue& output : graph_.outputs) program_.outputs.push_back(storage_.operand(output.value));
    find_liveness(program_);  // by which values of sibling branches share buffers,
    share_slots(program_);
    find_liveness(program_);  // and that of the buffers that they then lie in
    mark_fallbacks();
    return std::move(program_);
  }

 private:
  int32_t emit(Step step) {
    program_.steps.push_back(std::move(step));
    return static_cast<int32_t>(program_.steps.size()) - 1;
  }
  int32_t here() const { return static_cast<int32_t>(program_.steps.size()); }

  // The routed spaces from the outermost to `space`: the branches that a node is in.
  std::vector<SpaceId> branches_of(SpaceId space) const {
    std::vector<SpaceId> chain;
    for (; space != kNone; space = graph_.space(space).parent)
      if (graph_.space(space).kind == SpaceKind::routed && graph_.space(space).branch != kAllBranches)
        chain.insert(chain.begin(), space);
    return chain;
  }
  void leave_branches(size_t keep) {
    while (open_.size() > keep) {
      // Decisions and ragged cells made inside a skipped branch are empty, not left over from the last batch: gathers
      // outside follow them.
      Step& skip = program_.steps[open_.back().second];
      skip.target = here();
      for (int32_t s = open_.back().second; s < here(); ++s) {
        const Step& inner = program_.steps[s];
        if (inner.kind == StepKind::record) skip.outputs.push_back(inner.inputs[0]);
        for (const OperandId o : inner.outputs)
          if (inner.kind == StepKind::kernel && program_.operands[o].is_ragged) skip.outputs.push_back(o);
      }
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
      skip.inputs = {storage_.operand(s.decision)};
      skip.branch = s.branch;
      open_.emplace_back(chain[i], emit(std::move(skip)));
    }
  }

  void block(const Block& block) {
    for (const NodeId id : block.nodes) {
      const Node& node = graph_.node(id);
      if (has_role(node, Role::guard)) {
        leave_branches(0);
        guard(id, node);
        continue;
      }
      if (has_role(node, Role::repeat)) {
        leave_branches(0);
        repeat(id, node);
        continue;
      }
      kernel(id, node);
    }
    leave_branches(0);
  }

  void kernel(NodeId id, const Node& node) {
    enter_branches(branches_of(place_of(graph_, node)));
    save_for(id, node);
    Step step;
    step.node = id;
    for (const ValueId v : node.inputs) step.inputs.push_back(storage_.operand(v));
    for (const ValueId v : node.outputs) step.outputs.push_back(storage_.operand(v));
    if (has_role(node, Role::close)) add_chains(node, step);
    if (has_role(node, Role::exchange)) send(node, step);
    emit(std::move(step));
    if (is_route(node)) record_router(id, node);
  }

  /// Adds the router of a route, and the step that records its decision.
  void record_router(NodeId id, const Node& node) {
    const SpaceId space = graph_.value(node.outputs[0]).type.space;
    ProgramRouter router;
    router.node = id;
    router.name = node.name;
    router.decision = storage_.operand(node.outputs[0]);
    router.dense_space = graph_.dense_ancestor(space);
    router.executions = repeat_ != kNone ? program_.repeats[repeat_].most : storage_.dim(Dim(1));
    router.repeat = repeat_;
    // The links up to the dense cells name the decision's cells.
    const std::vector<CellLink> chain = cell_chain(graph_, space, router.dense_space);
    router.by_row = has_distinct_cells(graph_, chain);
    Step record{.kind = StepKind::record, .node = id, .inputs = {router.decision}};
    for (const ValueId v : values_of(chain)) record.inputs.push_back(storage_.operand(v));
    router.dense_cells = storage_.dim(graph_.space(router.dense_space).count);
    record.router = program_.routers.add(std::move(router));
    emit(std::move(record));
  }

  /// Adds a step that collects the rows that an exchange sends. The ranks meet after it.
  void send(const Node& node, Step step) {
    if (node.attributes.has("ranks")) program_.ranks = static_cast<int32_t>(node.attributes.integer("ranks"));
    step.kind = StepKind::send;
    step.outputs.clear();
    emit(std::move(step));
  }

  // A gather follows the rows of each input up to its own space. The values that it needs for this are inputs too, in
  // the order of the inputs.
  void add_chains(const Node& node, Step& step) {
    const SpaceId target(node.attributes.integer("space"));
    for (size_t i = 0; i < joined_inputs(node); ++i)
      for (const ValueId v : values_of(cell_chain(graph_, graph_.value(node.inputs[i]).type.space, target)))
        step.inputs.push_back(storage_.operand(v));
  }

  static Step copying(OperandId from, OperandId to) {
    return {.kind = StepKind::copy, .inputs = {from}, .outputs = {to}};
  }
  void copy(OperandId from, OperandId to) { emit(copying(from, to)); }

  // Saves what the taken body of a late guard overwrites. A miss puts it back before anything else happens.
  struct Undo {
    std::set<ValueId> whole;     // states saved as a whole
    std::vector<Step> restores;  // in the order of the saves
  };
  void save_whole(ValueId state) {
    if (!undo_->whole.insert(state).second) return;
    const OperandId saved = storage_.room_for(state);
    copy(storage_.operand(state), saved);
    undo_->restores.push_back(copying(saved, storage_.operand(state)));
  }
  /// Saves as a whole states that regions within the body change: which rows they will write, and whether they will,
  /// is not known before they run.
  void save_for_regions(const Block& body) {
    for (const NodeId outer : body.nodes)
      for (const Block& inner : graph_.node(outer).bodies) {
        auto visit = [&](NodeId id, int) {
          if (const ValueId state = changed_state(graph_, graph_.node(id)); state != kNone) save_whole(state);
        };
        graph_.for_each_node(inner, 0, visit);
      }
  }
  /// The value as it is now, copied if it is a state: that may differ when its rows are put back.
  OperandId kept(ValueId value) {
    if (graph_.value(value).kind != ValueKind::state) return storage_.operand(value);
    const OperandId now = storage_.room_for(value);
    copy(storage_.operand(value), now);
    return now;
  }
  void save_for(NodeId id, const Node& node) {
    const ValueId state = changed_state(graph_, node);
    if (!undo_ || state == kNone || undo_->whole.contains(state)) return;
    if (!node.op->keeps_rows) return save_whole(state);
    Step save;
    save.kind = StepKind::save_rows;
    save.node = id;
    save.inputs = {storage_.operand(state)};
    if (const auto at = extra_input(node, "at")) save.inputs.push_back(kept(node.inputs[*at]));
    save.outputs = {storage_.room_for(node.inputs[1])};
    Step restore = save;
    restore.kind = StepKind::restore_rows;
    std::swap(restore.inputs[0], restore.outputs[0]);
    undo_->restores.push_back(std::move(restore));
    emit(std::move(save));
  }

  void body(const Node& node, size_t b) {
    block(node.bodies[b]);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const OperandId from = storage_.operand(node.yields[b][i]), to = storage_.operand(node.outputs[i]);
      const Operand &x = program_.operands[from], &y = program_.operands[to];
      if (x.buffer != y.buffer || x.kind != y.kind) copy(from, to);
    }
  }

  void guard(NodeId id, const Node& node) {
    const GuardId index = program_.guards.add({id, node.name, word_of(node, "pass")});
    const auto test = [&](ValueId predicate) {
      Step step;
      step.kind = StepKind::guard;
      step.node = id;
      step.guard = index;
      step.inputs = {storage_.operand(predicate)};
      return emit(std::move(step));
    };
    // One body runs and the other does not if the predicate is early: nothing has to be saved.
    const bool late = node.inputs.empty();
    Undo undo;
    Undo* const outer = std::exchange(undo_, late ? &undo : nullptr);
    int32_t tested = -1;
    if (late) {
      save_for_regions(node.bodies[0]);
    } else {
      tested = test(node.inputs[0]);
    }
    body(node, 0);
    undo_ = nullptr;
    if (late) tested = test(node.yields[0].back());
    Step over;
    over.kind = StepKind::jump;
    const int32_t jump = emit(std::move(over));
    program_.steps[tested].target = here();
    // Restores states before the submission may end for missing weights, so that they are as before the guard.
    for (auto restore = undo.restores.rbegin(); restore != undo.restores.rend(); ++restore) emit(std::move(*restore));
    Step need;
    need.kind = StepKind::need_weights;
    need.guard = index;
    const size_t mine = fallbacks_.size();
    fallbacks_.push_back({emit(std::move(need)), 0, index});
    body(node, 1);
    fallbacks_[mine].end = here();
    program_.steps[jump].target = here();
    undo_ = outer;
  }

  void repeat(NodeId id, const Node& node) {
    const RepeatId index =
        program_.repeats.add({id, storage_.dim(Dim::parse(node.attributes.word("most"), graph_.symbols, node.name))});
    const RepeatId outer = std::exchange(repeat_, index);
    Undo* const undo = std::exchange(undo_, nullptr);  // the turns' writes are saved already
    Step begin;
    begin.kind = StepKind::repeat_begin;
    begin.node = id;
    begin.repeat = index;
    begin.most = program_.repeats.back().most;
    const int32_t first = emit(std::move(begin));
    block(node.bodies[0]);
    Step end;
    end.kind = StepKind::repeat_end;
    end.node = id;
    end.repeat = index;
    end.inputs = {storage_.operand(node.yields[0][0])};
    end.target = first + 1;
    end.most = program_.repeats[index].most;
    const int32_t last = emit(std::move(end));
    program_.steps[first].target = last + 1;  // the next step if there is no turn at all
    repeat_ = outer;
    undo_ = undo;
  }

  // Steps know the outermost fallback they belong to: weights that only one fallback reads are loaded when its guard
  // misses.
  void mark_fallbacks() {
    for (const Range& f : fallbacks_)
      for (int32_t s = f.begin; s < f.end; ++s)
        if (GuardId& mark = program_.steps[s].fallback; mark == kNone) mark = f.guard;
  }

  struct Range {
    int32_t begin, end;
    GuardId guard;
  };
  Program program_;
  const Graph& graph_;
  Storage storage_;
  std::vector<std::pair<SpaceId, int32_t>> open_;
  std::vector<Range> fallbacks_;
  RepeatId repeat_;
  Undo* undo_ = nullptr;
};

}  // namespace

Program lower(std::shared_ptr<const Graph> graph) { return Lowering(std::move(graph)).run(); }

}  // namespace stormcell
