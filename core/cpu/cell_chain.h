// A chain of decisions and ragged cells, followed on the CPU.
#pragma once
#include <span>
#include <vector>

#include "core/cpu/cpu_kernel.h"
#include "core/runtime/cell_chain.h"

namespace stormcell::cpu {

class CellChain {
 public:
  CellChain() = default;
  /// The values of the chain lie at `first` and behind among a step's inputs.
  CellChain(const std::vector<CellLink>& links, size_t first) {
    for (const CellLink& link : links) {
      steps_.push_back({first++, link.ragged, link.branch, 0});
      if (link.decision != kNone) steps_.back().decision = first++;
    }
  }
  bool empty() const { return steps_.empty(); }
  size_t size() const { return steps_.size(); }

  /// The row of the chain's end that is row `row` of its beginning; `weight` gets the weight of the last decision on the way.
  int64_t follow(std::span<const Rows> in, int64_t row, float* weight = nullptr) const {
    for (const Link& link : steps_) {
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
  struct Link {
    size_t input;
    bool ragged;
    int32_t branch;
    size_t decision;  // of members; 0: none, a step's first input is never one of these
  };
  std::vector<Link> steps_;
};

}  // namespace stormcell::cpu
