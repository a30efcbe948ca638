// Brings rows of branches back to their cells. A thread takes some numbers of one cell and sums over the branches of
// the cell in a fixed order, so no two threads write the same number, and nothing is atomic. It does not follow each
// row up to its cell, but goes down from the cell through the choices of each router. If parents are routed with their
// cells, it goes through the choices of the cell's parent. Bound: copy bandwidth.
#pragma once
#include "gpu/rows/groups.h"

namespace stormcell::gpu {

enum class JoinMode : uint8_t { sum, weighted, place };

/// One router between the cells and a joined value.
struct JoinLink {
  int32_t decision = -1;  ///< in the list
  int32_t branch = -1;    ///< -1: all
  DecisionPlaces places;
  int32_t ragged = -1;  ///< in the list: the members of the decision's slots, which the rows are; -1: the slots
  RaggedPlaces members;
};
/// A joined value: a constant of the plan.
struct JoinInput {
  static constexpr int kMostLinks = 16;
  int32_t rows = -1;    ///< in the list
  int32_t factor = -1;  ///< in the list: numbers that multiply its rows; -1: none
  int32_t links = 0;
  JoinLink link[kMostLinks];  ///< the router nearest to the result first
};

/// The list: joined values, factors, decisions.
struct JoinArgs : KernelArgs<5> {
  /// kDecision: of the joined slots. kCells: the ragged value of the result's cells, whose members are joined.
  enum { kTo, kOtherwise, kResidual, kDecision, kCells };
  RaggedPlaces ragged;
  int64_t inputs = 0;     ///< constants: JoinInput
  int64_t of_branch = 0;  ///< constants, by branch: which input holds its rows; -1: none
  int32_t count = 0;      ///< inputs
  int32_t width = 1;
  JoinMode mode = JoinMode::sum;
  bool by_slots = false;        ///< all inputs are branches, or the slots, of kDecision
  bool all_slots = false;       ///< one input holds all slots
  bool some_branches = false;   ///< members of all slots count where of_branch names their branch
  bool weighs_dropped = false;  ///< a dropped choice adds `otherwise` times its weight
  DecisionPlaces decision;
};

struct JoinKernel {
  using Args = JoinArgs;
  using Shared = Nothing;
  static constexpr const char* kName = "join";
  static constexpr int kThreads = 256;
  static constexpr bool kIndependent = true;

  template <class X>
  STORMCELL_DEVICE static void run(X& x, const Args& a) {
    if (!a.is_due()) return;
    if (a.width % 4 == 0)
      run_by<4>(x, a);
    else
      run_by<1>(x, a);
  }

 private:
  /// Numbers of one cell, as they are summed.
  template <int n>
  struct Sum {
    float of[n];
    bool reached;
  };

  template <int n, class X>
  STORMCELL_DEVICE static void run_by(X& x, const Args& a) {
    const int64_t pieces = a.width / n, all = a.rows(a.ref[Args::kTo]).rows * pieces;
    for (int64_t i = grid_thread(x, kThreads); i < all; i += grid_threads(x, kThreads)) {
      const int64_t cell = i / pieces, column = i % pieces * n;
      Sum<n> sum = {};
      if (a.by_slots)
        join_slots(x, a, cell, column, sum);
      else
        for (int32_t k = 0; k < a.count; ++k) join_input(x, a, k, cell, column, sum);
      finish(x, a, cell, column, sum);
    }
  }
  STORMCELL_DEVICE static const JoinInput& input(const Args& a, int32_t k) {
    return a.constants<JoinInput>(a.inputs)[k];
  }
  STORMCELL_DEVICE static DecisionView decision(const Args& a, const Ref& ref, const DecisionPlaces& places) {
    return places.at(const_cast<char*>(a.in<char>(ref)));
  }

  template <int n, class X>
  STORMCELL_DEVICE static void join_slots(X& x, const Args& a, int64_t cell, int64_t column, Sum<n>& sum) {
    const DecisionView d = decision(a, a.ref[Args::kDecision], a.decision);
    for (int32_t j = 0; j < d.fan_out; ++j) {
      const int64_t i = cell * d.fan_out + j;
      const int32_t choice = d.choice[i];
      if (choice < 0) {
        if (a.weighs_dropped && choice != kNoBranch)
          add_row(x, a, a.ref[Args::kOtherwise], cell, column, d.choice_weight[i], sum);
        continue;
      }
      const int32_t which = a.constants<int32_t>(a.of_branch)[choice];
      if (which < 0) continue;
      const JoinInput& of = input(a, which);
      const int64_t row = d.slot[i] - (a.all_slots ? 0 : d.offsets[choice]);
      const float factor = of.factor >= 0 ? x.load(a.in<float>(a.listed_ref(of.factor)) + row) : 1.0f;
      const float w = of.factor >= 0 ? factor : a.mode == JoinMode::weighted ? d.choice_weight[i] : 1.0f;
      add_row(x, a, a.listed_ref(of.rows), row, column, w, sum);
    }
  }

