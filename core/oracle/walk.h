// The oracle's walk over a graph, for any number type. oracle.cpp instantiates it for floats. A file that instantiates
// it for another type includes this header and core/oracle/reference/kernels.h.
#pragma once
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/reused_memory.h"
#include "core/graph/label_inputs.h"
#include "core/graph/roles.h"
#include "core/oracle/oracle.h"
#include "core/oracle/reference/frame.h"
#include "core/oracle/reference/route.h"

namespace stormcell::reference {

/// One run: walks over the blocks.
template <class Scalar>
class Walk {
 public:
  Walk(const Graph& graph, const WeightSource& weights, const Bindings& bindings, const OracleOptions& options)
      : graph_(graph),
        options_(options),
        frame_(graph, weights, bindings, options.round_inputs),
        team_(std::max(1, options.threads)),
        last_use_(graph.values.size(), kNone) {
    find_last_uses(graph_.top);
    for (const NamedValue& output : graph_.outputs) last_use_[output.value] = kNone;
  }

  void set_inputs(const OracleInputs<Scalar>& inputs) {
    const std::vector<LabelInput> labels = label_inputs(graph_);
    for (const ValueId id : graph_.values.ids()) {
      const Value& value = graph_.value(id);
      if (value.kind == ValueKind::state) frame_.make(id);
      if (value.kind != ValueKind::input) continue;
      const auto given = inputs.find(value.name);
      if (given == inputs.end()) bad_input(value.name, "the input is missing");
      OracleTensor<Scalar> tensor = given->second;
      size_t expected = 1;
      for (const int64_t d : frame_.dims(id)) expected *= static_cast<size_t>(d);
      const bool real = value.type.dtype == DType::f32;
      const size_t came = real ? tensor.reals.size() : tensor.integers.size();
      if (came != expected || (real ? tensor.integers.size() : tensor.reals.size()) != 0)
        bad_input(value.name, "expected " + std::to_string(expected) + (real ? " floats" : " integers") + ", got " +
                                  std::to_string(came));
      for (const LabelInput& label : labels)
        if (label.input == id) check_labels(graph_, label, tensor.integers);
      tensor.dims = frame_.dims(id);
      frame_.set(id, std::move(tensor));
    }
  }

  OracleResult<Scalar> run() {
    block(graph_.top);
    for (const NamedValue& output : graph_.outputs)
      result_.outputs.emplace_back(output.name, frame_.tensor(output.value));
    if (options_.keep_values)
      for (const ValueId v : graph_.values.ids())
        if (frame_.has(v)) result_.values[v] = std::move(frame_.tensor(v));
    return std::move(result_);
  }

 private:
  // For each value, the last node of its own block that reads it. A use inside a region counts as a use by the node of
  // the region. Values that a body yields, and values of other blocks, are kept until the region or the run ends.
  void find_last_uses(const Block& block) {
    for (const NodeId id : block.nodes) {
      const Node& node = graph_.node(id);
      for (const ValueId v : node.outputs) last_use_[v] = id;
      const auto use = [&](ValueId v) {
        if (v != kNone && graph_.value(v).kind != ValueKind::weight && made_in(block, v)) last_use_[v] = id;
      };
      const auto use_all = [&](NodeId inner) {
        for (const ValueId v : graph_.node(inner).inputs) {
          use(v);
          // Rows over a routed space need the decisions above it.
          for_each_telling(graph_.value(v).type.space, use);
        }
        for (const ValueId v : graph_.node(inner).outputs) for_each_telling(graph_.value(v).type.space, use);
        for (const auto& yield : graph_.node(inner).yields)
          for (const ValueId v : yield) use(v);
      };
      use_all(id);
      for (const Block& body : node.bodies) {
        find_last_uses(body);
        auto visit = [&](NodeId inner, int) { use_all(inner); };
        graph_.for_each_node(body, 0, visit);
      }
      for (const auto& yield : node.yields)
        for (const ValueId v : yield) last_use_[v] = made_in(block, v) ? id : kNone;
    }
  }
  /// The decisions and ragged values that tell which cells a space has.
  template <class Visit>
  void for_each_telling(SpaceId space, Visit visit) const {
    for (; space != kNone; space = graph_.space(space).parent) {
      const CellSpace& s = graph_.space(space);
      visit(s.decision);
      visit(s.offsets);
      if (s.kind == SpaceKind::ragged) for_each_telling(s.base, visit);
    }
  }
  bool made_in(const Block& block, ValueId v) {
    const NodeId producer = graph_.value(v).producer;
    if (producer == kNone) return false;
    auto& nodes = nodes_of_[&block];
    if (nodes.empty()) nodes.insert(block.nodes.begin(), block.nodes.end());
    return nodes.contains(producer);
  }

