// The routing kernels as nodes of a plan: the number of cells comes from the rows table, so a router below another
// router needs no host. The kernels themselves are those of choose.h, index.h, capacity.h and one_block.h.
#pragma once
#include <type_traits>

#include "gpu/routing/one_block.h"
#include "gpu/rows/call.h"

namespace stormcell::gpu {

struct RouteArgs : KernelArgs<3> {
  enum { kScores, kDecision, kWorkspace };
  DecisionPlaces decision;
  Rule rule;
  int64_t counts = 0;      ///< place in the workspace behind the counts of tiles
  int32_t bias = -1;       ///< handle; -1: none
  bool by_parent = false;  ///< capacity counts cells of one parent

  STORMCELL_DEVICE DecisionView view() const { return decision.at(address(ref[kDecision])); }
  STORMCELL_DEVICE ChooseArgs choose() const {
    const RowsEntry scores = rows(ref[kScores]);
    const DecisionView d = view();
    ChooseArgs args;
    args.scores = reinterpret_cast<const float*>(scores.data), args.bias = weight<float>(bias);
    args.cells = scores.rows, args.branches = d.branches;
    args.rule = rule;
    args.choice = d.choice, args.choice_weight = d.choice_weight, args.margin = d.margin;
    return args;
  }
  STORMCELL_DEVICE IndexArgs index() const {
    const RowsEntry scores = rows(ref[kScores]);
    IndexArgs args;
    args.decision = view();
    args.cells = scores.rows;
    args.parents.per_parent = by_parent ? scores.per_parent : 0;
    args.capacity = rule.capacity;
    args.tiles = static_cast<int32_t>(
        most<int64_t>(1, parts<int64_t>(static_cast<int64_t>(scores.rows) * decision.fan_out, int64_t{kTileChoices})));
    args.tile_counts = out<int32_t>(ref[kWorkspace]);
    args.counts = reinterpret_cast<int32_t*>(out<char>(ref[kWorkspace]) + counts);
    return args;
  }
};

/// `Inner`: a kernel of routing.
template <class Inner>
struct RouteKernel {
  using Args = RouteArgs;
  using Shared = typename Inner::Shared;
  static constexpr int kThreads = Inner::kThreads;
  static constexpr bool kIndependent = false;
  static constexpr const char* kName = std::is_same_v<typename Inner::Args, OneBlockArgs> ? "route"
                                       : std::is_same_v<typename Inner::Args, ChooseArgs> ? "choose"
                                                                                          : "index";
  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    if constexpr (std::is_same_v<typename Inner::Args, OneBlockArgs>) {
      Inner::run(x, OneBlockArgs{a.choose(), a.index(), {}});
    } else if constexpr (std::is_same_v<typename Inner::Args, ChooseArgs>) {
      Inner::run(x, a.choose());
    } else {
      Inner::run(x, a.index());
    }
  }
};

/// The branch of each cell is given: no score, nothing to weigh.
struct LabelKernel {
  using Args = RouteArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "choose";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    const DecisionView d = a.view();
    const int32_t cells = a.rows(a.ref[Args::kScores]).rows;
    const int32_t* labels = a.in<int32_t>(a.ref[Args::kScores]);
    for (int64_t c = grid_thread(x, kThreads); c < cells; c += grid_threads(x, kThreads)) {
      const int32_t label = x.load(labels + c);
      const bool is_branch = label >= 0 && label < d.branches;
      d.choice[c] = is_branch ? label : kNoBranch;
      d.choice_weight[c] = is_branch ? a.rule.scale : 0.0f;
      d.margin[c] = kInfinity;
    }
  }
};

}  // namespace stormcell::gpu
