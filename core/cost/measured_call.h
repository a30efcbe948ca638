// One measured call with its shape: an all-to-all of tokens, the products of a rank's experts, or one product over its
// rows.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"

namespace stormcell {

/// Weight matrices of an expert whose products were measured together: it is gated.
inline constexpr double kGatedMatrices = 3;

/// The operations that this version knows. A file may name others: their calls are compared with each other alone.
enum class CallKind : uint8_t {
  dispatch,  ///< over a network or fabric, as the next three
  combine,
  alltoall,
  all_reduce,
  experts,  ///< products of one rank
  product,  ///< of so many rows with one weight, or with each of several at a time
  grouped,  ///< the same of several weights, each with rows of its own
};
inline constexpr std::string_view kCallKinds[] = {"dispatch", "combine", "alltoall", "all_reduce",
                                                  "experts",  "product", "grouped"};
inline std::string_view to_text(CallKind kind) { return row_of(kCallKinds, kind); }

/// Numbers that do not apply are 0, texts empty.
struct MeasuredCall {
  std::string id;
  std::string op;    ///< a word of kCallKinds, or another operation
  std::string mode;  ///< the way that it works: "low-latency", "one-sided", "decode"
  std::string dtype, gpu, laboratory;
  int64_t nodes = 0, ranks = 0, gpus_per_node = 0;
  double nic_gbit = 0;          ///< of one rank's network card; 0: all ranks on one fabric
  int64_t tokens_per_rank = 0;  ///< of calls over a network or fabric
  int64_t tokens_total = 0;     ///< of the group
  int64_t top_k = 0, experts = 0, hidden = 0, ffn = 0;
  int64_t inputs = 0, outputs = 0;  ///< of products: the shape of a weight
  int64_t rows = 0;                 ///< for one product of each of the `experts` weights; for grouped ones in all
  std::string rows_each;            ///< of grouped products, as alike_rows() reads it
  double bytes_per_copy = 0;        ///< of one (token, expert) message
  std::string routing, source;
  double us = 0;

  bool is(CallKind kind) const { return op == to_text(kind); }
  /// The products of a rank's experts together.
  bool is_rank_experts() const { return is(CallKind::experts); }
  /// A point of a curve over rows.
  bool is_product() const { return is(CallKind::product); }
  /// Products with several weights in one call, whose rows differ.
  bool is_grouped() const { return is(CallKind::grouped); }
  bool has_weights() const { return is_product() || is_grouped(); }
  /// Some of it goes over the network.
  bool leaves_node() const { return !is_rank_experts() && !has_weights() && nodes > 1; }
};

/// Weights of a call that get equally many rows.
struct AlikeRows {
  int64_t weights = 0, rows = 0;
};
/// Parses "120 15x3 0": a weight with 120 rows, 15 with 3 each, one without; most rows first, each number once. Null:
/// another form, or too many weights.
std::optional<std::vector<AlikeRows>> alike_rows(std::string_view rows_each);
std::string to_text(const std::vector<AlikeRows>& rows);

/// Bytes that a rank sends, to whatever place: one copy for each choice.
double sent_bytes(const MeasuredCall& call);
/// Bytes that the time grows with. Calls that leave the node: bytes over the network card, sent * (1 - 1 / nodes).
/// Calls within a fabric: bytes that a rank sends. All-reduce: bytes over each link of a ring, sent * 2 (1 - 1 /
/// ranks). Products of a rank's experts: their weights in 8 bits, for the expected number of chosen experts under even
/// routing. Products over rows: their rows, which are no bytes.
double moved_bytes(const MeasuredCall& call);

/// True if one may interpolate between them: the same kind of call on the same hardware of one laboratory, of any
/// shape. Products over rows also need weights of one shape, and equally many (grouped ones any number).
bool same_series(const MeasuredCall& a, const MeasuredCall& b);
/// True if both are the same kind of call on the same kind of network, from any laboratory and GPU.
bool same_network(const MeasuredCall& a, const MeasuredCall& b);
/// Products with weights of one shape and format, however many, that work in one way.
bool same_weight(const MeasuredCall& a, const MeasuredCall& b);
/// The same shape.
bool same_shape(const MeasuredCall& a, const MeasuredCall& b);
/// Distance between two shapes: |log2| of the ratios of ranks and of bytes a rank sends (products: of moved bytes, or
/// of rows).
double shape_distance(const MeasuredCall& a, const MeasuredCall& b);

}  // namespace stormcell
