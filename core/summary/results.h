// What the façade returns: plain, immutable values, shared as shared_ptr<const T>. JSON names are those of the
// contracts.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/run_kind.h"
#include "core/summary/ratio_basis.h"
#include "core/summary/sheet_figures.h"
#include "core/summary/split_rule.h"
#include "core/summary/withheld.h"

namespace stormcell {

/// Milliseconds of one batch over `runs` executions. Medians and percentiles are shown and never divided: a speed-up
/// comes from pairs.
struct Latency {
  double median = 0, p95 = 0, min = 0;
  int64_t runs = 0;
  double mean = 0;  ///< of plans that were measured side by side: of the pairs that the speed-up comes from
  /// The interval of the mean over several processes, each with equal weight: it also holds the mean of another run of
  /// the same command. Nothing: measured in one process.
  std::optional<std::array<double, 2>> mean_ci95 = {};
};

/// States of sequences that lie in pages (keys and values of attention), over all batches that ran.
struct StateFigures {
  /// as if every sequence of a batch were as long as the longest of the data, with all its new tokens
  int64_t planned_bytes = 0;
  /// What the sequences of a batch took by their own lengths, of the batch that took most.
  int64_t taken_bytes = 0, taken_pages = 0;
};

/// What the executions of one plan that were timed read under --weight-budget: means of one execution.
struct WeightsRead {
  int64_t executions = 0;  ///< that were timed
  double reads = 0;        ///< weights of a branch that were read
  double bytes_read = 0;   ///< of them from files, as they are stored; 0: they are drawn
  double stall_ms = 0;     ///< that it waited for weights
  double stall_share = 0;  ///< of its time
};

/// One plan as it ran.
struct PlanFigures {
  Latency latency_ms;
  /// real cells: what pads a batch is no work that anybody asked for; of decoding the tokens that were written
  double cells_per_s = 0;
  std::optional<double> limit_share;  ///< of this plan: sum over operators of max(bytes / bandwidth, FLOP / peak),
                                      ///< divided by the measured time
  int64_t peak_weight_bytes = 0;
  int64_t peak_activation_bytes = 0;  ///< planned, states in pages too
  int64_t batches = 0, rounds = 0;  ///< measured: so many of the data's batches; rounds that the interval is drawn over
  std::optional<double> tokens_per_s;       ///< of decoding
  std::optional<StateFigures> states;       ///< nothing: the plan keeps none in pages
  std::optional<WeightsRead> weights_read;  ///< nothing: there was no budget
};

struct ModelFigures {
  std::string name, family, weights;  ///< weights: trained, calibrated or seeded
  int64_t parameters = 0, weight_bytes = 0;
  int64_t routers = 0, branches = 0;  ///< branches: of all routers together
  std::string fingerprint;
  bool weights_stated = true;  ///< false: nobody said how the weights were made; they are taken as stored
  /// tensors of its files that no operator reads, without computed tables and copies of tied ones
  int64_t unread_tensors = 0;
};
/// Pictures of one size.
struct PictureFigures {
  int64_t height = 0, width = 0, items = 0, batches = 0;
};
/// A file of the data that could not be fed.
struct SkippedFigures {
  std::string name, reason;
};
struct DatasetFigures {
  std::string name;
  int64_t batches = 0, cells = 0, cells_without_padding = 0, sequences = 0, truncated = 0;
  bool by_length = false;  ///< batches of like length (--bucket-by-length); then `cells` is cells_by_length
  /// Counted, padding included: in batches in the data's order, in batches of like length. 0: an older run does not
  /// say.
  int64_t cells_as_given = 0, cells_by_length = 0;
  std::vector<PictureFigures> sizes;          ///< smallest first; empty: no pictures
  int64_t skipped = 0;                        ///< files that were passed over
  std::vector<SkippedFigures> skipped_items;  ///< the first thousand of them
  int64_t masked = 0;                         ///< items without a cell that the mask leaves: no figure counts them
  std::string unit;  ///< what `cells` counts: "token", "picture", "item"; empty: an older run does not say
  std::string note;  ///< what is to be known of these data before their figures are read; mostly empty
};
struct DeviceFigures {
  std::string name, backend, isa;
  std::string core_placement;  ///< how the threads' cores lay to each other, most of the time
  /// all that were met while measuring, the most frequent first; empty: an older run
  std::vector<std::string> core_placements;
  int threads = 1;
  double peak_gflops = 0, peak_bf16_gflops = 0, read_gbps = 0;  ///< the largest reading
  std::array<double, 2> peak_readings{}, read_readings{};  ///< the best of the first and of the last half; 0: not taken
};

/// A cell whose branches differ from the reference's.
struct Flip {
  std::string router;
  int64_t batch = 0, execution = 0;  ///< execution: how often a router of this name decided before
  int64_t turn = -1;  ///< of the repeat that the router stands in (of decoding, say); -1: it stands in none
  int64_t cell = 0;   ///< its row in the batch's dense space
  int64_t item = -1,
          position = 0;  ///< whose cell it is in the data set, and its place there; -1: an older run does not say
  std::string above;     ///< the branches that led there, of nested routers: "stage.0=1, stage.1=0"; else empty
  int32_t reference = 0, ours = 0;  ///< branches, -1: none
  double margin = 0, score_error = 0;
  bool explained = false;  ///< its own margin in the reference is below 8 times the router's score error
  /// a consequence of a flip before it, seen where the plan runs freely: not judged by its margin
  bool follows = false;
};

/// One output of the graph beside the reference's, each item on its own scale (the usual one where that is larger).
struct OutputDifference {
  std::string name;
  double max_abs_diff = 0, max_rel_diff = 0;  ///< with the reference's decisions replayed
  double free_max_rel_diff = 0;               ///< free-running, flips included
};

/// One router beside the reference's, asked on the reference's inputs.
struct RouterDifference {
  std::string router;
  double score_error = 0;   ///< of a margin, where scores have the usual size: the largest share of the size that one
                            ///< differs by, times that
  double score_scale = 0;   ///< that size, in the margins' unit
  double weight_error = 0;  ///< largest difference of a weight
  int64_t flips = 0, explained_flips = 0;
};

/// What another number format than the stored one costs: the plan beside the oracle on the stored weights.
struct FormatCost {
  std::string dtype;
  double max_rel_diff = 0,
         tolerance = 0;  ///< with that oracle's decisions replayed, which is what the tolerance judges
  bool passed = false;
  std::vector<OutputDifference> outputs;
  double free_max_rel_diff = 0;  ///< running freely
  int64_t choices = 0,
          /// of the oracle; those that the plan, running freely, makes otherwise; 0, 0: not counted
      differing_choices = 0;
  /// Of decoding, where each sequence counts up to the first token that differs: all, and those without one, running
  /// freely.
  int64_t sequences = 0, equal_sequences = 0;
};

/// "0.42 running freely, where 99 of 5,760 routing choices (1.7 %) differ from those of the stored weights"; empty: not
/// counted.
std::string free_cost_text(const FormatCost& cost);

/// What else is compared where tokens are decoded: the first ones of each sequence.
struct DecodedTokens {
  int64_t sequences = 0, equal = 0;  ///< equal: all tokens that were compared
  int64_t tokens = 0;                ///< of each sequence, at most
  int64_t compared = 0;              ///< tokens whose logits, and the routing that led to them, were compared
  int64_t near_ties = 0,
          follows = 0;  ///< tokens that differ: logits nearly equal; behind a routing choice that differs
};

/// So many pictures of a batch were compared with the oracle, which would have taken too long for all.
struct JudgedPart {
  int64_t batch = 0, pictures = 0, of = 0;
};
/// "8 of 128 pictures of batch 0"; of many batches the first three, and how many more.
std::string parts_text(const std::vector<JudgedPart>& parts);

/// The execution is judged by an oracle that holds the weights of the format that runs.
struct Verification {
  bool passed = false;
  std::string text;                  ///< "3 of 100 batches against the oracle, 97 more against the baseline"
  std::vector<std::string> reasons;  ///< why it did not pass, a sentence each
  std::string what_to_do;            ///< about it; empty: it is an error of the program
  double tolerance = 0, max_abs_diff = 0, max_rel_diff = 0;  ///< the largest of all outputs, each on its own scale
  double free_max_rel_diff = 0;                              ///< free-running, flips included
  int64_t batches = 0;                                       ///< compared with the oracle, whole or in part
  std::vector<JudgedPart> parts;                             ///< of them, those in part
  int64_t baseline_batches = 0;                              ///< optimised compared with the baseline
  int64_t flips = 0, explained_flips = 0;
  /// of flips: cells that decide otherwise, are dropped or kept, or are there on one side only, further on
  int64_t consequences = 0;
  int64_t dropped = 0;    ///< by the reference, for capacity
  int64_t nonfinite = 0;  ///< values that are not finite, the same on both sides, with --allow-nonfinite
  std::vector<OutputDifference> outputs;
  std::vector<RouterDifference> routers;
  std::optional<FormatCost> format;     ///< where the plan does not run in the stored format
  std::optional<DecodedTokens> tokens;  ///< of decoding
  std::vector<Flip> listed;             ///< 100 at most: unexplained ones first, consequences last
  double seconds = 0;
};

/// "no routing choice differs", "2 routing choices differ, all of them near ties; 5 more follow from them", ...
std::string flips_text(const Verification& verification);

/// Of a router that a pass takes for constant: cells of held-out batches about which it decided, and how many went
/// another way.
struct HeldOutRouter {
  std::string router;
  int64_t cells = 0;
  int64_t otherwise = 0;  ///< of a router with several branches a cell: at least
};

struct PassReport {
  std::string name;
  bool applied = false;
  std::string reason;
  std::optional<double> speedup_alone, speedup_cumulative;
  std::optional<std::array<double, 2>> speedup_alone_ci95, speedup_cumulative_ci95;
  int64_t guard_hits = 0, fallbacks = 0;          ///< of its guards over all batches of the data: see guards_counted()
  std::map<std::string, std::string> options;     ///< what was set of it and is not the standard
  std::map<std::string, std::string> parameters;  ///< what it found
  std::optional<double> speedup_own;              ///< the plan with it against the plan without it
  std::optional<std::array<double, 2>> speedup_own_ci95;
  bool left_out = false;  ///< it could be applied, and lost
  /// Of a pass that takes routers for constant, each of these; counted where the baseline ran the batches that were not
  /// profiled.
  std::vector<HeldOutRouter> held_out = {};
  /// Where it applied, real cells alone are computed. Nothing: an older run, which does not say.
  std::optional<bool> leaves_padding_out = {};
  /// why a speed-up of it is not stated (core/summary/stated_speedups.h)
  std::optional<SpeedupWithheld> withheld = {};
  /// The reason without the speeds that it quotes, for its place if those are withheld. Empty: it quotes none, or an
  /// older run.
  std::string reason_without_speeds = {};

