// How much faster one plan is than another, from executions that stood next to each other in time.
//
// Definition. The baseline runs directly before and directly after every execution of a plan, on the same batch. Each neighbour gives a
// paired log ratio log(baseline / plan). The speed-up is exp of their weighted median; a pair weighs its batch's share of the baseline's
// time. The 95 % interval is a percentile bootstrap over rounds, widened for few rounds.
//
// No pair is left out or weighed by how it looks. What disturbs one side of a pair disturbs the other as often, and the median bears it;
// choosing pairs whose two executions of the baseline agree keeps those in which only the plan was disturbed (docs/decisions/011).
#pragma once
#include <array>
#include <cstdint>
#include <vector>

namespace stormcell {

/// Two executions on one batch, next to each other.
struct PairedSample {
  double log_ratio = 0;  ///< log(milliseconds of the first plan / milliseconds of the second)
  double weight = 1;     ///< the batch's time on the baseline
  int32_t round = 0;     ///< from 0 on; what the bootstrap draws
};

struct Ratio {
  double value = 1;
  std::array<double, 2> ci95{1, 1};  ///< equal to the value where there are fewer than two rounds
  bool below_one() const { return ci95[1] < 1; }
};
/// Weighted median and its interval (2,000 draws, fixed seed: the same samples give the same interval). 1 [1, 1] without samples.
Ratio paired_ratio(const std::vector<PairedSample>& samples);

/// The part of bootstrap draws to leave out at each end for a 95 % interval over `rounds`: a percentile interval of few rounds is too
/// narrow by the factor that Student's t corrects for means (Hesterberg, "What teachers should know about the bootstrap", 2015,
/// section 5.3).
double tail_of_interval(int64_t rounds);

}  // namespace stormcell
