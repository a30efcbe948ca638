// Inputs and references of the checks.
#pragma once
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "core/cell/protocol.h"
#include "gpu/grouped/grouped.h"
#include "gpu/routing/rule.h"
#include "tests/gpu/device_check/card.h"

namespace stormcell::device_check {

enum class Load { uniform, zipf };
inline const char* to_text(Load load) { return load == Load::uniform ? "uniform" : "zipf"; }

/// Router scores whose top-k falls on branches alike, or by Zipf's law with exponent 1 on shuffled branches.
std::vector<float> make_scores(int64_t cells, int32_t branches, Load load, uint32_t seed);

/// A decision on the host, by core.
struct HostDecision {
  std::vector<std::byte> memory;
  DecisionView view;
};
HostDecision decide(const std::vector<float>& scores, int64_t cells, int32_t branches, const Protocol& protocol,
                    const ParentMap& parents = {}, const std::vector<float>& bias = {});
/// One of the host's memory whose parts nobody has filled.
HostDecision make_decision(const DecisionShape& shape);
/// A decision's memory on the card, laid out like the host's.
struct CardDecision {
  Memory memory;
  DecisionView view;
  CardDecision(int64_t cells, int32_t fan_out, int32_t branches);
};

/// How a decision of the card differs from the host's. The index must be core's of the card's own choices; what a cell
/// that chose alike has besides must be close.
struct DecisionDifference {
  int64_t flips = 0;      ///< cells that chose otherwise
  int64_t explained = 0;  ///< of these, so near a tie that rounding may have decided
  std::string other;      ///< the first thing else that differs
  bool holds(int64_t cells) const { return flips == explained && explained <= 1 + cells / 100 && other.empty(); }
  std::string note() const;
};
/// The card's exponential is not the host's to the last bit, so where a rule decides by sigmoids (`by_exponential`)
/// near ties may fall differently: such a cell is explained where its margin is within rounding.
DecisionDifference decision_difference(const DecisionView& want, const DecisionView& card, int64_t cells,
                                       bool by_exponential);

/// Numbers as the card has them.
std::vector<float> to_floats(const void* on_card, int64_t n, gpu::Format format);

/// Rows of one product in double: call's device pointers are read back. Checks `columns` columns of each slot (spread
/// over the row), or all where that is no more. Returns the largest difference over the largest number; NaN counts as
/// infinite.
struct Difference {
  double relative = 0;
  int64_t numbers = 0;
  int64_t unlike = 0;  ///< of these, other than the reference rounded to the format
};
Difference product_difference(const gpu::GroupedCall& call, int64_t slots, int64_t x_rows, int64_t y_rows, int columns);

/// Runs body(i) for i < n on all cores.
void on_all_cores(int64_t n, const std::function<void(int64_t)>& body);

/// The project's tolerance: docs/concepts.md.
inline double tolerance(gpu::Format format) { return format == gpu::Format::f32 ? 1e-4 : 2e-2; }

}  // namespace stormcell::device_check
