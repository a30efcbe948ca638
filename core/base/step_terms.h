// Terms of steps on a cluster: how tokens travel, which steps are costed, how data are split to fit and to judge, and
// which layouts are compared. Sessions and JSON keep their words.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/enum_words.h"

namespace stormcell {

/// The replicas of an expert that a token may go to.
enum class ReplicaRule : uint8_t {
  even,     ///< to all alike
  nearest,  ///< to one on its own rank, else to those of its node alike, else to all alike
};
inline constexpr std::string_view kReplicaRules[] = {"even", "nearest"};
inline std::string_view to_text(ReplicaRule rule) { return row_of(kReplicaRules, rule); }

/// The place at which a token lives while it goes through the layers.
enum class Residence : uint8_t {
  home,    ///< on one rank
  follow,  ///< from layer to layer where its heaviest branch lies: the next layer's dispatch begins there. An
           ///< experiment: all that attention needs of it would have to be there
};
inline constexpr std::string_view kResidences[] = {"home", "follow"};
inline std::string_view to_text(Residence residence) { return row_of(kResidences, residence); }

/// The overlap of exchanges with the work of experts.
enum class Overlap : uint8_t {
  none,
  two_batch,  ///< micro-batches of every other token of a step take turns: one computes while the other's messages
              ///< travel
};
inline constexpr std::string_view kOverlaps[] = {"none", "two-batch"};
inline std::string_view to_text(Overlap overlap) { return row_of(kOverlaps, overlap); }

/// The source of the tokens of costed steps.
enum class StepSource : uint8_t {
  recorded,
  filled_up,  ///< some of the recorded steps get tokens of others
  drawn,      ///< each step is drawn from the recorded tokens
};
inline constexpr std::string_view kStepSources[] = {"recorded", "filled up", "drawn"};
inline std::string_view to_text(StepSource source) { return row_of(kStepSources, source); }

/// The figure of the costed steps that an objective is.
enum class StepStatistic : uint8_t {
  mean,
  p95,  ///< the 95th percentile
};
inline constexpr std::string_view kStepStatistics[] = {"mean", "p95"};
inline std::string_view to_text(StepStatistic statistic) { return row_of(kStepStatistics, statistic); }

/// The unit that is split into a part to fit and a part that judges.
enum class SplitUnit : uint8_t {
  steps,
  tokens,  ///< of a run that keeps single choices
};
inline constexpr std::string_view kSplitUnits[] = {"steps", "tokens"};
inline std::string_view to_text(SplitUnit unit) { return row_of(kSplitUnits, unit); }

/// The criterion that separates the held-out part.
enum class HeldOutBy : uint8_t {
  requests,  ///< whole requests
  time,      ///< later steps
};
inline constexpr std::string_view kHeldOutBy[] = {"requests", "time"};
inline std::string_view to_text(HeldOutBy by) { return row_of(kHeldOutBy, by); }

/// A layout that a search for a placement reports.
enum class LayoutRole : uint8_t {
  contiguous,  ///< servers begin with it
  eplb,        ///< servers make it by themselves
  result,
  from,   ///< the current one, if --from names it
  tried,  ///< a search found it beside the result
};
inline constexpr std::string_view kLayoutRoles[] = {"contiguous", "eplb", "result", "from", "tried"};
inline std::string_view to_text(LayoutRole role) { return row_of(kLayoutRoles, role); }

}  // namespace stormcell
