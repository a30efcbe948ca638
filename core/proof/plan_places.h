// Places of a graph to which cells have to come, since a mistake does not show where no cell is: the bodies of guards,
// and in each of them, and outside, the branches of routers. While a guard holds, cells choose each branch that it does
// not ask about, whether its body has that branch or not: a guard that forgets to ask for one is found so.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/oracle/oracle.h"

namespace stormcell {

/// A router, and a branch that a cell chooses; or one that it leaves out, as dropped_from() writes it.
using RouterBranch = std::pair<std::string, int32_t>;

/// What routers have to choose so that cells come to a place.
struct Lead {
  using Branches = std::map<std::string, std::set<int32_t>, std::less<>>;
  Branches empty;                                ///< branches that no cell chooses, by router
  Branches full;                                 ///< branches that every cell chooses
  std::vector<std::vector<RouterBranch>> cells;  ///< for each cell that is led the branches that it chooses
  int tries = 0;                                 ///< draws that followed it
  bool contradicts_itself = false;               ///< no choices bring a cell there, such as to a body that never runs

  /// Whether a further draw should follow it.
  bool is_open() const { return tries < kMostTries && !contradicts_itself; }
  static constexpr int kMostTries = 2;
};

/// The choices that bring a cell to a space, or to one branch of a space that has all of them together.
std::vector<RouterBranch> choices_above(const Graph& graph, SpaceId space, int32_t branch);

class PlanPlaces {
 public:
  /// The graph must outlive it.
  explicit PlanPlaces(const Graph& graph);

  /// Takes out the places that had cells in a run.
  void take(const std::vector<OracleDecision>& decisions);
  /// Places that had no cell so far, but for those that none can reach.
  int64_t unreached() const;
  /// Of the places that had no cell so far.
  std::vector<Lead*> leads();

 private:
  /// A guard, and which of its bodies.
  using Body = std::pair<NodeId, int>;
  struct Place {
    std::vector<Body> within;  ///< from the outermost
    SpaceId space;             ///< kNone: any cell will do
    ValueId decision;          ///< without a space: cells that it sends to `branch`; kNone: any cell will do
    int32_t branch;            ///< of a space that has all branches together
    Lead lead;
  };
  using Decisions = std::map<NodeId, const OracleDecision*>;

  void add_block(const Block& block, std::vector<Body>& within);
  void add_unasked(NodeId guard, const std::vector<Body>& within);
  void add(Place place, std::vector<RouterBranch> choices);
  /// What a guard asks, as the nodes that look at decisions of routers; a guard without a predicate asks it in its first body.
  std::vector<NodeId> questions(NodeId guard) const;
  using Ways = std::vector<std::vector<RouterBranch>>;
  Ways ways_to_miss(const Node& question) const;
  void enter(const Body& body, Lead& lead) const;
  bool has_run(const Body& body, const Decisions& made) const;
  bool has_cells(const Place& place, const Decisions& made) const;

  const Graph& graph_;
  std::vector<Place> unreached_;
};

}  // namespace stormcell