  void block(const Block& block) {
    for (const NodeId id : block.nodes) {
      options_.cancel.check();
      const Node& node = graph_.node(id);
      if (has_role(node, Role::guard)) {
        guard(node);
      } else if (has_role(node, Role::repeat)) {
        repeat(node);
      } else if (is_route(node)) {
        route(id, node);
      } else {
        const Kernel<Scalar> kernel = find_kernel<Scalar>(node.op->name);
        if (!kernel) failed(node.op->name, "the oracle has no kernel for this operator");
        for (const ValueId v : node.outputs)
          if (graph_.value(v).kind != ValueKind::ragged) frame_.make(v);
        kernel({frame_, node, team_, options_.cancel});
      }
      if (!options_.keep_values) release(id, node);
    }
  }
  void release(NodeId id, const Node& node) {
    const auto done = [&](ValueId v) {
      if (v != kNone && last_use_[v] == id) frame_.release(v);
    };
    for (const ValueId v : node.inputs) {
      done(v);
      for_each_telling(graph_.value(v).type.space, done);
    }
    for (const ValueId v : node.outputs) done(v);
  }

  // With a predicate, runs the body that it selects. Without one, the taken body's last yield says afterwards whether
  // it was right; if not, states are restored and the fallback runs.
  void guard(const Node& node) {
    size_t chosen = 0;
    if (!node.inputs.empty()) {
      chosen = frame_.tensor(node.inputs[0]).integers.at(0) != 0 ? 0 : 1;
      block(node.bodies[chosen]);
    } else {
      std::map<ValueId, OracleTensor<Scalar>> states;
      for (const ValueId v : graph_.values.ids())
        if (graph_.value(v).kind == ValueKind::state) states[v] = frame_.tensor(v);
      const size_t decided = result_.decisions.size();
      const auto executions = executions_;
      block(node.bodies[0]);
      if (frame_.tensor(node.yields[0].back()).integers.at(0) == 0) {
        for (auto& [id, tensor] : states) frame_.set(id, std::move(tensor));
        result_.decisions.resize(decided);
        executions_ = executions;
        chosen = 1;
        block(node.bodies[1]);
      }
    }
    ++(chosen == 0 ? result_.guards_taken : result_.guard_fallbacks);
    for (size_t i = 0; i < node.outputs.size(); ++i) frame_.set(node.outputs[i], frame_.tensor(node.yields[chosen][i]));
  }

  void repeat(const Node& node) {
    const int64_t most =
        Dim::parse(node.attributes.word("most"), graph_.symbols, node.name).evaluate(frame_.bindings());
    for (int64_t turn = 0; turn < most; ++turn) {
      block(node.bodies[0]);
      if (frame_.tensor(node.yields[0][0]).integers.at(0) != 0) break;
    }
  }

