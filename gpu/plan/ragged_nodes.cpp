// Nodes and tools of ragged values: the places of their parts, the entries settled behind them, and the way of a
// router's cells through them.
#include "core/base/error.h"
#include "core/runtime/status_area.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {

RaggedPlaces PlanBuilder::ragged_places(OperandId ragged) const {
  const Operand& o = program_.operands[ragged];
  const RaggedShape shape{most(o.ragged_parents), most(o.ragged_cells)};
  std::vector<std::byte> memory(ragged_bytes(shape));
  const RaggedView r = ragged_view(memory.data(), shape);
  const auto at = [&](const void* part) { return static_cast<int32_t>(place_of(part, memory.data())); };
  return {at(r.cells), at(r.parents), at(r.offsets), at(r.cell), at(r.parent), at(r.place)};
}

void PlanBuilder::settle_ragged(OperandId ragged, int32_t index, int32_t step, int32_t word) {
  SettleArgs args = settling(ragged, word);
  args.ragged = ragged_places(ragged);
  args.ref[SettleArgs::kRagged] = ref(ragged, Access::read);
  args.ref[SettleArgs::kCells] = counter(&StatusArea(status_.data(), program_).ragged_cells[index]);
  // Members: the rows of a branch are those of its slots.
  if (const OperandId told = program_.steps[step].inputs[0]; program_.operands[told].is_decision) {
    args.decision = places(told);
    args.ref[SettleArgs::kDecision] = ref(told, Access::read);
  }
  add_settle(args, step, word);
}

UpChain PlanBuilder::chain_of(RouterId router, std::vector<Ref>& list) const {
  const RecordRoom::Router& room = steps_.records[router];
  const auto take = [&](OperandId operand) {
    list.push_back(ref(operand, Access::read));
    return static_cast<int32_t>(list.size()) - 1;
  };
  UpChain chain;
  for (const CellChain::Link& link : room.chain.links()) {
    if (chain.links == UpChain::kMostLinks)
      failed(program_.routers[router].name,
             "CUDA does not run routers below more than " + std::to_string(chain.links) + " others yet",
             "run it with --device cpu");
    UpLink& up = chain.link[chain.links++];
    up.branch = link.branch;
    const OperandId told = room.operands[link.input];
    OperandId decision = told;
    if (link.ragged) {
      up.ragged = take(told), up.members = ragged_places(told);
      decision = link.decision > 0 ? room.operands[link.decision] : OperandId(kNone);
    }
    if (decision != kNone) up.decision = take(decision), up.places = places(decision);
  }
  return chain;
}

}  // namespace stormcell::gpu
