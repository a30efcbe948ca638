// Choices that routers are given in draws, so that every branch gets cells and guards both hold and miss.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/oracle/oracle.h"

namespace stormcell {

/// Branches that a plan expects to be used, by router. A router that is not named uses all.
using UsualBranches = std::map<std::string, std::vector<int32_t>, std::less<>>;
using ForceChoices = std::function<std::vector<int32_t>(const OracleDecision& made)>;

class DrawnChoices {
 public:
  DrawnChoices(const Graph& model, UsualBranches usual);

  /// The choices of a draw, by its number. Draw 0: routers decide freely, so that their protocols run. Draw 1: only
  /// usual branches, so that guards hold. All others: any branch, and every second cell leads to a branch that had none
  /// so far.
  ForceChoices of_draw(int draw) const;
  /// Takes out the branches that had cells. Routers that read equal scores in draw 0 get equal choices in all further
  /// draws: a plan may decide once for all of them.
  void take(int draw, const std::vector<OracleDecision>& decisions);
  /// Branches that have had no cell.
  int64_t unreached() const { return static_cast<int64_t>(unreached_.size()); }

 private:
  using Branch = std::pair<std::string, int32_t>;
  struct Router {
    SpaceId dense;              ///< the space in which its cells are identified
    std::vector<Branch> above;  ///< choices that lead a cell to it
    bool may_use_all = false;   ///< a cell may have all branches
    bool drops = false;
  };
  /// By router the branch that a cell has to choose, for the first cells of each space.
  using Wanted = std::map<std::string, std::map<int64_t, int32_t>, std::less<>>;

  void add(const Graph& model, const Node& node);
  void join_alike(const std::vector<OracleDecision>& decisions);
  /// The name of the first router that reads the same scores.
  const std::string& first_alike(const std::string& router) const;
  Wanted wanted(int draw) const;
  std::vector<int32_t> usual_choices(const OracleDecision& made) const;
  std::vector<int32_t> any_choices(const OracleDecision& made, int draw, const Wanted& wanted) const;

  std::map<std::string, Router, std::less<>> routers_;
  UsualBranches usual_;
  std::map<std::string, std::string, std::less<>> first_alike_;  // of routers that are not the first
  std::set<Branch> unreached_;
};

}  // namespace stormcell
