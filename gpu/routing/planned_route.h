// The routing kernels as nodes of a plan: the number of cells comes from the rows table, so a router below another
// router needs no host. The kernels themselves are those of choose.h, index.h, capacity.h and one_block.h.
#pragma once
#include <type_traits>

#include "gpu/routing/one_block.h"
#include "gpu/rows/up_chain.h"

namespace stormcell::gpu {

/// The place of the choices to replay for the cells of a router.
struct Replaying {
  int32_t router = -1;  ///< in the call block; -1: this kernel replays nothing
  int32_t rows = -1;    ///< place of an extent in the call block: cells of one execution's choices
  bool by_row = false;  ///< by cells of the dense space, else by the router's own
  UpChain chain;        ///< from the router's cells to those
};

/// Rules that a thread decides alone for a cell.
enum class CellRule : uint8_t {
  label,     ///< the branch is given
  hash,      ///< a table has two branches for each label
  exit,      ///< a cell leaves where its largest share of a softmax reaches the threshold
  residual,  ///< a cell takes the residual branch where the sum of its scores is below the threshold
};

/// The list: inputs of the chain. kTurn: of the repeat around the router. kCells: the ragged value of the router's
/// cells, if capacity counts those of one parent.
struct RouteArgs : KernelArgs<6> {
  enum { kScores, kDecision, kWorkspace, kNotReplayed, kTurn, kCells };
  RaggedPlaces ragged;
  DecisionPlaces decision;
  Replaying replaying;
  CellRule by_cell = CellRule::label;
  int64_t table = 0;    ///< constants, of hash: [branches, 2]
  int32_t columns = 1;  ///< scores of a cell
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
    if (has(kCells)) args.parents.parent = ragged.at(const_cast<char*>(in<char>(ref[kCells]))).parent + scores.first;
    args.capacity = rule.capacity;
    args.tiles = static_cast<int32_t>(
        most<int64_t>(1, parts<int64_t>(static_cast<int64_t>(scores.rows) * decision.fan_out, int64_t{kTileChoices})));
    args.tile_counts = out<int32_t>(ref[kWorkspace]);
    args.counts = reinterpret_cast<int32_t*>(out<char>(ref[kWorkspace]) + counts);
    return args;
  }
  /// The choices to replay; null: the router decides freely.
  STORMCELL_DEVICE int32_t* replayed() const {
    return replaying.router < 0 ? nullptr : reinterpret_cast<int32_t*>(call->replayed[replaying.router]);
  }
};

/// Replaces the cells' choices by recorded ones, with the weights that the scores of this run give them, and leaves the
/// cells' own choices in the place of the recorded ones. Both include drops. A thread a cell.
struct Replay {
  template <class X>
  STORMCELL_DEVICE static void run(X& x, const RouteArgs& a, int64_t first, int64_t step) {
    const int64_t turn = a.has(RouteArgs::kTurn) ? *a.template in<int32_t>(a.ref[RouteArgs::kTurn]) : 0;
    int32_t* recorded = a.replayed() + turn * a.call->dims[a.replaying.rows] * a.decision.fan_out;
    const DecisionView d = a.view();
    const int64_t cells = a.rows(a.ref[RouteArgs::kScores]).rows;
    for (int64_t c = first; c < cells; c += step) {
      const int64_t row = a.replaying.by_row ? a.replaying.chain.follow(a, c) : c;
      int32_t *from = recorded + row * d.fan_out, *choice = d.choice + c * d.fan_out;
      const bool is_recorded = from[0] != kNotRecorded;
      if (!is_recorded) x.add(a.template out<int32_t>(a.ref[RouteArgs::kNotReplayed]), 1);
      for (int32_t j = 0; j < d.fan_out; ++j) {
        const int32_t made = choice[j];
        if (is_recorded) choice[j] = from[j];
        from[j] = made;
      }
      if (is_recorded) weigh(a, c, choice, d.choice_weight + c * d.fan_out);
    }
  }

 private:
  /// As weigh_choices() of core/cell/route.cpp; a dropped choice has the weight that its branch would have had.
  STORMCELL_DEVICE static void weigh(const RouteArgs& a, int64_t cell, const int32_t* choice, float* weight) {
    const int32_t branches = a.decision.branches, fan_out = a.decision.fan_out;
    const Rule& rule = a.rule;
    const bool has_scores = rule.choose != DeviceChoice::none, is_softmax = rule.choose == DeviceChoice::largest;
    const float* s = has_scores ? a.in<float>(a.ref[RouteArgs::kScores]) + cell * branches : nullptr;
    const bool over_all = is_softmax && rule.softmax == SoftmaxPlace::before,
               over_chosen = is_softmax && rule.softmax == SoftmaxPlace::after;
    float top = -kInfinity, sum = 0;
    const int32_t summed = over_all ? branches : over_chosen ? fan_out : 0;
    const auto score = [&](int32_t i) { return over_all ? s[i] : s[branch_of(choice[i])]; };
    const auto is_summed = [&](int32_t i) { return over_all || choice[i] != kNoBranch; };
    for (int32_t i = 0; i < summed; ++i)
      if (is_summed(i) && top < score(i)) top = score(i);
    for (int32_t i = 0; i < summed; ++i)
      if (is_summed(i)) sum += expf(score(i) - top);
    float chosen = 0;
    for (int32_t j = 0; j < fan_out; ++j) {
      float w = 0;
      if (choice[j] != kNoBranch) {
        const int32_t b = branch_of(choice[j]);
        w = summed > 0 ? expf(s[b] - top) / sum : !has_scores ? 1.0f : s[b];
        if (rule.choose == DeviceChoice::in_groups) w = sigmoid(s[b]);
      }
      weight[j] = w;
      chosen += w;
    }
    const float factor = rule.scale / (rule.renormalize && chosen > 0 ? chosen : 1.0f);
    for (int32_t j = 0; j < fan_out; ++j) weight[j] *= factor;
  }
};

