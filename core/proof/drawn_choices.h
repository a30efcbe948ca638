// Choices that routers are given in draws, so that every branch gets cells and guards both hold and miss.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/oracle/oracle.h"
#include "core/proof/plan_places.h"

namespace stormcell {

/// Branches that a plan expects to be used, by router. A router that is not named uses all.
using UsualBranches = std::map<std::string, std::vector<int32_t>, std::less<>>;
using ForceChoices = std::function<std::vector<int32_t>(const OracleDecision& made)>;

class DrawnChoices {
 public:
  DrawnChoices(const Graph& model, UsualBranches usual);

  /// The choices of a draw, by its number. Draw 0: routers decide freely, so that their protocols run. Draw 1: only
  /// usual branches, so that guards hold. All others: any branch, but as many leads are followed as go together: those
  /// to branches that had no cell so far, and `leads`. `bindings`: of the model's symbols.
  ForceChoices of_draw(int draw, const Bindings& bindings, std::vector<Lead*> leads = {});
  /// Takes out the branches that had cells. Routers that read equal scores in draw 0 get equal choices in all further
  /// draws: a plan may decide once for all of them.
  void take(int draw, const std::vector<OracleDecision>& decisions);
  /// Branches that have had no cell.
  int64_t unreached() const { return static_cast<int64_t>(unreached_.size()); }
  /// Whether a further draw may bring cells to one of them.
  bool wants_draw() const;

 private:
  struct Router {
    SpaceId dense;  ///< the space in which its cells are identified
    int32_t branches = 0, fan_out = 1;
    bool may_use_all = false;  ///< a cell may have all branches
    bool drops = false;
  };
  /// What leads ask of a router.
  struct Needs {
    std::set<int32_t> empty, full;
    std::map<int64_t, int32_t> led;  ///< branches by cell
  };
  using Directions = std::map<std::string, Needs, std::less<>>;

  void add(const Graph& model, const Node& node);
  void join_alike(const std::vector<OracleDecision>& decisions);
  /// The name of the first router that reads the same scores.
  const std::string& first_alike(const std::string& router) const;
  enum class Followed : uint8_t { yes, no_cell_is_left, contradicts };
  Followed follow(const Lead& lead, const Bindings& bindings, Directions& directions) const;
  bool can_do(const std::string& router, const Needs& needs) const;
  std::vector<int32_t> usual_choices(const OracleDecision& made) const;
  std::vector<int32_t> any_choices(const OracleDecision& made, int draw, const Directions& directions) const;

  const Graph& model_;
  std::map<std::string, Router, std::less<>> routers_;
  UsualBranches usual_;
  std::map<std::string, std::string, std::less<>> first_alike_;  // of routers that are not the first
  std::map<RouterBranch, Lead> unreached_;
};

}  // namespace stormcell
