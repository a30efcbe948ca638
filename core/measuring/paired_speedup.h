// How much faster one plan is than another, from executions that stood next to each other in time.
//
// Definition. The speed-up is the time of all batches on the first plan over their time on the second: S = sum(w) /
// sum(w / r) over batches, w the batch's time on the first plan, r how much faster the second runs it. The first plan
// runs directly before and after every execution of the second, on the same batch, which is a visit; each neighbour
// gives a paired log ratio log(first / second).
//
// How S is estimated depends on what the visits tell (docs/decisions/011-measuring.md):
// - Batches that gain alike have one r: exp of the median of all log ratios, each weighed by its batch's time. Then S =
//   r.
// - Batches that gain unlike, each visited often: r of a batch is exp of the median of its log ratios, w its shortest
//   time.
// - Batches that gain unlike or of which that is not known, and few visits of each: the sums of the measured times.
//   They bear no disturbance, so their interval is wide beside a neighbour; a median would be a percentile of one kind
//   of batch.
// The test of Kruskal and Wallis decides whether batches gain alike: the ranks of a batch's visits among all are on
// average those of others. The 95 % interval is a percentile bootstrap over rounds, widened for few rounds.
//
// No pair is left out or weighed by how it looks. What disturbs one side of a pair disturbs the other as often, and the
// median bears it; choosing pairs whose two executions of the baseline agree keeps those in which only the plan was
// disturbed (docs/decisions/011).
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/summary/ratio_basis.h"
#include "core/summary/withheld.h"

namespace stormcell {

/// One execution of the second plan, with the neighbouring ones of the first on the same batch.
struct PairedVisit {
  int64_t batch = 0;
  int32_t round = 0;          ///< from 0 on; the bootstrap draws rounds
  double weight = 1;          ///< the batch's time on the baseline: what its log ratios weigh in a median of all
  std::vector<double> first;  ///< milliseconds; at least one
  double second = 1;          ///< milliseconds
};

struct Ratio {
  double value = 1;
  std::array<double, 2> ci95{1, 1};  ///< equal to the value where there are fewer than two rounds
  RatioBasis basis = RatioBasis::all_pairs;
  int64_t pairs = 0, batches = 0;  ///< executions of the second plan beside the first; the different batches among them
  bool below_one() const { return ci95[1] < 1; }
  bool above_one() const { return ci95[0] > 1; }
};
/// S and its interval (2,000 draws, fixed seed: the same visits give the same interval). 1 [1, 1] without visits.
Ratio paired_ratio(const std::vector<PairedVisit>& visits);
/// The reason why a ratio rests on too little to be stated; `held_out` batches could have been measured.
std::optional<SpeedupWithheld> too_few(const Ratio& ratio, int64_t held_out);

/// Whether all batches gain alike: `unknown` if even visits that agree in everything could not show it.
enum class BatchGains : uint8_t { alike, unlike, unknown };
BatchGains batch_gains(const std::vector<PairedVisit>& visits);

/// The part of bootstrap draws to leave out at each end for a 95 % interval over `rounds`: a percentile interval of few
/// rounds is too narrow by the factor that Student's t corrects for means (Hesterberg, "What teachers should know about
/// the bootstrap", 2015, section 5.3).
double tail_of_interval(int64_t rounds);

}  // namespace stormcell
