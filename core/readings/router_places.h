// The places of a graph's routers: depth along one axis, and across it beside those that are as deep.
//
// The places follow from the routers' graph alone. In a network of levels and layers whose every node feeds its own
// level and its neighbours' in the next layer, columns are its layers and rows its levels; exits make a chain.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "core/readings/router_graph.h"

namespace stormcell {

/// Routers of one part of the model, each nested in a branch of the one before: they are drawn together.
struct RouterPlace {
  /// of several routers what their names share, "cells.1.0"; of an exit "exit 1"; of another its own
  std::string name;
  std::vector<int32_t> routers;  ///< indexes, outermost first
  int32_t column = 0, row = 0;
  int64_t cells = 0;  ///< cells for which it computes something
  double share = 0;   ///< share of all cells of its space
};
struct PlaceEdge {
  int32_t from = 0, to = 0;  ///< indexes of places
  /// of the graph; empty: the one decides about members of the other's cells, which nobody counts
  std::vector<int32_t> edges;
  int64_t cells = 0;            ///< transitions of all of them
  std::vector<int32_t> detour;  ///< rows through which it goes in the columns between
};
/// Places that edges join, and those that no edge joins with any together as the last one. One below another.
struct PlaceLane {
  int32_t first_row = 0, rows = 0, columns = 0;
};
struct RouterPlaces {
  std::vector<RouterPlace> places;  ///< by their first router
  std::vector<PlaceEdge> edges;
  std::vector<PlaceLane> lanes;
  std::vector<int32_t> place_of;  ///< by router
  /// The index of the lane that a row is in.
  size_t lane_of(int32_t row) const;
};
RouterPlaces place_routers(const RouterGraph& graph);
/// The same places of the routers of one space alone: what was counted of them, and where they lie, is not known.
std::vector<RouterPlace> places_of(const std::vector<RouterLine>& routers);

/// True of a router by which items leave early.
bool is_exit(const RouterLine& router);
/// The role of a router as an exit: cells leave by one of its two branches and go on by the other.
struct ExitRole {
  int32_t exit = -1;  ///< number of the exit, counted from 0 in running order; -1: the router is none
  int32_t leave = 0;  ///< the branch by which cells leave
  bool last = false;  ///< cells that go on get to the end of the network
};
/// Roles by router. `routers`: all exits that there are, or none.
std::vector<ExitRole> exit_roles(const std::vector<RouterLine>& routers);
/// "branch 3"; for an exit "leaves" and "goes on".
std::string branch_name(const ExitRole& test, int32_t branch);

/// False if cells only pass: by the branch of a residual threshold for cells that its scores refuse, and by the one
/// branch of a router that tells what arrived for routers nested in it. `routers`: all of the space.
bool computes(const std::vector<RouterLine>& routers, size_t router, int32_t branch);
/// The router of a place that computes for its cells: the residual threshold, if there is one; else the outermost.
size_t deciding_router(const std::vector<RouterLine>& routers, size_t outermost);
/// Places at which something was computed for one cell: what only arrived there, or passed, does not count. `choices`:
/// the branches that a router gave it, negative ones are none. Places of every router count, each as one; the parts of
/// PartsComputed are those alone that gates may leave out, and each counts by the share of an item's cells.
int64_t places_computed(const std::vector<RouterLine>& routers, const std::vector<RouterPlace>& places,
                        const std::function<std::span<const int32_t>(size_t router)>& choices);

/// Branches of a router that follow one another and are drawn as one square.
struct BranchSquare {
  int32_t first = 0, branches = 1;
  int64_t cells = 0, dropped = 0;
};
/// Makes at most `most` squares: one for each branch, if there are no more.
std::vector<BranchSquare> squares_of(const GraphRouter& router, int32_t most);

/// The end of a scale of shares, given the largest share. A share of half or more is far up a scale to 1. With many
/// branches none gets near that, and the largest ends the scale.
double end_of_scale(double largest_share);

}  // namespace stormcell
