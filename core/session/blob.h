// The BLOBs of a session: compact little-endian layouts, documented in docs/session-format.md.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/profile/loads.h"
#include "core/profile/record.h"
#include "core/session/session_types.h"

namespace stormcell::blob {

using Bytes = std::vector<uint8_t>;

/// Limit of cells in one space of a batch: far above any real number, so that a few hostile bytes cannot ask for all
/// memory.
inline constexpr int64_t kMostCells = int64_t{1} << 26;
/// Limit of any stored count, so that a few of them can be added without overflow.
inline constexpr int64_t kMostCount = int64_t{1} << 50;

// Each put_ function replaces the content of `out` and keeps its memory. Each read_ function checks every length:
// Error(bad_input) naming `where`.
void put_decision(const DecisionRecord& decision, int32_t branches, int32_t fan_out, Bytes& out);
StoredDecision read_decision(std::span<const uint8_t> data, std::string_view where);

/// Batches and cells of a window are columns beside the BLOB.
void put_loads(const RouterLoads& loads, Bytes& out);
RouterLoads read_loads(std::span<const uint8_t> data, int32_t branches, std::string_view where);

void put_pairs(const PairTable& table, Bytes& out);
PairTable read_pairs(std::span<const uint8_t> data, std::string_view where);

void put_events(std::span<const StepEvent> events, Bytes& out);
std::vector<StepEvent> read_events(std::span<const uint8_t> data, std::string_view where);

/// Lengths of the sequences if all padding is at their ends, else a bit for each cell. Empty if all cells are real.
void put_mask(std::span<const uint8_t> mask, int64_t per_sequence, Bytes& out);
std::vector<uint8_t> read_mask(std::span<const uint8_t> data, int64_t cells, int64_t per_sequence,
                               std::string_view where);

/// One byte for the width of an element (1, 2, 4 or 8 bytes; unsigned except for 8), then the elements.
void put_numbers(std::span<const int64_t> values, Bytes& out);
void put_numbers(std::span<const int32_t> values, Bytes& out);
std::vector<int64_t> read_numbers(std::span<const uint8_t> data, std::string_view where);

}  // namespace stormcell::blob
