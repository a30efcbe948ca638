// What the passes about routers that always decide the same way share: which regions, one after the other, and what is said of them.
#pragma once
#include <tuple>

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
  /// "2 routers sent all cells the same way (0 of 500 profiled cells went elsewhere, at most 0.6 % at 95 %): WHAT; not applied to ...".
  std::string reason(const std::string& what) const;

 protected:
  static constexpr const char* kDependsOnIt = "nodes between its scatters and gathers depend on it";

  const Graph& graph() const { return rewriter_.graph(); }
  const std::vector<int32_t>& taken(ValueId decision) const { return constant_.taken.find(router_name(graph(), decision))->second; }
  std::vector<ValueId> joined(const Region& region) const;
  /// Rewrites what lies behind a decision; why it cannot, empty where it has.
  virtual std::string make_straight(const Region& region, ValueId decision) = 0;

  Rewriter rewriter_;

 private:
  bool step();

  const PassInput& input_;
  ConstantBranches constant_;
  std::set<std::string> applied_, seen_;
  std::set<std::tuple<ValueId, NodeId, size_t>> done_;
  Refusals refusals_;
};

}  // namespace stormcell