  template <int n, class X>
  STORMCELL_DEVICE static void join_input(X& x, const Args& a, int32_t k, int64_t cell, int64_t column, Sum<n>& sum) {
    const JoinInput& of = input(a, k);
    if (of.links == 0 || of.link[0].ragged < 0) return walk(x, a, of, 0, cell, column, 1.0f, sum);
    const Groups cells = groups_of(a, a.ref[Args::kTo], a.ref[Args::kCells], a.ragged);
    const JoinLink& link = of.link[0];
    const DecisionView d = decision(a, a.listed_ref(link.decision), link.places);
    const RaggedView r = link.members.at(const_cast<char*>(a.in<char>(a.listed_ref(link.ragged))));
    const int64_t parent = cells.parent(cell), place = cell - cells.begin(parent),
                  first = link.branch >= 0 ? r.offsets[d.offsets[link.branch]] : 0;
    for (int32_t j = 0; j < d.fan_out; ++j) {
      const int64_t i = parent * d.fan_out + j;
      const int32_t choice = d.choice[i];
      // The first input's router decides which cells are dropped.
      if (choice < 0 && choice != kNoBranch && k == 0 && a.weighs_dropped)
        add_row(x, a, a.ref[Args::kOtherwise], cell, column, d.choice_weight[i], sum);
      if (choice < 0 || (link.branch >= 0 && choice != link.branch)) continue;
      if (a.some_branches && a.constants<int32_t>(a.of_branch)[choice] < 0) continue;
      const float w = a.mode == JoinMode::weighted ? d.choice_weight[i] : 1.0f;
      walk(x, a, of, 1, r.offsets[d.slot[i]] + place - first, column, w, sum);
    }
  }

  /// Goes down through the routers of one input, from link `first` on, each way that their choices allow: the last router
  /// goes through its choices first.
  template <int n, class X>
  STORMCELL_DEVICE static void walk(X& x, const Args& a, const JoinInput& of, int32_t first, int64_t row,
                                    int64_t column, float weight, Sum<n>& sum) {
    int64_t ways = 1;
    for (int32_t l = first; l < of.links; ++l) ways *= of.link[l].places.fan_out;
    for (int64_t way = 0; way < ways; ++way) {
      int64_t at = row, below = ways, left = way;
      float w = weight;
      bool reaches = true;
      for (int32_t l = first; reaches && l < of.links; ++l) {
        const JoinLink& link = of.link[l];
        const DecisionView d = decision(a, a.listed_ref(link.decision), link.places);
        below /= d.fan_out;
        const int64_t i = at * d.fan_out + left / below;
        left %= below;
        const int32_t choice = d.choice[i];
        reaches = choice >= 0 && (link.branch < 0 || choice == link.branch);
        if (!reaches) break;
        // The router nearest to the result weighs.
        if (l == 0 && a.mode == JoinMode::weighted) w = d.choice_weight[i];
        at = d.slot[i] - (link.branch >= 0 ? d.offsets[choice] : 0);
      }
      if (!reaches) continue;
      if (of.factor >= 0) w = x.load(a.in<float>(a.listed_ref(of.factor)) + at);
      add_row(x, a, a.listed_ref(of.rows), at, column, w, sum);
    }
  }

  template <int n, class X>
  STORMCELL_DEVICE static void add_row(X& x, const Args& a, const Ref& rows, int64_t row, int64_t column, float weight,
                                       Sum<n>& sum) {
    const float* from = a.in<float>(rows) + row * a.width + column;
    float came[n];
    load<n>(x, from, came);
    STORMCELL_UNROLL
    for (int i = 0; i < n; ++i) sum.of[i] = a.mode == JoinMode::place ? came[i] : sum.of[i] + weight * came[i];
    sum.reached = true;
  }
  template <int n, class X>
  STORMCELL_DEVICE static void load(X& x, const float* from, float (&to)[n]) {
    if constexpr (n == 4) {
      const Sixteen four = x.load(reinterpret_cast<const Sixteen*>(from));
      STORMCELL_UNROLL
      for (int i = 0; i < n; ++i) to[i] = float_of_bits(four.word[i]);
    } else {
      to[0] = x.load(from);
    }
  }
  template <int n, class X>
  STORMCELL_DEVICE static void finish(X& x, const Args& a, int64_t cell, int64_t column, Sum<n>& sum) {
    const int64_t at = cell * a.width + column;
    float more[n];
    if (a.has(Args::kOtherwise) && a.mode != JoinMode::weighted && !sum.reached) {
      load<n>(x, a.in<float>(a.ref[Args::kOtherwise]) + at, more);
      STORMCELL_UNROLL
      for (int i = 0; i < n; ++i) sum.of[i] = more[i];
    }
    if (a.has(Args::kResidual)) {
      load<n>(x, a.in<float>(a.ref[Args::kResidual]) + at, more);
      STORMCELL_UNROLL
      for (int i = 0; i < n; ++i) sum.of[i] += more[i];
    }
    float* to = a.out<float>(a.ref[Args::kTo]) + at;
    if constexpr (n == 4) {
      Sixteen four;
      STORMCELL_UNROLL
      for (int i = 0; i < n; ++i) four.word[i] = bits_of_float(sum.of[i]);
      x.store(reinterpret_cast<Sixteen*>(to), four);
    } else {
      x.store(to, sum.of[0]);
    }
  }
};

}  // namespace stormcell::gpu
