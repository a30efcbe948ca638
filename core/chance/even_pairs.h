// Pairs of branches beside chance, in closed form.
//
// Two questions are apart. Which share of the cells the likeliest next branch has, and how far above chance the
// strongest pair is, are compared with an even next router. Whether a pair is beyond chance is judged beside the loads
// of both branches, so that uneven loads alone call no pair. Pairs that come more often and pairs that come more rarely
// are two questions.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/chance/chance_figure.h"
#include "core/profile/loads.h"

namespace stormcell {

/// A pair that chance does not explain.
struct PairBeyondChance {
  int32_t from = 0, to = 0;
  int64_t cells = 0;
  double p_value = 1;  ///< of this pair alone
};

struct PairsBesideChance {
  int64_t tested = 0;                    ///< pairs that could have been called
  std::vector<PairBeyondChance> beyond;  ///< more often than chance has it; smallest p-value first
  std::vector<PairBeyondChance> rarer;   ///< more rarely, down to no cell at all; smallest p-value first
  double p_value = 1;                    ///< the smallest of those that are more often, times their number, at most 1
  bool is_beyond(int32_t from, int32_t to) const;
};

/// A pair is called if its p-value times the number of pairs times `verdicts` is at most kFalseCalls, on each side.
PairsBesideChance transitions_beside_chance(const PairTable& transitions, int32_t next_k, int64_t verdicts);
PairsBesideChance coactivation_beside_chance(const PairTable& together, int32_t k, int64_t verdicts);

enum class PairSide : uint8_t { within, more_often, more_rarely };
/// The verdicts of transitions_beside_chance() on single pairs, for a view that shows few of many.
class TransitionJudge {
 public:
  TransitionJudge(const PairTable& transitions, int32_t next_k, int64_t verdicts);
  PairSide side(const PairCount& pair) const;

 private:
  std::vector<int64_t> from_, to_;  ///< pairs of each branch
  double pairs_ = 0, calls_ = 1;    ///< calls_: pairs tested, times verdicts
  int32_t next_k_ = 1;
};

/// TransitionFigures::likeliest beside an even next router of `next_branches` branches, which gives each cell `next_k`
/// of them whatever it got before. Empty if there is no such figure.
std::optional<ChanceFigure> likeliest_beside_chance(const PairTable& transitions, std::span<const int64_t> came,
                                                    std::optional<double> likeliest, int32_t next_k);

/// The largest lift of two branches that an even router gives by chance. Empty if no two branches can be together.
std::optional<ChanceRange> largest_lift_by_chance(int64_t pairs, int32_t branches, int32_t k);

}  // namespace stormcell
