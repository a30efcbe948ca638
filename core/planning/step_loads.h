// Loads of a run's steps: what is fitted to, and what judges.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/cell/cell_space.h"
#include "core/placement/placement.h"
#include "core/profile/token_routes.h"
#include "core/readings/read_token_routes.h"
#include "core/session/session_reader.h"

namespace stormcell {

/// The steps that a placement is for: "prefill", "decode", nothing if the word is empty; Error(bad_input) that names
/// --phase otherwise.
std::optional<Phase> parse_phase(std::string_view word);

struct SplitLoads {
  LayerLoads fit, held_out;
  int64_t fit_units = 0, held_out_units = 0;  ///< steps; of single choices tokens
  /// single ones, at most kMostLoadSteps of each part, evenly chosen
  std::vector<LayerLoads> fit_steps, held_out_steps;
};
inline constexpr int64_t kMostLoadSteps = 256;

/// Tokens of a run in two parts, each in the order of time.
struct TokenParts {
  std::vector<size_t> fit, held_out;
  int64_t requests = 0;      ///< requests that have a token of these; 0: not known
  int64_t requests_fit = 0;  ///< set if whole requests were parted; 0: the tokens were, in their order
};
/// If there are so many requests, whole ones are held out: fewer say little of others.
inline constexpr int64_t kFewestRequests = 8;

/// The first share of these tokens, and the rest: of whole requests from `fewest_requests` on (at least 2; 0: requests
/// are not known), else of whole steps in their order. One step is not parted: all of it is the first share. In a trace
/// that lacks requests the routes' sequences are the import's own, and are not looked at.
TokenParts part_tokens(const TokenRoutes& routes, std::span<const size_t> tokens, double first_share,
                       int64_t fewest_requests);

/// Single choices, for what is counted on them. Empty of a run that keeps none, or whose routers decide about several
/// kinds of cells.
struct SplitRoutes {
  TokenRoutes routes;
  TokenParts parts;
  std::vector<int64_t> step_tokens;  ///< [steps] of the phase that is placed for, whichever part they are in
  int64_t dropped_choices = 0;       ///< choices of these tokens that a capacity dropped
};
std::optional<SplitRoutes> read_split_routes(const SessionReader& session, const RunSummary& run,
                                             const RunLayout& layout, std::optional<Phase> phase, double fit_fraction,
                                             const Progress& progress, ChoiceOrder order = ChoiceOrder::recorded);

/// The first `fit_fraction` of the steps (batches) to fit, the others to judge; one step: all of it to fit. `phase`: of
/// these batches alone, none: of all. Error(bad_input) where no step remains.
SplitLoads read_split_loads(const SessionReader& session, int64_t run, const RunLayout& layout,
                            std::optional<Phase> phase, double fit_fraction, const Progress& progress);

}  // namespace stormcell
