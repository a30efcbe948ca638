// Results of the façade: plain, immutable values, shared as shared_ptr<const T>. fields.h has the JSON name of each
// member.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/summary/answer_figures.h"
#include "core/summary/changed_answers.h"
#include "core/summary/ratio_basis.h"
#include "core/summary/split_rule.h"
#include "core/summary/structure_figures.h"
#include "core/summary/verification_figures.h"
#include "core/summary/withheld.h"

namespace stormcell {

/// Milliseconds of one batch over `runs` executions. Medians and percentiles are shown and never divided: a speed-up
/// comes from pairs.
struct Latency {
  double median = 0, p95 = 0, min = 0;
  int64_t runs = 0;
  double mean = 0;  ///< for plans that were measured side by side: over the pairs that the speed-up comes from
  /// The interval of the mean over several processes, each with equal weight: it also holds the mean of another run of
  /// the same command. Nothing: measured in one process.
  std::optional<std::array<double, 2>> mean_ci95 = {};
};

/// States of sequences that lie in pages (keys and values of attention), over all batches that ran.
struct StateFigures {
  /// as if every sequence of a batch were as long as the longest of the data, with all its new tokens
  int64_t planned_bytes = 0;
  /// Memory that a batch's sequences took by their own lengths, for the batch that took most.
  int64_t taken_bytes = 0, taken_pages = 0;
};

/// Reads of one plan's timed executions under --weight-budget: means of one execution.
struct WeightsRead {
  int64_t executions = 0;  ///< executions that were timed
  double reads = 0;        ///< weights of a branch that were read
  double bytes_read = 0;   ///< bytes of these reads from files, as they are stored; 0: they are drawn
  double stall_ms = 0;     ///< time that it waited for weights
  double stall_share = 0;  ///< share of its time
};

/// One plan as it ran.
struct PlanFigures {
  Latency latency_ms;
  /// real cells: what pads a batch is no work that anybody asked for; of decoding the tokens that were written
  double cells_per_s = 0;
  std::optional<double> limit_share;  ///< share of this plan: sum over operators of max(bytes / bandwidth, FLOP /
                                      ///< peak), divided by the measured time
  int64_t peak_weight_bytes = 0;
  int64_t peak_activation_bytes = 0;  ///< planned, states in pages too
  int64_t batches = 0, rounds = 0;  ///< measured: so many of the data's batches; rounds that the interval is drawn over
  std::optional<double> tokens_per_s;       ///< for decoding
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
  std::string unit;  ///< unit of `cells`: "token", "picture", "item"; empty: an older run does not say
  std::string note;  ///< remark on these data that a reader of their figures needs; mostly empty
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

/// A router that a pass takes for constant: cells of held-out batches that it decided about, and how many of them went
/// another way.
struct HeldOutRouter {
  std::string router;
  int64_t cells = 0;
  int64_t otherwise = 0;  ///< for a router with several branches a cell: at least
};

struct PassReport {
  std::string name;
  bool applied = false;
  std::string reason;
  std::optional<double> speedup_alone, speedup_cumulative;
  std::optional<std::array<double, 2>> speedup_alone_ci95, speedup_cumulative_ci95;
  int64_t guard_hits = 0, fallbacks = 0;          ///< its guards' over all batches of the data: see guards_counted()
  std::map<std::string, std::string> options;     ///< its options that are not the standard
  std::map<std::string, std::string> parameters;  ///< its findings
  std::optional<double> speedup_own;              ///< the plan with it against the plan without it
  std::optional<std::array<double, 2>> speedup_own_ci95;
  bool left_out = false;     ///< it could be applied, and lost, or its plan is not equal to the model
  std::string differs = {};  ///< what a proof found in its plan that is not equal to the model; empty: nothing
  /// The routers that the pass takes for constant; counted if the baseline ran the batches that were not profiled.
  std::vector<HeldOutRouter> held_out = {};
  /// Whether it computes real cells alone where it applied. Nothing: an older run, which does not tell.
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

/// The batches that optimize profiled, and those that it measured.
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
  double limit_compute_milliseconds = 0;  ///< limit by FLOP alone
  int64_t batches = 0;                    ///< recorded
  /// Faster than memory allows though not faster than the arithmetic: the data came from a cache.
  bool in_cache() const { return limit_milliseconds > milliseconds && limit_compute_milliseconds <= milliseconds; }
};

/// The work of --weight-budget over all executions of a verb, those of the verification included. Bytes of weights are
/// those of the layouts in which the device holds them.
struct BudgetFigures {
  int64_t budget_bytes = 0;
  int64_t dense_bytes = 0;   ///< loaded for good, beside the budget
  int64_t expert_bytes = 0;  ///< weights of branches, all together
  int64_t slot_bytes = 0;    ///< taken of the budget
  int64_t pinned_bytes = 0;  ///< taken besides, for weights that stay (residency=pinned)
  int64_t arena_bytes = 0;   ///< beside all weights: activations, states of sequences, inputs and records of the plans
  int64_t executions = 0;    ///< batches, each as often as it ran
  int64_t readers = 0;       ///< threads that read, beside those of --threads
  int64_t reads = 0;         ///< weights of a branch that were read
  int64_t bytes_read = 0;    ///< bytes of these from files, as they are stored; 0: they are drawn
  int64_t bytes_filled = 0;  ///< bytes of slots, in the device's layouts
  int64_t evictions = 0;
  double stall_seconds = 0;  ///< time that executions waited for weights
  // Sums over the executions that were timed:
  int64_t measured_executions = 0, measured_reads = 0, measured_bytes_read = 0;
  double measured_stall_seconds = 0;
  /// Memory of the whole process, as the system counts it: the largest reading after an execution, before the
  /// verification.
  int64_t held_bytes = 0;
  std::string held_counted = {};  ///< the source of the count: "control group", "process"
  int64_t peak_bytes = 0;  ///< most that was resident in the process, whoever counts the other, at any time before the
                           ///< verification; 0: the system does not say
};

/// The measuring of one process: the run's own process, or a fresh one that opened the model again.
struct MeasurementFigures {
  bool fresh_process = false;
  std::optional<double> speedup;
  std::optional<std::array<double, 2>> speedup_ci95;  ///< interval from within the process
  std::optional<double> baseline_ms, plan_ms;         ///< mean time of a batch
};

/// optimize, run and profile fill what applies.
struct RunSummaryFigures {
  std::string verb;     ///< optimize, run, profile
  std::string version;  ///< version of the program that wrote it; empty: this one
  ModelFigures model;
  DatasetFigures dataset;
  DeviceFigures device;
  std::string phase = "forward";  ///< or "decode": what was run on each batch
  std::optional<PlanFigures> baseline, optimized;
  std::optional<double> speedup;  ///< ratio of the time of all batches, from paired executions (docs/concepts.md)
  std::optional<std::array<double, 2>> speedup_ci95;
  // If three or more processes measured, every interval of a time also holds the spread between them.
  /// the run's own process is the first; empty: an older version, or nothing to repeat
  std::vector<MeasurementFigures> measurements;
  /// standard deviation between them of the logarithm of the speed-up, else of the latency
  std::optional<double> between_spread;
  std::optional<double> measured_again_seconds;  ///< seconds that fresh processes took
  std::string measured_once;  ///< why there is only one measurement; empty: there are several, or it is not known
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
  int64_t unloaded_weight_bytes = 0;  ///< weights that the plan had not needed by the end of the run (dead paths)
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
  /// The saving by routing itself: how much faster the baseline is than the dense plan, from paired executions.
  std::optional<double> routing_speedup;
  std::optional<std::array<double, 2>> routing_speedup_ci95;
  std::optional<SpeedupWithheld> routing_withheld;  ///< why it is not stated
  std::optional<ExitCurve> exits;         ///< nothing: the model has no exits; its values are empty without labels
  std::optional<ExitTarget> exit_target;  ///< --target-quality, --target-latency
  /// Nothing: no routers, decoding, or a plan that does not decide all of them.
  std::optional<ItemCostFigures> item_costs;
  /// beside an earlier run over the same data; nothing: the run was not compared with another
  std::optional<AnswersChanged> changed;
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

/// The rule by which tokens were drawn (docs/method/sampling.md).
struct SamplingFigures {
  uint64_t seed = 0;
  double temperature = 1, top_p = 1;
  int64_t top_k = 0;  ///< 0: all tokens
};

struct GenerateFigures {
  std::string version;  ///< version of the program that wrote it; empty: this one
  ModelFigures model;
  DatasetFigures dataset;
  DeviceFigures device;
  int64_t batches = 0, sequences = 0, tokens = 0;
  double tokens_per_s = 0;
  Latency latency_ms;
  /// Times of a batch until its first token, and from each token to the next. Nothing: the device gives no token before
  /// the batch has ended
  std::optional<Latency> first_token_ms, token_ms;
  std::optional<SamplingFigures> sampling;  ///< nothing: the token of the largest logit
  int64_t stopped_eos = 0, stopped_length = 0, stopped_text = 0;
  std::optional<double> accuracy;  ///< exact match, with targets
  std::vector<RouterFigures> routing;
  std::vector<std::vector<int32_t>> ids;  ///< by sequence, without padding
  std::vector<std::string> texts;         ///< empty if there is no tokenizer
  std::string chat;                       ///< the form in which messages were written: "ChatML"; empty: none
  std::vector<std::string> prompts;       ///< as the model read them; empty where the data are token ids
  std::string settings;                   ///< the exact settings as JSON text
  std::string session;                    ///< file, empty: none written
  int64_t session_run = 0;
  std::vector<std::string> warnings;
  std::optional<DecodedVerification> verified;
  std::optional<StateFigures> states;          ///< nothing: the plan keeps none in pages
  std::optional<BudgetFigures> weight_budget;  ///< nothing: there was no budget
  std::optional<WeightsRead> weights_read;     ///< the same
};

/// JSON texts of the contracts: "stormcell.optimize/1", "stormcell.run/1", "stormcell.profile/1",
/// "stormcell.generate/1", "stormcell.inspect/1".
std::string to_json(const RunSummaryFigures& figures);
std::string to_json(const GenerateFigures& figures);
std::string to_json(const ModelStructure& structure);

}  // namespace stormcell
