// How good the answers are, where items leave the network, and what each item cost.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/summary/withheld.h"

namespace stormcell {

/// The quality of one plan's answers against the data, over all batches that every plan ran, each once.
struct PlanQuality {
  double value = 0;                                 ///< the measure's value, in its unit
  std::optional<std::array<double, 2>> value_ci95;  ///< over the items
  int64_t items = 0;                                ///< items that were judged
  std::optional<int64_t> counted;                   ///< items that are right, if the measure counts
};
/// Quality over the items of one class.
struct GroupQuality {
  std::string name;
  int64_t items = 0;
  std::optional<double> baseline, optimized;  ///< the measure of each plan
};
inline constexpr size_t kMostWrong = 1000;
/// An item that was answered by another class than its own.
struct WrongAnswer {
  int64_t item = 0;    ///< its number in the data
  std::string answer;  ///< the class that was answered
};
/// Task quality: present where the model's answers are for a task (core/quality/tasks.cpp) and the data say what is
/// right.
struct QualityFigures {
  std::string task;        ///< "classification"
  std::string measure;     ///< "accuracy"
  std::string unit;        ///< "share"; else what stands behind the number, "dB"
  std::string interval;    ///< how value_ci95 is computed: "Wilson"
  std::string counts;      ///< the word for PlanQuality::counted: "right"; empty: nothing is counted
  std::string item;        ///< "picture", "item"
  int64_t items = 0;       ///< items that were judged
  int64_t not_judged = 0;  ///< items of which the data do not say what is right
  /// of the values of all items, where the data leave some out (pixels that a mask names)
  std::optional<double> judged_share;
  /// batches that both plans ran, if a time limit ended one of them earlier; nothing: all
  std::optional<int64_t> batches;
  std::optional<PlanQuality> baseline, optimized;
  std::optional<int64_t> better, worse;  ///< items that the optimised plan answers better, worse than the baseline
  std::vector<GroupQuality> groups;      ///< groups by class, those that the data have
  std::vector<WrongAnswer> wrong;  ///< by the baseline, if it ran; for classes alone, and at most kMostWrong, by item
};

/// An exit of a network: where pictures may answer and go no further.
struct ExitFigures {
  std::string router;  ///< router that decides there; empty: the end of the network
  double cost = 1;     ///< operations where every item answers there, as a share of those through the whole network
  int64_t items = 0;   ///< items that left there, with the thresholds that ran
  std::optional<double> value;         ///< the measure over those of them that can be judged; nothing: none of them
  std::optional<double> value_of_all;  ///< the measure where every item answers there
  std::optional<double> baseline_cost = {};  ///< `cost` in the model's own order; nothing: `cost` is in that order
};
/// The result of thresholds: the items by exit, their mean cost, their quality.
struct ExitPoint {
  double threshold = 0;  ///< one for all exits
  double mean_cost = 1;  ///< operations as a share of those through the whole network, each item's of its own size
  std::optional<double> value;  ///< the measure over the items that can be judged; nothing: none can
  std::optional<std::array<double, 2>> value_ci95;  ///< as PlanQuality has it
  std::vector<int64_t> items;                       ///< by exit
};
/// Items of one class, by exit, with the thresholds that ran.
struct ExitClass {
  std::string name;
  std::vector<int64_t> items;
};
/// The plan whose operations are counted.
enum class CurvePlan : uint8_t {
  baseline,   ///< the model's own order
  optimized,  ///< work waits for the exits before it
  unknown     ///< the word of a later version
};
/// Early exits: what every threshold would give, from one run in which all items went through the whole network and the
/// scores of every exit were kept.
struct ExitCurve {
  std::string measure, unit;  ///< as QualityFigures
  std::string item;           ///< "picture", "item"
  int64_t items = 0;          ///< all that ran
  /// that ran, by exit: the model's own, or those that were found for a target (ExitTarget)
  std::vector<double> thresholds;
  std::vector<ExitFigures> exits;  ///< the last is the end of the network
  ExitPoint chosen;                ///< the point with those thresholds; its `threshold` means nothing if they differ
  std::vector<ExitPoint> curve;    ///< one threshold for all exits, ascending
  std::vector<ExitClass> classes;
  int64_t judged = 0;  ///< items of which the data say what is right
  /// The plan whose operations all costs are, both of an exit and of the whole network. Null: an older summary.
  std::optional<CurvePlan> plan = {};
};
/// The figure that a target bounds.
enum class Bounded : uint8_t { quality, operations, latency, unknown };
/// Thresholds that were found for a target, one for each exit: searched on the profiled part of the data by replaying
/// one recorded run, judged on the other part by a real run. No answer of the model's own thresholds is what they are
/// held to, but quality.
struct ExitTarget {
  Bounded of = Bounded::quality;
  /// of the measure; a share of the operations of the whole network; milliseconds, the mean over the batches
  double target = 0;
  bool met = false;  ///< met on the held-out part, where it was really run; on the part that was searched it always is
  bool is_optimum = false;    ///< for the part that was searched: all were tried, none is better. False: others may be
  std::string measure, unit;  ///< as QualityFigures
  std::string item;           ///< "picture", "item"
  std::vector<std::string> routers;
  std::vector<double> thresholds, own_thresholds;  ///< by router; own: the model's. 0: all leave, 2: none does
  ExitPoint fitted;                                ///< figures of the searched part, replayed
  ExitPoint predicted, held_out;  ///< of the other part, replayed and really run; their `threshold` means nothing
  ExitPoint own;                  ///< there with the model's own thresholds, replayed
  /// items that really left at another exit than replayed; older summaries lack it
  std::optional<int64_t> left_elsewhere;
  /// of the baseline, the mean over the batches of each one's median; the first two predicted from those of the exits
  std::optional<double> fitted_ms, predicted_ms, held_out_ms;
  /// of the baseline with these thresholds over the one with the model's own, from paired executions
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> speedup_ci95;
  std::optional<SpeedupWithheld> withheld = {};  ///< why `speedup` is not stated
  /// The headline: the gain of the plan that is kept, thresholds and passes together, over the model as it came, with
  /// its own thresholds and no pass.
  std::optional<double> speedup_over_model;
  std::optional<std::array<double, 2>> speedup_over_model_ci95;
  std::optional<SpeedupWithheld> over_model_withheld = {};  ///< why `speedup_over_model` is not stated
};

/// One item, by what it went through.
struct ItemSpent {
  int64_t item = 0;       ///< its number in the data
  std::string name;       ///< its name in messages: "picture 3", a file's name
  double operations = 0;  ///< counted, of real cells alone
  double share = 1;       ///< share of the operations that it would take if all its cells went through every branch
};
/// Parts of the model that a gate may leave out (a node that its picture may skip, the network behind an exit), counted
/// by the items that computed them. In an item of several cells each part counts by the share of them that it computed.
struct PartsComputed {
  double mean = 0;  ///< mean of an item
  std::optional<std::array<double, 2>> mean_ci95;
  int64_t of = 0;  ///< number of parts that there are
};
/// One branch for all cells of each router, that which takes most, without the routers' own work: a network that does
/// not route. If a cell takes several branches at once, as many.
struct LargestBranch {
  double operations = 0;  ///< mean of an item
  /// that was spent, of what it would take: above 1 where routing costs more than it spares beside it
  double share = 1;
  std::optional<std::array<double, 2>> share_ci95;
};
/// Some of the items.
struct ItemsSpent {
  int64_t items = 0;
  double share = 1;  ///< share of what all branches would take for all items together
  std::optional<std::array<double, 2>> share_ci95;
  std::optional<PartsComputed> parts;  ///< nothing: no gates
};
/// Items of one class; where an item may show several classes (those of its pixels), beside the items that show it not.
struct GroupSpent {
  std::string name;
  ItemsSpent with;
  std::optional<ItemsSpent> without;  ///< nothing: an item has one class
  std::optional<double> fewer;        ///< part by which the share of those without is smaller than that of those with
  std::optional<std::array<double, 2>> fewer_ci95;
};
/// The cost of each item: operations counted from the recorded decisions of the baseline's routers, beside those of the
/// plan of --dense, every cell through every branch. Padding is left out. Intervals by bootstrap over the items.
struct ItemCostFigures {
  std::string item;  ///< "picture", "sequence", "item"
  int64_t items = 0;
  double operations = 0, operations_of_all = 0;  ///< means of an item
  double share = 1;                              ///< ratio of the sums
  std::optional<std::array<double, 2>> share_ci95;
  std::vector<double> quartiles;       ///< three, of the items' shares
  ItemSpent least, most;               ///< the ends by share
  bool alike = false;                  ///< all branches would take the same of every item
  std::optional<double> served;        ///< choices that their branches had room for, of all; nothing: all of them
  std::optional<PartsComputed> parts;  ///< nothing: no router leaves a part out
  /// nothing: routers leave parts out, and without routing all of them are computed
  std::optional<LargestBranch> largest_branch;
  std::vector<GroupSpent> groups;
};

}  // namespace stormcell