/// Replays within the block that makes the index. A capacity drops only among free choices: recorded choices include
/// their drops.
template <class X>
STORMCELL_DEVICE void index_replayed(X& x, const RouteArgs& a, int threads) {
  IndexArgs index = a.index();
  if (index.capacity > 0) {
    LimitKernel::run(x, index);
    index.capacity = INT32_MAX;  // drops nothing more, and wanted loads are counted
    x.sync();
  }
  Replay::run(x, a, x.thread(), threads);
  x.sync();
  IndexOneTileKernel::run(x, index);
}

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
      if (!a.replayed()) return Inner::run(x, OneBlockArgs{a.choose(), a.index(), {}});
      Inner::Choose::run(x, a.choose());
      x.sync();
      index_replayed(x, a, kThreads);
    } else if constexpr (std::is_same_v<Inner, IndexOneTileKernel>) {
      if (!a.replayed()) return Inner::run(x, a.index());
      index_replayed(x, a, kThreads);
    } else if constexpr (std::is_same_v<typename Inner::Args, ChooseArgs>) {
      Inner::run(x, a.choose());
    } else {
      Inner::run(x, a.index());
    }
  }
};

/// Replays if the index takes several blocks.
struct ReplayKernel {
  using Args = RouteArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "replay";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (a.is_due() && a.replayed()) Replay::run(x, a, grid_thread(x, kThreads), grid_threads(x, kThreads));
  }
};

/// The rules of core/cell/choose.cpp that need one thread a cell. Every branch weighs the same.
struct CellRuleKernel {
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
    for (int64_t c = grid_thread(x, kThreads); c < cells; c += grid_threads(x, kThreads)) {
      const bool is_scored = a.by_cell >= CellRule::exit;
      int32_t* choice = d.choice + c * d.fan_out;
      d.margin[c] = is_scored ? by_scores(x, a, c, choice) : by_label(x, a, c, choice);
      int32_t chosen = 0;
      for (int32_t j = 0; j < d.fan_out; ++j) chosen += choice[j] != kNoBranch;
      const float weight = a.rule.scale / (a.rule.renormalize && chosen > 0 ? static_cast<float>(chosen) : 1.0f);
      for (int32_t j = 0; j < d.fan_out; ++j)
        d.choice_weight[c * d.fan_out + j] = choice[j] != kNoBranch ? weight : 0.0f;
    }
  }

 private:
  template <class X>
  STORMCELL_DEVICE static float by_label(X& x, const Args& a, int64_t cell, int32_t* choice) {
    const int32_t label = x.load(a.in<int32_t>(a.ref[Args::kScores]) + cell), branches = a.decision.branches;
    if (a.by_cell == CellRule::label) {
      choice[0] = label >= 0 && label < branches ? label : kNoBranch;
    } else {
      const auto row = static_cast<uint32_t>(label) % static_cast<uint32_t>(branches);
      for (int32_t j = 0; j < 2; ++j) choice[j] = a.constants<int32_t>(a.table)[2 * row + j];
    }
    return kInfinity;
  }
  /// The margin: how far the cell was from the other of the two branches.
  template <class X>
  STORMCELL_DEVICE static float by_scores(X& x, const Args& a, int64_t cell, int32_t* choice) {
    const float* s = a.in<float>(a.ref[Args::kScores]) + cell * a.columns;
    const int32_t residual = a.rule.residual > 0 ? a.rule.residual : 0;
    float sum = 0, decides = 0;
    bool takes = false;
    if (a.by_cell == CellRule::residual) {
      for (int32_t b = 0; b < a.columns; ++b) sum += x.load(s + b);
      takes = !(sum >= a.rule.threshold), decides = sum;  // no number goes there too
    } else {
      float top = -kInfinity;
      Best best;
      for (int32_t b = 0; b < a.columns; ++b) {
        const float score = x.load(s + b);
        if (top < score) top = score;
        if (is_better({usable(score), b}, best)) best = {usable(score), b};
      }
      for (int32_t b = 0; b < a.columns; ++b) sum += expf(s[b] - top);
      decides = expf(s[best.index] - top) / sum;
      takes = decides >= a.rule.threshold;  // no number goes on
    }
    choice[0] = takes ? residual : 1 - residual;
    return distance(decides, a.rule.threshold);
  }
};

}  // namespace stormcell::gpu
