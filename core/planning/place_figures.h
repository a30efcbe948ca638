// Figures of a search for a placement: its layouts beside each other, their differences, and the advice.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"
#include "core/base/step_terms.h"
#include "core/cell/cell_space.h"
#include "core/cost/layer_cost.h"
#include "core/planning/place_options.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// Figures of a layout on some of the steps. Null: the data or this version does not tell.
struct LayoutFigures {
  double imbalance = 0;                   ///< mean over layers of max / mean - 1 over ranks
  std::optional<double> cross_pairs;      ///< share of the pairs of a token's consecutive experts that lie on two ranks
  std::optional<double> ranks_per_token;  ///< distinct GPUs that a token goes to at a layer, as a mean
  /// what steps cost; null: sizes are not known, or the data is one sum of many steps
  std::optional<StepFigures> step;
  std::optional<double> objective_ms;  ///< cost of a step, the move of the experts included
  std::optional<StepTrust> trust;      ///< in the mean step, without the move; null: no calibration
};

/// The data by which one of several candidates was chosen.
enum class ChosenOn : uint8_t {
  validation,  ///< a part that candidates were not fitted to
  fitted,      ///< the data that they were fitted to: too little to be parted
};
inline constexpr std::string_view kChosenOn[] = {"the validation part", "what it is fitted to"};
inline std::string_view to_text(ChosenOn chosen_on) { return row_of(kChosenOn, chosen_on); }

struct LayoutLine {
  LayoutRole role = LayoutRole::result;
  std::string name;  ///< its role's; of a tried one how it came about
  LayoutFigures fit;
  std::optional<LayoutFigures> held_out;
  /// the number of the placement among those that the search tried; null: of another role
  std::optional<size_t> tried = {};
};

/// One minus the other on what was held out, and its 95 % interval over parts of that, drawn with replacement.
struct PairedDifference {
  double value = 0, low = 0, high = 0;
  bool may_be_chance() const { return low <= 0 && high >= 0; }
};

/// Differences of two layouts on the same parts, all drawn alike. Null: not known. The cost of steps is also null if
/// they are drawn or filled up, or if a step lies in several parts.
struct PairedFigures {
  LayoutRole one = LayoutRole::result, other = LayoutRole::eplb;
  std::optional<PairedDifference> imbalance, cross_pairs, ranks_per_token, objective_ms;
};

/// Memory that spare slots take from a GPU.
struct SparePrice {
  double gpu_bytes = 0;             ///< on each GPU, all layers together
  double memory_share = 0;          ///< share of the GPU's memory
  std::optional<double> kv_tokens;  ///< tokens whose keys and values would fit in it; null: the model's attention is
                                    ///< not known
};

struct PlaceFigures {
  std::string session, model, cluster;
  int64_t run = 0, placement = 0;  ///< numbers in the session
  bool already_stored = false;     ///< an earlier call to the same effect stored that placement
  int32_t layers = 0, branches = 0, nodes = 0, ranks = 0, slot_count = 0;
  std::string solver;
  std::optional<Phase> phase;  ///< only steps of this phase; none: all steps
  double fit_fraction = 0, seconds = 0;
  SplitUnit unit = SplitUnit::steps;          ///< the unit that was split
  int64_t fit_units = 0, held_out_units = 0;  ///< so many of it
  int64_t dropped_choices = 0;                ///< dropped by a capacity while it was recorded: they are in no figure
  std::optional<ModelSizes> sizes;
  std::optional<ReplicaRule> replicas;            ///< none: even, and steps are not costed
  std::optional<Residence> residence;             ///< none where steps are not costed
  std::optional<Backend> backend;                 ///< likewise
  StepSource step_kind = StepSource::recorded;    ///< kind of the costed steps
  StepStatistic statistic = StepStatistic::mean;  ///< the objective's statistic over the costed steps
  int64_t costed_fit = 0, costed_held_out = 0;    ///< steps
  int64_t tokens_per_step = 0;                    ///< tokens of drawn steps; 0: as recorded
  int64_t amortise = 0;                           ///< steps that share the move in the objective; 0: it is not in it
  std::optional<CalibrationUse> calibration;
  std::optional<HeldOutBy> held_out;  ///< none: nothing was
  int64_t requests = 0;               ///< 0: not known
  std::vector<LayoutLine> layouts;    ///< contiguous, eplb, result and, where there is one, from
  std::optional<PlacementAim> aim;    ///< none: the solver looks at loads alone
  std::string chosen;                 ///< how the result of joint came about; empty: as the solver says
  std::optional<ChosenOn> chosen_on;  ///< none: nothing was chosen
  /// less traffic for less balance, in the fitted figures: nothing else has less of both
  std::vector<LayoutLine> front;
  std::string paired_by;  ///< the unit that differences were drawn by; empty: too little for any
  int64_t paired_parts = 0;
  std::vector<PairedFigures> differences;  ///< from the result to each other layout
  std::optional<SparePrice> spare;         ///< null: no spare slots, or their bytes are not known
  std::optional<double> bound_ms;          ///< no placement costs less on what was fitted to; null: not known
  int64_t moved_slots = 0;                 ///< slots whose branch is not on its rank before, over all layers
  std::optional<int64_t> slot_bytes;       ///< weights of one slot in all layers; null: not known
  std::string advice;                      ///< "stay: ...", "eplb: ..." or "result: ..."
  std::vector<std::string> lacks, warnings;

  /// The layout of a role in `layouts`; null: there is none.
  const LayoutLine* find(LayoutRole role) const;
  /// Costs in `layouts`, of both parts of the data. Tables and advice compare them, so they are printed in one unit.
  std::vector<double> objectives_ms() const;
};

}  // namespace stormcell
