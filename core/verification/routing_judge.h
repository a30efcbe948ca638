// Routing decisions of a plan judged over the batches that it is shown.
//
// Every router is judged on the reference's inputs: the plan replays the reference's decisions and records what each
// router would have chosen itself. So a flip anywhere, behind other flips too, is explained by its own margin or not at
// all. The free execution shows the consequences of flips. A difference there is judged only if nothing before it can
// explain it.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/number_format.h"
#include "core/bench/arithmetic.h"
#include "core/summary/results.h"
#include "core/verification/compare_decisions.h"
#include "core/verification/disturbed_cells.h"
#include "core/verification/nonfinite.h"
#include "core/verification/relative_error.h"

namespace stormcell {

/// How far scores may lie from the reference's, as a share of their size (margin_size()).
double score_tolerance(Arithmetic arithmetic);
/// The least error by rounding in a value of 1 that products give.
double rounding_unit(Arithmetic arithmetic);
inline constexpr double kMarginFactor = 8;  ///< times the measured error: a near tie

class RoutingJudge {
 public:
  explicit RoutingJudge(Arithmetic arithmetic, NonFinite nonfinite = NonFinite::refused)
      : arithmetic_(arithmetic), nonfinite_(nonfinite) {}

  /// One batch: the reference's decisions, those of the plan replaying them, and of the plan running freely (nullptr:
  /// it was not run).
  Reached add(int64_t batch, const std::vector<JudgedDecision>& reference, const std::vector<JudgedDecision>& replayed,
              const std::vector<JudgedDecision>* free);
  /// The same the other way round, for some items of a batch: the reference replayed the plan's free decisions about
  /// their cells, and reports what it would have chosen. Drops by capacity are judged over the whole batch.
  void add_reference_replaying(int64_t batch, const std::vector<JudgedDecision>& reference,
                               const std::vector<JudgedDecision>& plan, const std::vector<JudgedDecision>& whole_batch);
  /// Fills the figures of routing, and adds faults to the reasons. Flips have the places of their items in their
  /// batches: name_items() replaces them.
  void judge(Verification& verification) const;

 private:
  struct Router {
    std::string name;
    NonFiniteValues nonfinite;            ///< scores of the reference, margins and weights of both
    RelativeError scores{Median::upper};  ///< errors of margins
    int scores_apart = 1;                 ///< scores_apart() of its margins
    double weight_error = 0, weight_scale = 0;
    int64_t measured = 0;  ///< cells whose margins were compared
    int64_t wrong_drops = 0;
    /// Differences of one kind: their margins with what an error there is measured by, and the first of them.
    struct Found {
      std::vector<std::pair<double, double>> margins_and_sizes;
      std::vector<Flip> listed;
    };
    Found flips, drops;
  };
  /// Cells of a reference's decision that the replaying plan would have decided otherwise, and that are judged there.
  struct Otherwise {
    explicit Otherwise(size_t cells) : chosen(cells), dropped(cells) {}
    std::vector<bool> chosen, dropped;
  };

  Otherwise compare_replayed(int64_t batch, const JudgedDecision& reference, const JudgedDecision& replayed);
  void compare_reference_replaying(int64_t batch, const JudgedDecision& reference, const JudgedDecision& plan,
                                   const JudgedDecision& whole_batch);
  /// Compares two executions that made the same choices, one of them freely. `reference_freely`: the reference with the
  /// choices that it would have made; `plan_freely`: those that the plan would have made.
  Otherwise compare_choices(int64_t batch, const JudgedDecision& reference, const JudgedDecision& reference_freely,
                            const JudgedDecision& plan, const std::vector<int32_t>& plan_freely);
  void compare_drops(int64_t batch, const JudgedDecision& reference_freely, const std::vector<int32_t>& plan_freely,
                     Otherwise& otherwise);
  Reached compare_batch_freely(int64_t batch, const std::vector<JudgedDecision>& reference,
                               const std::vector<JudgedDecision>& free, const std::vector<Otherwise>& judged);
  /// Adds to `disturbed` what differs here.
  void compare_router_freely(int64_t batch, const JudgedDecision& reference, const JudgedDecision& free,
                             const Otherwise& judged, DisturbedCells& disturbed);
  static void add_flip(Flip flip, double size, Router::Found& found);
  /// Weights that two decisions give the same branches of a cell.
  static void compare_weights(int64_t batch, const JudgedDecision& reference, const JudgedDecision& plan,
                              CellPair cells, Router& sum);
  void add_consequence(Flip flip);
  void wrong(const std::string& router, const std::string& what);
  Router& router(const JudgedDecision& reference);
  /// The error as a share of the scores' size.
  double score_error(const Router& router) const;
  void judge_router(const Router& router, Verification& verification, std::vector<Flip>& unexplained,
                    std::vector<Flip>& explained) const;

  Arithmetic arithmetic_;
  NonFinite nonfinite_;
  std::vector<Router> routers_;
  std::vector<Flip> consequences_;
  int64_t consequence_count_ = 0, dropped_ = 0;
  std::map<std::string, std::string> wrong_;  ///< by router: faults whatever the numbers say
};

}  // namespace stormcell
