// One call that somebody measured, with its shape: an all-to-all of tokens, the products of a rank's experts, or one product over its rows.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

/// Of an expert whose products were measured together: it is gated.
inline constexpr double kGatedMatrices = 3;

/// Numbers that do not apply are 0, texts empty.
struct MeasuredCall {
  std::string id;
  std::string op;    ///< "dispatch", "combine", "alltoall", "all_reduce": over a network or fabric; "experts": products of one rank;
                     ///< "product": of so many rows with one weight, or with each of several at a time
  std::string mode;  ///< the way that it works: "low-latency", "one-sided", "decode"
  std::string dtype, gpu, laboratory;
  int64_t nodes = 0, ranks = 0, gpus_per_node = 0;
  double nic_gbit = 0;          ///< of one rank's network card; 0: all ranks on one fabric
  int64_t tokens_per_rank = 0;  ///< of calls over a network or fabric
  int64_t tokens_total = 0;     ///< of the group
  int64_t top_k = 0, experts = 0, hidden = 0, ffn = 0;
  int64_t inputs = 0, outputs = 0, rows = 0;  ///< of one product: its weight's shape, and rows for each of the `experts` weights
  double bytes_per_copy = 0;                  ///< of one (token, expert) message
  std::string routing, source;
  double us = 0;

  /// The products of a rank's experts together.
  bool is_rank_experts() const { return op == "experts"; }
  /// A point of a curve over rows.
  bool is_product() const { return op == "product"; }
  /// Some of it goes over the network.
  bool leaves_node() const { return !is_rank_experts() && !is_product() && nodes > 1; }
};

/// What a rank sends, bytes, wherever it goes: a copy for each choice.
double sent_bytes(const MeasuredCall& call);
/// What its time grows with, bytes: of calls that leave the node what goes over the network card, sent * (1 - 1 / nodes); of calls within a
/// fabric what a rank sends; of an all-reduce what each link of a ring carries, sent * 2 (1 - 1 / ranks); of products, in weights of 8
/// bits, the experts of a rank that some token chose, expected under even routing. Of one product its rows, which are no bytes.
double moved_bytes(const MeasuredCall& call);

/// The same kind of call on the same hardware of one laboratory, of whatever shape: between these one may interpolate. Products over rows
/// are of one series where their weights are of one shape, and as many.
bool same_series(const MeasuredCall& a, const MeasuredCall& b);
/// The same kind of call on the same kind of network, whoever measured it on whichever GPU.
bool same_network(const MeasuredCall& a, const MeasuredCall& b);
/// The same shape.
bool same_shape(const MeasuredCall& a, const MeasuredCall& b);
/// How unlike two shapes are: |log2| of ranks and of bytes a rank sends (products: of moved bytes, or of rows).
double shape_distance(const MeasuredCall& a, const MeasuredCall& b);

}  // namespace stormcell
