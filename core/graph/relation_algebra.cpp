#include "core/graph/relation_algebra.h"

namespace stormcell {
namespace {
using Reach = CellRelation::Reach;
constexpr CellRelation kBatch{Reach::batch, kNone, false};
}  // namespace

CellRelation identity_relation(const Graph& graph, SpaceId space) {
  if (space == kNone) return kBatch;
  return {Reach::cells, graph.dense_ancestor(space), false};
}

CellRelation join(const Graph& graph, const CellRelation& a, const CellRelation& b) {
  if (a.reach == Reach::none || b.reach == Reach::batch) return b;
  if (b.reach == Reach::none || a.reach == Reach::batch) return a;
  if (a.meet == b.meet) return {Reach::cells, a.meet, a.ordered && b.ordered};
  // Cells that meet in the finer space have the same place below the coarser: an order there allows them already.
  if (graph.is_within(a.meet, b.meet)) return b;
  if (graph.is_within(b.meet, a.meet)) return a;
  return kBatch;
}

CellRelation compose(const Graph& graph, const CellRelation& relation, const Flow& flow, SpaceId from, SpaceId to) {
  if (relation.reach == Reach::none) return {};
  // A value without cells is shared by all cells, and depends on all of its origin.
  if (from == kNone) return kBatch;
  if (flow.mix == Mix::none) return {};
  if (relation.reach == Reach::batch || flow.mix == Mix::batch || to == kNone) return kBatch;
  CellRelation result = relation;
  if (flow.mix != Mix::cell) {
    if (flow.space == kNone) return kBatch;
    const SpaceId within = graph.dense_ancestor(flow.space);
    if (within == kNone) return kBatch;
    const bool before = flow.mix == Mix::before;
    if (relation.meet == within) {
      result.ordered = relation.ordered && before;
    } else if (!graph.is_within(within, relation.meet)) {
      result = {Reach::cells, within, before};
    }
    // Else the meet is coarser: both cells lie in one cell below it, an order there stays.
  }
  if (graph.is_within(to, result.meet)) return result;
  // A gather may end above the meet: then whole cells of its space depend on themselves.
  if (graph.is_within(result.meet, to)) return identity_relation(graph, to);
  return kBatch;
}

}  // namespace stormcell
