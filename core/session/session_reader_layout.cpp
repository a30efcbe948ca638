// Reads the layout of a run: cell spaces, routers and steps.
#include <algorithm>

#include "core/base/error.h"
#include "core/cell/protocol.h"
#include "core/profile/layout_edges.h"
#include "core/session/blob.h"
#include "core/session/schema.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

const RunLayout& SessionReader::State::layout(int64_t run) const {
  const auto known = layouts.find(run);
  if (known != layouts.end()) return known->second;
  RunLayout layout;
  Statement space(db, "SELECT name FROM space WHERE run = ? ORDER BY ordinal");
  for (space.bind(1, run); space.step();) layout.spaces.emplace_back(space.text(0));
  Statement router(db,
                   "SELECT name, branches, fan_out, protocol, space, stack, parent, parent_branch, ifnull(layer, -1), "
                   "ifnull(branch_bytes, 0), "
                   "ifnull(dense_bytes, 0), residual FROM router WHERE id BETWEEN ? AND ? ORDER BY id");
  const auto at_least_one = [&](const Statement& row, int column, int64_t most) {
    const int64_t value = row.integer(column);
    if (value < 1 || value > most)
      damaged("a router of run #" + std::to_string(run) + " has the size " + std::to_string(value));
    return static_cast<int32_t>(value);
  };
  const auto index = [&](const Statement& row, int column, size_t size) {
    const int64_t value = row.integer(column);
    if (value < -1 || value >= static_cast<int64_t>(size))
      damaged("a router of run #" + std::to_string(run) + " refers to nothing");
    return static_cast<int32_t>(value);
  };
  for (router.bind(1, router_key(run, 0)).bind(2, router_key(run + 1, 0) - 1); router.step();) {
    RouterInfo r;
    r.name = router.text(0);
    r.branches = at_least_one(router, 1, kMostStoredBranches);
    r.fan_out = at_least_one(router, 2, std::max(r.branches, kMostChoices));
    r.protocol = router.text(3);
    r.space = index(router, 4, layout.spaces.size());
    if (r.space < 0) damaged("a router of run #" + std::to_string(run) + " has no cell space");
    r.stack = router.text(5);
    r.parent = index(router, 6, static_cast<size_t>(kMostRouters));
    r.parent_branch = static_cast<int32_t>(router.integer(7));
    r.layer = static_cast<int32_t>(std::clamp<int64_t>(router.integer(8), -1, INT32_MAX));
    r.branch_bytes = std::max<int64_t>(router.integer(9), 0);
    r.dense_bytes = std::max<int64_t>(router.integer(10), 0);
    if (!router.null(11)) r.residual = index(router, 11, static_cast<size_t>(r.branches));
    layout.routers.push_back(std::move(r));
  }
  for (const RouterInfo& r : layout.routers)
    if (r.parent >= static_cast<int32_t>(layout.routers.size()))
      damaged("a router of run #" + std::to_string(run) + " refers to nothing");
  Statement edge(db,
                 "SELECT router, next, branches FROM edge WHERE run = ? AND router IS NOT NULL ORDER BY next, router");
  for (edge.bind(1, run); edge.step();) {
    LayoutEdge e{index(edge, 0, layout.routers.size()), index(edge, 1, layout.routers.size()), {}};
    if (!edge.null(2))
      for (const int64_t b : blob::read_numbers(edge.blob(2), path))
        e.branches.push_back(static_cast<int32_t>(std::clamp<int64_t>(b, -1, INT32_MAX)));
    layout.edges.push_back(std::move(e));
  }
  if (const std::string fault = edge_fault(layout); !fault.empty()) damaged(fault + " in run #" + std::to_string(run));
  Statement step(db, "SELECT name, op, router, branch, flops, bytes FROM step WHERE run = ? ORDER BY ordinal");
  for (step.bind(1, run); step.step();)
    layout.steps.push_back({std::string(step.text(0)), std::string(step.text(1)), static_cast<int32_t>(step.integer(2)),
                            static_cast<int32_t>(step.integer(3)), step.real(4), step.real(5)});
  return layouts.emplace(run, std::move(layout)).first->second;
}

const RouterInfo& SessionReader::State::router(int64_t run, int32_t router) const {
  const auto& routers = layout(run).routers;
  if (router < 0 || static_cast<size_t>(router) >= routers.size())
    bad_input(path, "run #" + std::to_string(run) + " has no router " + std::to_string(router));
  return routers[router];
}

RunLayout SessionReader::layout(int64_t run) const { return state_->layout(run); }

}  // namespace stormcell