  void route(NodeId id, const Node& node) {
    HeldDecision& held = frame_.make_decision(node.outputs[0]);
    const DecisionView& view = held.view;
    OracleDecision made;
    made.router = node.name;
    made.node = id;
    made.execution = executions_[node.name]++;
    made.shape = {held.cells, view.fan_out, view.branches};
    const SpaceId space = graph_.value(node.outputs[0]).type.space;
    made.dense_space = graph_.dense_ancestor(space);
    made.dense_cells = frame_.rows(made.dense_space);
    if (space != made.dense_space)
      for (int64_t cell = 0; cell < held.cells; ++cell)
        made.ancestor.push_back(static_cast<int32_t>(frame_.follow(space, made.dense_space, cell)));
    const int32_t* replayed = nullptr;
    std::vector<int32_t> forced;
    const size_t slots = made.shape.slot_count();
    const std::vector<int32_t> drawn = options_.force ? options_.force(made) : std::vector<int32_t>();
    if (!drawn.empty()) {
      forced = choices_of_came(made, drawn);
      replayed = forced.data();
    } else if (const std::vector<int32_t>* all = forced_choices(made)) {
      forced = choices_of_came(made, *all);
      replayed = forced.data();
    } else if (const auto at = options_.replay.find(node.name); at != options_.replay.end()) {
      const auto& recorded = at->second;
      if (static_cast<size_t>(made.execution) >= recorded.size())
        bad_input(node.name, "expected choices of execution " + std::to_string(made.execution) + " to replay, got " +
                                 std::to_string(recorded.size()));
      const auto& choices = recorded[made.execution];
      if (choices.size() != slots)
        bad_input(node.name,
                  "expected " + std::to_string(slots) + " choices to replay, got " + std::to_string(choices.size()));
      replayed = choices.data();
    }
    const Call<Scalar> call{frame_, node, team_, options_.cancel};
    Scores scores = decide(call, replayed, changed_rule(node.name), held, made.free_choice);
    made.choice.assign(view.choice, view.choice + slots);
    made.weight.assign(view.choice_weight, view.choice_weight + slots);
    made.margin.assign(view.margin, view.margin + held.cells);
    if (options_.keep_scores) {
      made.score_columns = static_cast<int32_t>(scores.values.empty() && held.cells > 0 ? 0 : call.width(0));
      made.scores = std::move(scores.values);
      made.bias = std::move(scores.bias);
    }
    result_.decisions.push_back(std::move(made));
  }
  /// The choices that this execution is forced to; null: it is not forced.
  const std::vector<int32_t>* forced_choices(const OracleDecision& made) const {
    if (const auto all = options_.forced.find(made.router); all != options_.forced.end()) return &all->second;
    const auto at = options_.forced_executions.find(made.router);
    if (at == options_.forced_executions.end() || made.execution >= std::ssize(at->second)) return nullptr;
    const std::vector<int32_t>& choices = at->second[made.execution];
    return choices.empty() ? nullptr : &choices;
  }
  ChangedRule changed_rule(const std::string& router) const {
    const auto off = options_.off.find(router);
    const auto capacity = options_.capacities.find(router);
    return {off == options_.off.end() ? nullptr : &off->second,
            capacity == options_.capacities.end() ? nullptr : &capacity->second};
  }
  /// Picks the choices of the cells that came from those given for all cells of the dense space.
  static std::vector<int32_t> choices_of_came(const OracleDecision& made, const std::vector<int32_t>& all) {
    const int64_t fan_out = made.shape.fan_out, expected = made.dense_cells * fan_out;
    if (std::ssize(all) != expected)
      bad_input(made.router,
                "expected " + std::to_string(expected) + " choices to force, got " + std::to_string(all.size()));
    if (made.shape.cells == made.dense_cells && made.ancestor.empty()) return all;
    std::vector<int32_t> choices;
    for (const int32_t cell : made.ancestor)
      choices.insert(choices.end(), all.begin() + cell * fan_out, all.begin() + (cell + 1) * fan_out);
    return choices;
  }

  const Graph& graph_;
  const OracleOptions& options_;
  Frame<Scalar> frame_;
  ThreadTeam team_;
  IdVector<ValueId, NodeId> last_use_;
  std::map<const Block*, std::set<NodeId>> nodes_of_;
  std::map<std::string, int64_t, std::less<>> executions_;
  OracleResult<Scalar> result_;
};

}  // namespace stormcell::reference

namespace stormcell {

template <class Scalar>
const OracleTensor<Scalar>& OracleResult<Scalar>::output(std::string_view name) const {
  for (const auto& [known, tensor] : outputs)
    if (known == name) return tensor;
  failed(name, "the model has no such output");
}

template <class Scalar>
OracleResult<Scalar> Oracle<Scalar>::run(const OracleInputs<Scalar>& inputs, const Bindings& bindings,
                                         const OracleOptions& options) const {
  if (bindings.size() < graph_.symbols.size())
    bad_input("oracle", "expected values of " + std::to_string(graph_.symbols.size()) + " symbols, got " +
                            std::to_string(bindings.size()));
  const ReusedMemory reused;  // weights are read one after another
  reference::Walk<Scalar> walk(graph_, weights_, bindings, options);
  walk.set_inputs(inputs);
  return walk.run();
}

}  // namespace stormcell
