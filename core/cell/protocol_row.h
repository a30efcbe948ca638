// Rows that declare the protocols: function and properties, one row each in protocol_row.cpp. Only kernels of a device
// that decides some protocols itself know them by name.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

#include "core/cell/protocol.h"

namespace stormcell {

/// The input that decides where a cell goes.
enum class DecidedBy : uint8_t {
  scores,
  branch_label,  ///< one integer a cell, which must name a branch
  any_label,     ///< one integer a cell, whatever it is
};
/// The largest number of branches of a cell.
enum class FanOut : uint8_t { one, two, k, all };
/// Weight of a chosen branch.
enum class Weighting : uint8_t {
  one,       ///< 1, whatever the scores
  score,     ///< its score
  sigmoid,   ///< of its score
  softmax,   ///< of all scores
  selected,  ///< as Protocol::softmax says
};
/// Cells that get a branch's places if they are limited; the others are dropped.
enum class Places : uint8_t {
  unlimited,
  in_order,       ///< `capacity` places a parent, the first cells
  by_confidence,  ///< a share of the batch, the most confident cells
};
/// Quantities whose distance is the margin: the least change that gives another choice.
enum class MarginOf : uint8_t {
  none,          ///< no score decides
  scores,        ///< the score of one branch and that of another
  groups,        ///< corrected sigmoids of two branches, or of two groups
  each_score,    ///< the score of each branch for itself and the threshold
  sum,           ///< the sum of the scores and the threshold
  largest_share  ///< the largest softmax and the threshold
};
/// The number of scores in a margin's distance, each with its own error. A threshold has none.
constexpr int scores_apart(MarginOf margin) { return margin == MarginOf::scores || margin == MarginOf::groups ? 2 : 1; }

struct ProtocolRow {
  ProtocolKind kind;
  std::string_view name;
  void (*choose)(const ScoreView&, const Protocol&, DecisionView&);
  DecidedBy decided_by = DecidedBy::scores;
  FanOut fan_out = FanOut::one;
  Weighting weighting = Weighting::one;
  Places places = Places::unlimited;
  MarginOf margin = MarginOf::none;
  /// Fixed number of branches; 0: it is the number of scores or the attribute `branches`.
  int32_t branches = 0;
  /// Parameters that it takes besides kCommonParameters, and optional inputs: words with blanks between.
  std::string_view takes = {};

  bool by_label() const { return decided_by != DecidedBy::scores; }
};

/// Parameters that every protocol takes.
inline constexpr std::string_view kCommonParameters =
    "renormalize scale supported_capacities capacity_padding path_wise_padding";

/// All protocols, in the order of ProtocolKind.
std::span<const ProtocolRow> protocols();
const ProtocolRow& protocol_row(ProtocolKind kind);
/// The protocol reads a parameter or optional input of this name.
bool takes(const ProtocolRow& row, std::string_view parameter);

/// The protocol's name: "top-k".
std::string_view to_text(ProtocolKind kind);
/// Throws Error(bad_input) that lists the known names.
ProtocolKind parse_protocol(std::string_view text, std::string_view where);

/// The most branches that one cell may get.
int32_t fan_out_of(const Protocol& protocol, int32_t branches);
/// True when a cell's fate depends on other cells of its parent (capacity) or of the batch (priority).
bool mixes_parent(const Protocol& protocol);
bool mixes_batch(const Protocol& protocol);
/// The softmax that makes the weights: the protocol's own, or the one that Protocol::softmax names where it may.
SoftmaxPlace softmax_of_weights(const Protocol& protocol);

}  // namespace stormcell