  void clear_gains() {
    speedup_alone = speedup_cumulative = speedup_own = {};
    speedup_alone_ci95 = speedup_cumulative_ci95 = speedup_own_ci95 = {};
  }
};

/// Which batches optimize profiled and which it measured.
struct SplitFigures {
  SplitRule rule = SplitRule::strided;
  int64_t profiled = 0, measured = 0;
  bool same = false;     ///< the data has one batch, which is profiled and measured
  int64_t held_out = 0;  ///< number of batches that may be measured; a time limit can leave some out of `measured`. 0:
                         ///< an older version
};

struct RouterFigures {
  std::string router;
  int32_t branches = 0, fan_out = 1;
  int64_t cells = 0;
  std::vector<int64_t> load;  ///< real cells and padding, kept by capacity
  double imbalance = 0;       ///< max / mean - 1
  double entropy = 0;         ///< bits
  int64_t dropped = 0;
  /// bits that label (from the 4096th on: one) and branch share; padding left out
  std::optional<double> label_information;
  // The same without padding.
  int64_t cells_real = 0;
  std::vector<int64_t> load_real;
  double imbalance_real = 0, entropy_real = 0;
};

/// Time by operator in one plan, from step events.
struct OperatorTime {
  std::string op;
  int64_t steps = 0;        ///< executed over all batches
  double milliseconds = 0;  ///< a batch
  double limit_milliseconds = 0;
  double limit_compute_milliseconds = 0;  ///< by FLOP alone
  int64_t batches = 0;                    ///< recorded
  /// Faster than memory allows though not faster than the arithmetic: the data came from a cache.
  bool in_cache() const { return limit_milliseconds > milliseconds && limit_compute_milliseconds <= milliseconds; }
};

/// What --weight-budget did, over all executions of a verb, those of the verification too. Bytes of weights are those
/// of the layouts in which the device holds them.
struct BudgetFigures {
  int64_t budget_bytes = 0;
  int64_t dense_bytes = 0;   ///< loaded for good, beside the budget
  int64_t expert_bytes = 0;  ///< weights of branches, all together
  int64_t slot_bytes = 0;    ///< taken of the budget
  int64_t pinned_bytes = 0;  ///< of it besides, for weights that stay (residency=pinned)
  int64_t arena_bytes = 0;   ///< beside all weights: activations, states of sequences, inputs and records of the plans
  int64_t executions = 0;    ///< batches, each as often as it ran
  int64_t readers = 0;       ///< threads that read, beside those of --threads
  int64_t reads = 0;         ///< weights of a branch that were read
  int64_t bytes_read = 0;    ///< of them from files, as they are stored; 0: they are drawn
  int64_t bytes_filled = 0;  ///< of slots, in the device's layouts
  int64_t evictions = 0;
  double stall_seconds = 0;  ///< that executions waited for weights
  // Of the executions that were timed:
  int64_t measured_executions = 0, measured_reads = 0, measured_bytes_read = 0;
  double measured_stall_seconds = 0;
  /// By the whole process, as the system counts it: the largest reading after an execution, before the verification.
  int64_t held_bytes = 0;
  std::string held_counted = {};  ///< who says so: "control group", "process"
  int64_t peak_bytes = 0;  ///< most that was resident in the process, whoever counts the other, at any time before the
                           ///< verification; 0: the system does not say
};

/// The quality of one plan's answers against the data, over all batches that every plan ran, each once.
struct PlanQuality {
  double value = 0;                                 ///< of the measure, in its unit
  std::optional<std::array<double, 2>> value_ci95;  ///< over the items
  int64_t items = 0;                                ///< that were judged
  std::optional<int64_t> counted;                   ///< of them, where the measure counts: those that are right
};
/// Of the items of one class.
struct GroupQuality {
  std::string name;
  int64_t items = 0;
  std::optional<double> baseline, optimized;  ///< of the measure
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
  std::string counts;      ///< what PlanQuality::counted is: "right"; empty: nothing is counted
  std::string item;        ///< "picture", "item"
  int64_t items = 0;       ///< that were judged
  int64_t not_judged = 0;  ///< of which the data do not say what is right
  /// of the values of all items, where the data leave some out (pixels that a mask names)
  std::optional<double> judged_share;
  /// batches that both plans ran, if a time limit ended one of them earlier; nothing: all
  std::optional<int64_t> batches;
  std::optional<PlanQuality> baseline, optimized;
  std::optional<int64_t> better, worse;  ///< items that the optimised plan answers better, worse than the baseline
  std::vector<GroupQuality> groups;      ///< by class, those that the data have
  std::vector<WrongAnswer> wrong;  ///< of the baseline, where it ran; of classes alone, and at most kMostWrong, by item
};

/// An exit of a network: where pictures may answer and go no further.
struct ExitFigures {
  std::string router;  ///< that decides there; empty: the end of the network
  double cost = 1;     ///< operations where every item answers there, as a share of those through the whole network
  int64_t items = 0;   ///< that left there, with the thresholds that ran
  std::optional<double> value;         ///< the measure over those of them that can be judged; nothing: none of them
  std::optional<double> value_of_all;  ///< the measure where every item answers there
  std::optional<double> baseline_cost = {};  ///< as `cost`, in the model's own order; nothing: `cost` is of that
};
/// What thresholds give: which items leave where, at which mean cost, with which quality.
struct ExitPoint {
  double threshold = 0;  ///< one for all exits
  double mean_cost = 1;  ///< operations as a share of those through the whole network, each item's of its own size
  std::optional<double> value;  ///< of the measure, over the items that can be judged; nothing: none can
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
  ExitPoint chosen;                ///< with those thresholds; its `threshold` says nothing where they differ
  std::vector<ExitPoint> curve;    ///< one threshold for all exits, ascending
  std::vector<ExitClass> classes;
  int64_t judged = 0;  ///< items of which the data say what is right
  /// Whose operations all costs are, of both an exit and the whole network. Null: an older summary.
  std::optional<CurvePlan> plan = {};
};
/// What a target bounds.
enum class Bounded : uint8_t { quality, operations, latency, unknown };
/// Thresholds that were found for a target, one for each exit: searched on the profiled part of the data by replaying
/// one recorded run, judged on the other part by a real run. No answer of the model's own thresholds is what they are
/// held to, but quality.
struct ExitTarget {
  Bounded of = Bounded::quality;
  /// of the measure; a share of the operations of the whole network; milliseconds, the mean over the batches
  double target = 0;
  bool met = false;  ///< on the held-out part, where it was really run; on the part that was searched it always is
  bool is_optimum = false;    ///< of the part that was searched: all were tried, none is better. False: others may be
  std::string measure, unit;  ///< as QualityFigures
  std::string item;           ///< "picture", "item"
  std::vector<std::string> routers;
  std::vector<double> thresholds, own_thresholds;  ///< by router; own: of the model. 0: all leave, 2: none does
  ExitPoint fitted;                                ///< on the part that was searched, replayed
  ExitPoint predicted, held_out;  ///< on the other part, replayed and really run; their `threshold` says nothing
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
  std::string name;       ///< as messages call it: "picture 3", a file's name
  double operations = 0;  ///< counted, of real cells alone
  double share = 1;       ///< of the operations that it would take were all its cells to go through every branch
};
/// Parts of the model that a gate may leave out (a node that its picture may skip, what lies behind an exit), by how
/// many of them items were computed. Of an item of several cells each part counts by the share of them that it
/// computed.
struct PartsComputed {
  double mean = 0;  ///< of an item
  std::optional<std::array<double, 2>> mean_ci95;
  int64_t of = 0;  ///< that there are
};
/// One branch for all cells of each router, that which takes most, without the routers' own work: a network that does
/// not route. Where a cell takes several branches at once, as many.
struct LargestBranch {
  double operations = 0;  ///< mean of an item
  /// that was spent, of what it would take: above 1 where routing costs more than it spares beside it
  double share = 1;
  std::optional<std::array<double, 2>> share_ci95;
};
/// Some of the items.
struct ItemsSpent {
  int64_t items = 0;
  double share = 1;  ///< of what all branches would take for all of them together
  std::optional<std::array<double, 2>> share_ci95;
  std::optional<PartsComputed> parts;  ///< nothing: no gates
};
/// Items of one class; where an item may show several classes (those of its pixels), beside the items that show it not.
struct GroupSpent {
  std::string name;
  ItemsSpent with;
  std::optional<ItemsSpent> without;  ///< nothing: an item has one class
  std::optional<double> fewer;        ///< by which part the share of those without is smaller than that of those with
  std::optional<std::array<double, 2>> fewer_ci95;
};
/// What each item cost: operations counted from the recorded decisions of the baseline's routers, beside those of the
/// plan of --dense, every cell through every branch. Padding is left out. Intervals by bootstrap over the items.
struct ItemCostFigures {
  std::string item;  ///< "picture", "sequence", "item"
  int64_t items = 0;
  double operations = 0, operations_of_all = 0;  ///< means of an item
  double share = 1;                              ///< of the sums
  std::optional<std::array<double, 2>> share_ci95;
  std::vector<double> quartiles;       ///< three, of the items' shares
  ItemSpent least, most;               ///< by share
  bool alike = false;                  ///< all branches would take the same of every item
  std::optional<double> served;        ///< choices that their branches had room for, of all; nothing: all of them
  std::optional<PartsComputed> parts;  ///< nothing: no router leaves a part out
  /// nothing: routers leave parts out, and without routing all of them are computed
  std::optional<LargestBranch> largest_branch;
  std::vector<GroupSpent> groups;
};

/// The measuring of one process: the run's own process, or a fresh one that opened the model again.
struct MeasuringFigures {
  bool fresh_process = false;
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> speedup_ci95;  ///< interval from within the process
  std::optional<double> baseline_ms, plan_ms;         ///< mean time of a batch
};

/// optimize, run and profile fill what applies.
struct RunSummaryFigures {
  std::string verb;     ///< optimize, run, profile
  std::string version;  ///< of the program that wrote it; empty: of this one
  ModelFigures model;
  DatasetFigures dataset;
  DeviceFigures device;
  std::string phase = "forward";  ///< or "decode": what was run on each batch
  std::optional<PlanFigures> baseline, optimized;
  std::optional<double> speedup;  ///< of the time of all batches, from paired executions (docs/concepts.md)
  std::optional<std::array<double, 2>> speedup_ci95;
  // If three or more processes measured, every interval of a time also holds the spread between them.
  /// the run's own process is the first; empty: an older version, or nothing to repeat
  std::vector<MeasuringFigures> measurings;
  /// standard deviation between them of the logarithm of the speed-up, else of the latency
  std::optional<double> between_spread;
  std::optional<double> measured_again_seconds;  ///< seconds that fresh processes took
  std::string measured_once;  ///< why there is only one measuring; empty: there are several, or the reason is not known
  /// why it is not stated although it was measured (core/summary/stated_speedups.h)
  std::optional<SpeedupWithheld> withheld;
  /// part of the processors that other processes used while it measured; nothing: not known
  std::optional<double> other_load;
  std::optional<RatioBasis> speedup_basis;  ///< the basis of the estimate; older summaries lack it
  std::optional<SplitFigures> split;        ///< optimize
  std::optional<Verification> verified;
  std::vector<PassReport> passes;
  std::vector<RouterFigures> routing;
  std::vector<OperatorTime> baseline_operators, optimized_operators;
  std::string session;  ///< file, empty: none written
  int64_t session_run = 0;
  std::string config;                 ///< stormcell.config/1 as JSON text
  std::string settings;               ///< the exact settings as JSON text
  double load_seconds = 0;            ///< reading and packing weights
  int64_t unloaded_weight_bytes = 0;  ///< that the plan had not needed by the end of the run (dead paths)
  int64_t peak_resident_bytes = 0;
  std::optional<BudgetFigures> weight_budget;  ///< nothing: there was no budget
  /// "27 nodes: *.wi.kernel=linear.plain", one for each annotation that holds of some
  std::vector<std::string> annotated;
  // profile
  int64_t decisions = 0, windows = 0;
  std::vector<std::string> labels;
  std::optional<double> record_overhead;  ///< share of the run's time
  std::optional<std::array<double, 2>> record_overhead_ci95;
  /// time that recording itself took, on the run's thread and the writer's, as a share of the run's
  std::optional<double> record_work;
  std::vector<std::string> warnings;
  std::shared_ptr<const RunSummaryFigures> decode;  ///< --phase both: the same of decoding, a run of its own; else null
  std::optional<QualityFigures> quality;            ///< nothing: there is no task, or the data do not say what is right
  std::optional<PlanFigures> dense;                 ///< --dense: every cell through every branch, masked
  std::optional<Latency> dense_baseline_ms;         ///< the baseline's in the same pairs; older summaries lack it
  /// What routing itself saves: how much faster the baseline is than that plan, from paired executions.
  std::optional<double> routing_speedup;
  std::optional<std::array<double, 2>> routing_speedup_ci95;
  std::optional<SpeedupWithheld> routing_withheld;  ///< why it is not stated
  std::optional<ExitCurve> exits;         ///< nothing: the model has no exits; its values are empty without labels
  std::optional<ExitTarget> exit_target;  ///< --target-quality, --target-latency
  /// Nothing: no routers, decoding, or a plan that does not decide all of them.
  std::optional<ItemCostFigures> item_costs;
  // optimize
  std::optional<double> time_limit_seconds;  ///< limit for the whole command; nothing: there was none
  /// time expected for the whole command, before its first stage
  std::optional<std::array<double, 2>> expected_seconds;
  std::optional<double> likely_seconds;        ///< the probable time of that range; nothing: an older version
  std::optional<double> elapsed_seconds;       ///< time of the command until the result was written
  std::optional<int64_t> passes_tried_on;      ///< batches on which passes were tried singly; nothing: they were not
  std::vector<std::string> left_out_for_time;  ///< a sentence for each part left out
  std::string limit_overrun;  ///< the work that took longer than the limit left for it; empty: the limit was kept

