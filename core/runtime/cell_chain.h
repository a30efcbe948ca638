// How rows of a routed or ragged space are followed up to the cells that they are.
#pragma once
#include <cstdint>
#include <vector>

#include "core/cell/decision.h"
#include "core/cell/ragged.h"
#include "core/graph/graph.h"

namespace stormcell {

/// One step up: to the parent of a routed space, to the base of a ragged one.
struct CellLink {
  ValueId defined_by = kNone;  ///< the decision, or the ragged value
  bool ragged = false;
  int32_t branch = kAllBranches;  ///< the branch whose slots, or whose members, the rows are
  ValueId decision = kNone;       ///< ragged: the decision whose members they are, kNone otherwise
};

/// The links from `space` up to `ancestor`; each row of `space` is a cell of `ancestor`.
std::vector<CellLink> cell_chain(const Graph& graph, SpaceId space, SpaceId ancestor);
/// The values a device needs to follow a chain, in its order: of each link the value that tells, then the decision of
/// members.
std::vector<ValueId> values_of(const std::vector<CellLink>& chain);
/// True if each cell of the ancestor comes at most once, so that its row identifies the cell.
bool has_distinct_cells(const Graph& graph, const std::vector<CellLink>& chain);

/// A chain as a kernel follows it, over the inputs of its step.
class CellChain {
 public:
  /// One step up: which inputs tell it.
  struct Link {
    size_t input;  ///< the decision, or the ragged value
    bool ragged;
    int32_t branch;
    size_t decision;  ///< decision of members; 0: none, a step's first input is never one of these
  };
  CellChain() = default;
  /// The values of the chain lie at `first` and behind among a step's inputs.
  CellChain(const std::vector<CellLink>& links, size_t first);
  bool empty() const { return links_.empty(); }
  size_t size() const { return links_.size(); }
  const std::vector<Link>& links() const { return links_; }

  /// The row of the chain's end that is row `row` of its beginning; `weight` gets the weight of the last decision on
  /// the way. `in`: the step's inputs, with members `decision` and `ragged` that point to views where this code runs.
  template <class Inputs>
  int64_t follow(const Inputs& in, int64_t row, float* weight = nullptr) const {
    for (const Link& link : links_) {
      if (!link.ragged) {
        const DecisionView& d = *in[link.input].decision;
        const int64_t slot = (link.branch == kAllBranches ? 0 : d.offsets[link.branch]) + row;
        if (weight) *weight = d.weight[slot];
        row = d.cell[slot];
        continue;
      }
      const RaggedView& r = *in[link.input].ragged;
      if (link.decision > 0) {
        const DecisionView& d = *in[link.decision].decision;
        if (link.branch != kAllBranches) row += r.offsets[d.offsets[link.branch]];
        if (weight) *weight = d.weight[r.parent[row]];
      }
      row = r.cell[row];
    }
    return row;
  }

 private:
  std::vector<Link> links_;
};

}  // namespace stormcell
