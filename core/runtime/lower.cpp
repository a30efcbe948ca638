#include "core/runtime/lower.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/graph/operator.h"
#include "core/runtime/cell_chain.h"
#include "core/runtime/liveness.h"
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
    find_liveness(program_);
    mark_fallbacks();
    return std::move(program_);
  }

 private:
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
      // Decisions and ragged cells made inside a skipped branch are empty, not left over from the last batch: gathers outside follow them.
      Step& skip = program_.steps[static_cast<size_t>(open_.back().second)];
      skip.target = here();
      for (int32_t s = open_.back().second; s < here(); ++s) {
        const Step& inner = program_.steps[static_cast<size_t>(s)];
        if (inner.kind == StepKind::record) skip.outputs.push_back(inner.inputs[0]);
        for (const int32_t o : inner.outputs)
          if (inner.kind == StepKind::kernel && program_.operands[static_cast<size_t>(o)].is_ragged) skip.outputs.push_back(o);
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
    // A scatter or pack runs where its flow lives, a gather where its result lives, everything else where its outputs live.
    SpaceId place = kNone;
    if (!node.outputs.empty())
      place = node.op->name == "scatter" || node.op->name == "pack" ? graph_.value(node.inputs[0]).type.space
                                                                    : graph_.value(node.outputs[0]).type.space;
    enter_branches(branches_of(place));
    Step step;
    step.node = id;
    for (const ValueId v : node.inputs) step.inputs.push_back(storage_.operand(v));
    for (const ValueId v : node.outputs) step.outputs.push_back(storage_.operand(v));
    if (node.op->name == "gather") add_chains(node, step);
    const int32_t at = emit(std::move(step));
    if (node.op->name == "route") {
      ProgramRouter router;
      router.node = id;
      router.name = node.name;
      router.decision = program_.steps[static_cast<size_t>(at)].outputs[0];
      router.dense_space = graph_.dense_ancestor(graph_.value(node.outputs[0]).type.space);
      router.executions = repeat_ >= 0 ? program_.repeats[static_cast<size_t>(repeat_)].most : storage_.dim(Dim(1));
      router.repeat = repeat_;
      Step record;
      record.kind = StepKind::record;
      record.node = id;
      record.inputs = {router.decision};
      // What leads up to the dense cells, so that the decision's cells can be named.
      const std::vector<CellLink> chain = cell_chain(graph_, graph_.value(node.outputs[0]).type.space, router.dense_space);
      for (const ValueId v : values_of(chain)) record.inputs.push_back(storage_.operand(v));
      router.dense_cells = storage_.dim(graph_.space(router.dense_space).count);
      router.by_row = names_cells(graph_, chain);
      record.index = static_cast<int32_t>(program_.routers.size());
      program_.routers.push_back(router);
      emit(std::move(record));
    }
  }

  // A gather follows each input's rows up to its own space: what tells the way are inputs too, in the order of the inputs.
  void add_chains(const Node& node, Step& step) {
    const auto target = static_cast<SpaceId>(node.attributes.integer("space"));
    const size_t values = node.inputs.size() - extra_count(node);
    for (size_t i = 0; i < values; ++i)
      for (const ValueId v : values_of(cell_chain(graph_, graph_.value(node.inputs[i]).type.space, target)))
        step.inputs.push_back(storage_.operand(v));
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
    std::map<ValueId, int32_t> shadows = storage_.shadows();
    for (const ValueId s : written) shadows[s] = storage_.shadow_of(s);
    const auto fill_shadows = [&] {
      for (const ValueId s : written) copy(storage_.operand(s), shadows[s]);
    };
    const auto body = [&](size_t b) {
      fill_shadows();
      shadows = storage_.replace(std::move(shadows));
      block(node.bodies[b]);
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        const int32_t from = storage_.operand(node.yields[b][i]), to = storage_.operand(node.outputs[i]);
        if (program_.operands[static_cast<size_t>(from)].buffer != program_.operands[static_cast<size_t>(to)].buffer ||
            program_.operands[static_cast<size_t>(from)].kind != program_.operands[static_cast<size_t>(to)].kind)
          copy(from, to);
      }
      shadows = storage_.replace(std::move(shadows));
    };
    const auto test = [&](ValueId predicate) {
      Step step;
      step.kind = StepKind::guard;
      step.node = id;
      step.index = index;
      step.inputs = {storage_.operand(predicate)};
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
    for (const ValueId s : written) copy(shadows[s], storage_.operand(s));
  }

  void repeat(NodeId id, const Node& node) {
    const auto index = static_cast<int32_t>(program_.repeats.size());
    program_.repeats.push_back({id, storage_.dim(Dim::parse(node.attributes.word("most"), graph_.symbols, node.name))});
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
    end.inputs = {storage_.operand(node.yields[0][0])};
    end.target = first + 1;
    end.most = program_.repeats[static_cast<size_t>(index)].most;
    const int32_t last = emit(std::move(end));
    program_.steps[static_cast<size_t>(first)].target = last + 1;  // where to go when there is no turn at all
    repeat_ = outer;
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
  Program program_;
  const Graph& graph_;
  Storage storage_;
  std::vector<std::pair<SpaceId, int32_t>> open_;
  std::vector<Range> fallbacks_;
  int32_t repeat_ = -1;
};

}  // namespace

Program lower(std::shared_ptr<const Graph> graph) { return Lowering(std::move(graph)).run(); }

}  // namespace stormcell