  bool is_verified() const { return verified && verified->passed; }
  /// True if intervals of times hold the spread between runs.
  bool knows_spread() const { return between_spread.has_value(); }
};

/// Decoding beside the oracle: the first tokens of the first batches. Where a token differs, its sequence is compared
/// up to that token, and where sequences share a capacity all of its batch are: from there on another text is decoded.
/// A token whose logit is nearly equal to another's may differ; so may one behind a routing choice that was explained.
/// Where too few tokens are left, it did not pass.
struct DecodedVerification {
  bool passed = false;
  std::vector<std::string> reasons;  ///< why it did not pass, a sentence each
  std::string what_to_do;            ///< about it; empty: it is an error of the program
  int64_t batches = 0;               ///< compared, and of them
  int64_t sequences = 0, equal = 0;  ///< equal: all tokens that were compared
  int64_t tokens = 0;                ///< of each sequence, at most
  int64_t compared = 0;              ///< tokens whose logits, and the routing that led to them, were compared
  double tolerance = 0,
         max_rel_diff = 0;  ///< of the logits with the oracle's decisions replayed, as a share of the largest
  int64_t flips = 0, explained_flips = 0;  ///< of routing choices
  int64_t near_ties = 0,
          follows = 0;  ///< tokens that differ: logits nearly equal; behind a routing choice that differs
  std::string text;     ///< "the first 16 tokens of 3 of 3 sequences equal the oracle's; the logits of 48 of 96 written
                        ///< tokens compared ..."
};

struct GenerateFigures {
  std::string version;  ///< of the program that wrote it; empty: of this one
  ModelFigures model;
  DatasetFigures dataset;
  DeviceFigures device;
  int64_t batches = 0, sequences = 0, tokens = 0;
  double tokens_per_s = 0;
  Latency latency_ms;
  int64_t stopped_eos = 0, stopped_length = 0;
  std::optional<double> accuracy;  ///< exact match, with targets
  std::vector<RouterFigures> routing;
  std::vector<std::vector<int32_t>> ids;  ///< by sequence, without padding
  std::vector<std::string> texts;         ///< where there is a tokenizer
  std::string settings;                   ///< the exact settings as JSON text
  std::string session;                    ///< file, empty: none written
  int64_t session_run = 0;
  std::vector<std::string> warnings;
  std::optional<DecodedVerification> verified;
  std::optional<StateFigures> states;          ///< nothing: the plan keeps none in pages
  std::optional<BudgetFigures> weight_budget;  ///< nothing: there was no budget
  std::optional<WeightsRead> weights_read;     ///< the same
};

struct RouterStructure {
  std::string name;
  int32_t branches = 0;
  std::string cell_space, protocol;
  std::vector<std::string> depends, mixes;
  double hoistable_bytes = 0, hoistable_flops = 0;
  /// of an exit: operations where all answer there, as a share of those through the whole network
  std::optional<double> exit_cost = {};
};
/// The pictures that a model takes.
struct PictureStructure {
  int64_t height = 0, width = 0, channels = 0;  ///< that the structure is told for
  int64_t least = 0, most = 0;                  ///< of heights and widths that it takes, too; 0: this size alone
};
/// Patches that a picture of that size is cut into.
struct GridStructure {
  std::string cell_space;
  int64_t rows = 0, columns = 0;
  int64_t patch_height = 0, patch_width = 0, stride = 0;  ///< in pixels
};
/// What the data have to bring.
struct InputStructure {
  std::string name, role, cell_space;
  std::vector<int64_t> content;  ///< of one cell; empty: one number
};
/// Operations of one item in a network with exits.
struct ItemFlops {
  double first_exit = 0;  ///< of an item that answers at the first exit
  double whole = 0;       ///< through the whole network, of which RouterStructure::exit_cost is a share
};
/// A segment of a plan, as it lies in its tree.
struct SegmentStructure {
  std::string kind;             ///< "program", "branch", "taken", "fallback", "repeat", "leaf"
  std::string of;               ///< whose branch, body or turns; empty: of the program, a leaf
  std::optional<int64_t> leaf;  ///< its number, of a leaf
  int64_t begin = 0, end = 0;   ///< steps [begin, end)
  int64_t kernels = 0, branches = 0, guards = 0,
          repeats = 0;   ///< of a leaf: steps that compute, regions that lie in it whole
  std::string ends, at;  ///< why, and at which node, a submission may end with a leaf; empty: it does not
  std::vector<SegmentStructure> children;
};
/// What of a plan runs on the device without the host.
struct PlanStructure {
  WorkPhase phase = WorkPhase::forward;     ///< forward or decode
  int64_t weight_budget = 0;                ///< bytes; 0: none
  int64_t steps = 0, leaves = 0, ends = 0;  ///< ends: leaves with which a submission may end
  SegmentStructure program;
};
/// The kernels of an operator that `kernel=` of an annotation may name.
struct KernelsOfOperator {
  std::string op;
  std::vector<std::string> devices;  ///< that have them; empty: all devices, because none differs
  std::vector<std::string> names;    ///< in the order in which they are tried
};
struct ModelStructure {
  std::string version;  ///< of the program that wrote it; empty: of this one
  std::string name, family;
  std::string weights;         ///< as ModelFigures
  bool weights_stated = true;  ///< the same
  int64_t parameters = 0, weight_bytes = 0;
  int64_t expert_bytes = 0;  ///< weights of branches, all together, as the CPU lays them out
  int64_t least_budget = 0;  ///< of these the largest one: the least --weight-budget; 0: it has no branches
  /// where each cell takes as many branches as it may, and all branches get equally many cells
  double flops_per_cell = 0;
  std::optional<ItemFlops> item_flops;  ///< nothing: it has no exits
  std::vector<InputStructure> inputs;
  std::optional<PictureStructure> picture;  ///< none: it takes no pictures
  std::vector<GridStructure> grids;
  std::vector<RouterStructure> routers;
  std::map<std::string, int64_t> operators;
  std::vector<KernelsOfOperator> kernels;
  std::vector<std::string> annotations;  ///< that were asked for, as the graph has them, NAME.KEY=WORD each
  std::optional<PlanStructure> plan;     ///< where it was asked for
  std::vector<std::string> unsupported, warnings;
  std::optional<ModelSheet> sheet;  ///< nothing: a preset has no files
};

/// JSON texts of the contracts: "stormcell.optimize/1", "stormcell.run/1", "stormcell.profile/1",
/// "stormcell.generate/1", "stormcell.inspect/1".
std::string to_json(const RunSummaryFigures& figures);
std::string to_json(const GenerateFigures& figures);
std::string to_json(const ModelStructure& structure);

}  // namespace stormcell
