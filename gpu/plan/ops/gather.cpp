#include "core/graph/roles.h"
#include "core/runtime/branches_computed.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {
namespace {

/// A gather, apart from memory.
struct Joining {
  JoinMode mode = JoinMode::sum;
  bool by_slots = false, all_slots = false;
  std::vector<int32_t> of_branch;  ///< by_slots, by branch: the input that holds its rows, -1: none
  std::vector<CellChain> chains;   ///< of the joined values
  std::vector<std::optional<size_t>> factors;
  std::optional<size_t> otherwise, residual;
  size_t decision = 0;  ///< the step's input with the decision of by_slots
};

JoinMode mode_of(std::string_view word) {
  return word == "place" ? JoinMode::place : word == "weighted" ? JoinMode::weighted : JoinMode::sum;
}

/// True if all inputs are branches, or the slots, of one decision over the cells of the result, and no two of one
/// branch.
bool find_slots(const KernelBuildContext& m, Joining& j) {
  const Graph& g = m.graph();
  const SpaceId target(m.node().attributes.integer("space"));
  if (j.mode == JoinMode::place || m.type(0).space == kNone) return false;
  const ValueId decision = g.space(m.type(0).space).decision;
  if (decision == kNone) return false;
  j.of_branch.assign(g.value(decision).branches, -1);
  for (size_t i = 0; i < j.chains.size(); ++i) {
    const CellSpace& s = g.space(m.type(i).space);
    if (s.decision != decision || s.parent != target) return false;
    if (s.branch == kAllBranches) {
      if (j.chains.size() != 1) return false;
      std::fill(j.of_branch.begin(), j.of_branch.end(), 0);
      j.all_slots = true;
    } else if (int32_t& of = j.of_branch[s.branch]; of >= 0) {
      return false;
    } else {
      of = static_cast<int32_t>(i);
    }
  }
  if (const auto computed = branches_computed(m)) {
    std::fill(j.of_branch.begin(), j.of_branch.end(), -1);
    for (const int64_t b : *computed) j.of_branch[b] = 0;
  }
  j.by_slots = true;
  j.decision = m.node().inputs.size();
  return true;
}

/// The rows are members of all slots; only those of some branches count.
void count_branches(const KernelBuildContext& m, const std::vector<int64_t>& computed, Joining& j) {
  const CellSpace& slots = m.graph().space(m.graph().space(m.type(0).space).parent);
  j.of_branch.assign(m.graph().value(slots.decision).branches, -1);
  for (const int64_t b : computed) j.of_branch[b] = 0;
}

void add_join(StepNodes& nodes, const Joining& j) {
  JoinArgs args;
  std::vector<Ref> list;
  const auto take = [&](size_t input) {
    list.push_back(nodes.reads(input));
    return static_cast<int32_t>(list.size()) - 1;
  };
  std::vector<JoinInput> inputs;
  for (size_t i = 0; i < j.chains.size(); ++i) {
    JoinInput& of = inputs.emplace_back();
    of.rows = take(i);
    if (j.factors[i]) of.factor = take(*j.factors[i]);
    if (j.by_slots) continue;
    // The chain begins at the row; a join goes down to it.
    const auto& links = j.chains[i].links();
    for (auto link = links.rbegin(); link != links.rend(); ++link) {
      JoinLink& down = of.link[of.links++];
      const size_t decision = link->ragged ? link->decision : link->input;
      down.decision = take(decision), down.branch = link->branch, down.places = nodes.decision(decision);
      if (!link->ragged) continue;
      down.ragged = take(link->input);
      down.members = nodes.plan().ragged_places(nodes.step().inputs[link->input]);
      args.ref[JoinArgs::kCells] = nodes.cells_of(nodes.output(0), args.ragged);
    }
  }
  args.inputs = nodes.plan().constants(inputs.data(), inputs.size());
  args.count = static_cast<int32_t>(inputs.size());
  args.of_branch = nodes.plan().constants(j.of_branch.data(), j.of_branch.size());
  args.mode = j.mode, args.by_slots = j.by_slots, args.all_slots = j.all_slots;
  args.some_branches = !j.by_slots && !j.of_branch.empty();
  args.weighs_dropped = j.otherwise && j.mode == JoinMode::weighted;
  args.width = static_cast<int32_t>(nodes.output(0).width);
  args.ref[JoinArgs::kTo] = nodes.writes(0);
  if (j.otherwise) args.ref[JoinArgs::kOtherwise] = nodes.reads(*j.otherwise);
  if (j.residual) args.ref[JoinArgs::kResidual] = nodes.reads(*j.residual);
  if (j.by_slots) {
    args.ref[JoinArgs::kDecision] = nodes.reads(j.decision);
    args.decision = nodes.decision(j.decision);
  }
  nodes.add<JoinKernel>(args, nodes.blocks(nodes.most_rows(nodes.output(0)) * args.width, 4 * JoinKernel::kThreads),
                        list);
}

}  // namespace

std::unique_ptr<PlanKernel> plan_gather(const KernelBuildContext& m) {
  const Node& node = m.node();
  Joining j;
  j.mode = mode_of(node.attributes.word("mode"));
  j.otherwise = extra_input(node, "otherwise"), j.residual = extra_input(node, "residual");
  size_t at = node.inputs.size();
  bool members = false;  // the first value's
  for (size_t i = 0; i < joined_inputs(node); ++i) {
    const auto links = cell_chain(m.graph(), m.type(i).space, SpaceId(node.attributes.integer("space")));
    j.chains.emplace_back(links, at);
    at += values_of(links).size();
    j.factors.push_back(factor_input(node, i));
    // The members of a decision that routes the parents of the result's cells, and no other ragged cells.
    const auto& down = j.chains.back().links();
    for (size_t l = 0; l < down.size(); ++l)
      if (down[l].ragged && (down[l].decision == 0 || l + 1 < down.size())) return nullptr;
    if (i == 0) members = !down.empty() && down.back().ragged;
    if (j.chains.back().size() > JoinInput::kMostLinks) return nullptr;
  }
  if (!find_slots(m, j)) {
    j.by_slots = j.all_slots = false;
    j.of_branch.clear();
    // Rows that are not computed, and dropped choices, are known by slots and by the cells of parents.
    const auto computed = branches_computed(m);
    if (!members && (computed || (j.otherwise && j.mode == JoinMode::weighted))) return nullptr;
    if (computed) count_branches(m, *computed, j);
  }
  return planned("gather", [j](StepNodes& nodes) { add_join(nodes, j); });
}

}  // namespace stormcell::gpu
