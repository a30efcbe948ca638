// Common parts of the passes about routers that always decide the same way: the regions, one after the other, and what
// is reported of them.
#pragma once
#include <tuple>
#include <utility>

#include "core/passes/constant_branches.h"
#include "core/passes/reasons.h"
#include "core/passes/straight_region.h"

namespace stormcell {

class ConstantRouters {
 public:
  ConstantRouters(const PassInput& input, std::string_view pass)
      : rewriter_(input.graph), input_(input), constant_(constant_branches(input, pass)) {}
  virtual ~ConstantRouters() = default;

  /// The pass without its reason.
  PassResult run();
  /// "2 routers always decided the same way (0 of 500 profiled cells otherwise, at most 0.6 % at 95 %): WHAT; not
  /// applied to ...".
  std::string reason(const std::string& what) const;

 protected:
  using Obstacle = StraightRegion::Obstacle;

  const Graph& graph() const { return rewriter_.graph(); }
  std::vector<ValueId> joined(const Region& region) const;
  /// "a+b.WHAT", the name of nodes behind these decisions.
  std::string name_of(const Region& region, const std::string& what) const;
  /// Rewrites what lies behind the region's decisions, all of which are constant; why it cannot, nothing where it has.
  virtual std::optional<Obstacle> make_straight(const Region& region, TakenBranches taken) = 0;
  static Obstacle depends_on_it() { return {kNone, kDependOnIt}; }
  /// The kernels that the device lacks for these operators; nothing if it has all.
  std::optional<Obstacle> without_kernels(const std::set<std::string_view>& operators) const;

  Rewriter rewriter_;

 private:
  bool step();
  bool step(const Region& region);
  std::vector<ValueId> constant_in(const Region& region) const;
  std::optional<Obstacle> straighten(const Region& region, std::span<const ValueId> decisions);
  void refuse(const Region& region, ValueId decision, const std::string& why);

  const PassInput& input_;
  ConstantBranches constant_;
  std::set<std::string> applied_;
  std::set<std::tuple<ValueId, NodeId, size_t>> done_;
  std::set<std::pair<ValueId, NodeId>> refused_;  // refused in the region that begins with this node
  Refusals refusals_;
};

}  // namespace stormcell
