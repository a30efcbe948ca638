// One decision as recorders, traces, sessions and importers hand it on: spans over memory of their own.
#pragma once
#include <cstdint>
#include <span>

namespace stormcell {

/// The place of a chosen branch's weights when the choice was made, as a system that offloads experts recorded it.
enum class Residency : uint8_t { miss = 0, hit = 1, prefetch_hit = 2 };

/// One router's decision on one batch; choices as in DecisionView.
struct DecisionRecord {
  int32_t router = 0;
  std::span<const int32_t> choice;  ///< [n, fan_out]
  std::span<const float> weight;    ///< [n, fan_out]; empty: not recorded
  std::span<const int32_t> padded;  ///< [branches] loads by the rule of supported capacities; empty: equal to the loads
  std::span<const int32_t> ancestor;   ///< [n] row in the batch's table of the space; empty: cell i is row i
  std::span<const float> scores;       ///< [n, score_columns]; empty: not recorded
  std::span<const float> margin;       ///< [n]; empty: not recorded
  std::span<const uint8_t> residency;  ///< [n, fan_out] Residency; empty: not recorded
  /// [n, fan_out] weights read for the choice; empty: branch_bytes where it was a miss, else none
  std::span<const int64_t> bytes_read;
  int32_t score_columns = 0;  ///< numbers that the router got for a cell; 0: a score for each branch
};

}  // namespace stormcell
