// Routers of which each branch got every profiled cell or none: the region behind them becomes
//   guard(branches_full(decision; those that got all), branches_empty(decision; the others)) { the region without
//   sending } { as it was }
// All cells or none is the sound rule: a share, or places at regular distances, says nothing of the next batch. The
// decision stays before the guard, so that a miss computes the region as it was and nothing twice. Weights of branches
// that got no cell are loaded by a miss.
#include "core/passes/constant_decision.h"

#include "core/base/numbers.h"
#include "core/passes/constant_routers.h"
#include "core/passes/dead_branches.h"

namespace stormcell {
namespace {

class ConstantDecision : public ConstantRouters {
 public:
  explicit ConstantDecision(const PassInput& input) : ConstantRouters(input, "constant-decision") {}

 private:
  std::optional<Obstacle> make_straight(const Region& region, TakenBranches taken) override {
    StraightRegion straight(rewriter_, region, std::move(taken));
    if (std::optional<Obstacle> why = straight.obstacle()) return why;
    if (std::optional<Obstacle> why = without_kernels(straight.operators_of_make())) return why;
    if (std::optional<Obstacle> why = without_kernels(straight.operators_of_holds())) return why;
    const std::optional<size_t> first = rewriter_.bring_together(region.block, region.nodes);
    if (!first) return depends_on_it();
    Rewriter::Body fallback{region.nodes, joined(region)};
    std::vector<NodeId> before;
    const ValueId predicate = straight.holds({}, before);
    rewriter_.guard_run(region.block, *first, std::move(before), predicate, straight.make(), std::move(fallback),
                        name_of(region, "constant"), "constant-decision");
    return {};
  }
};

}  // namespace

PassResult constant_decision(const PassInput& input) {
  ConstantDecision pass(input);
  PassResult result = pass.run();
  if (!result.applied) return result;
  const int64_t bytes = bytes_of_fallbacks_only(result.graph, input.parts).loaded -
                        bytes_of_fallbacks_only(input.graph, input.parts).loaded;
  const std::string spared =
      bytes > 0 ? "; " + to_text(Bytes(bytes)) + " of weights are loaded only if a guard misses" : std::string();
  result.reason = pass.reason("nothing is sent or joined there" + spared);
  return result;
}

}  // namespace stormcell
