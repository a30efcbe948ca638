// The same tokens in two recordings: where their choices differ, and why.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/difference/named_cells.h"

namespace stormcell {

struct DiffOptions {
  std::string a, b;          ///< sessions (S.storm, S.storm#3, S.storm#name) or traces
  int32_t samples_each = 0;  ///< most cells in `samples` of each router and group of positions
};

/// Cells of one group of positions.
struct DiffGroup {
  int64_t cells = 0, differing = 0;
  std::optional<std::array<double, 2>> share_ci95;  ///< null: no cells
};
struct DiffBranch {
  int32_t branch = 0;
  int64_t gained = 0, lost = 0;  ///< cells that have it in b alone, in a alone
};
struct DiffLayer {
  std::string router, router_b;
  int32_t layer = -1;                                ///< -1: not known
  int64_t cells = 0, differing = 0, first_here = 0;  ///< as LayerCounts
  int64_t reordered = 0, met_once = 0;
  std::optional<double> share, agreement;  ///< null: no cells
  std::optional<std::array<double, 2>> share_ci95;
  std::optional<int64_t> near_ties;            ///< of first_here; null: no margins
  std::optional<double> margin, margin_first;  ///< medians: of all cells, of those that first differ here
  std::vector<DiffBranch> branches;            ///< up to eight, those that gain or lose most
  std::vector<DiffGroup> positions;
};
struct DiffMargins {
  std::vector<double> edges;        ///< lower ends of bins
  std::vector<int64_t> all, first;  ///< cells of routers, and those that first differ there
};
struct DiffWeights {
  int64_t compared = 0;
  double mean_sum_a = 0, mean_sum_b = 0, median_difference = 0, median_unexplained = 0;
};
struct DiffCauseFigures {
  std::string cause, evidence, next;
  double explained = 0;
};
struct DiffVerdict {
  std::string cause;                 ///< of kDiffCauses; empty: cannot be told
  std::optional<double> confidence;  ///< the part of the disagreement that the cause explains; null: cannot be told
  std::string evidence, next;
  std::vector<DiffCauseFigures> also;       ///< further causes that the recordings show
  std::vector<std::string> cannot_be_told;  ///< causes that the recordings lack data for
  std::string record;                       ///< what would tell them; empty: nothing is missing
};

struct DifferenceFigures {
  std::string a, b;
  int64_t matched_requests = 0, matched_cells = 0, differing_cells = 0;
  bool by_tokens = false;
  int64_t renumbered = 0, exchanged = 0, shifted = 0, requests_only_a = 0, requests_only_b = 0;
  int64_t cells_only_a = 0, cells_only_b = 0, cells_of_padding = 0;
  int64_t differing = 0, compared = 0;  ///< cells of routers
  std::vector<DiffLayer> layers;
  int32_t position_width = 1;  ///< of a group of positions
  int64_t sequences_differing = 0;
  std::vector<DiffSequence> sequences;  ///< the first of them
  std::optional<int64_t> near_ties;     ///< of origins; null: no margins
  int64_t consequences = 0, origins = 0;
  std::optional<DiffMargins> margins;
  std::string record_margins;          ///< how margins are recorded; empty: they are
  std::optional<DiffWeights> weights;  ///< null: one side lacks them
  int64_t sampled_cells = 0;           ///< that the causes are judged by
  std::vector<DiffSample> samples;     ///< ascending by layer, group, request and position
  DiffVerdict verdict;
  std::vector<std::string> warnings;
};

/// Sequences that are listed.
inline constexpr size_t kMostDiffSequences = 10'000;

/// Reads both recordings; keeps a byte or two for each choice of a, and a sample of b. Throws Error(bad_input) if the
/// recordings share no request or no token, hold other tokens, have no single choices, or are of unlike models.
DifferenceFigures diff_recordings(const DiffOptions& options, const Progress& progress = {});
/// stormcell.diff/1
std::string to_json(const DifferenceFigures& figures);

}  // namespace stormcell
