#include "core/session/blob_codec.h"

namespace stormcell::blob {
namespace {

enum DecisionPart : uint8_t {
  kWeights = 1,
  kPadded = 2,
  kAncestors = 4,
  kScores = 8,
  kMargins = 16,
  kResidency = 32,
  kBytesRead = 64,
  kColumns = 128
};

}  // namespace

void put_decision(const DecisionRecord& d, int32_t branches, int32_t fan_out, Bytes& out) {
  const size_t choices = d.choice.size();
  // Codes: branch, branches + branch where dropped, all ones for none.
  std::vector<uint32_t> offsets(int64_t{branches} + 1);
  uint32_t most = 0;
  for (const int32_t c : d.choice) {
    if (is_kept(c)) {
      ++offsets[c + 1];
      most = std::max(most, static_cast<uint32_t>(c));
    } else if (is_dropped(c)) {
      most = std::max(most, static_cast<uint32_t>(branches + branch_of(c)));
    }
  }
  for (size_t b = 1; b < offsets.size(); ++b) offsets[b] += offsets[b - 1];
  const int choice_width = width_of(uint64_t{most} + 1), offset_width = width_of(offsets.back());
  const bool same_padded =
      d.padded.empty() || std::equal(d.padded.begin(), d.padded.end(), offsets.begin(),
                                     [next = offsets.begin()](int32_t padded, uint32_t begin) mutable {
                                       return *++next - begin == static_cast<uint32_t>(padded);
                                     });
  const bool columns = !d.scores.empty() && d.score_columns > 0 && d.score_columns != branches;
  const uint8_t parts = static_cast<uint8_t>(
      (columns ? kColumns : 0) | (d.weight.empty() ? 0 : kWeights) | (same_padded ? 0 : kPadded) |
      (d.ancestor.empty() ? 0 : kAncestors) | (d.scores.empty() ? 0 : kScores) | (d.margin.empty() ? 0 : kMargins) |
      (d.residency.empty() ? 0 : kResidency) | (d.bytes_read.empty() ? 0 : kBytesRead));
  Writer w(out);
  w.byte(kVersion);
  w.byte(parts);
  w.byte(static_cast<uint8_t>(choice_width));
  w.byte(static_cast<uint8_t>(offset_width));
  w.u32(static_cast<uint32_t>(choices / static_cast<size_t>(fan_out)));
  w.u32(static_cast<uint32_t>(branches));
  w.u32(static_cast<uint32_t>(fan_out));
  w.integers(offsets.size(), offset_width, [&](size_t i) { return offsets[i]; });
  w.align4();
  w.integers(choices, choice_width, [&](size_t i) {
    const int32_t c = d.choice[i];
    return is_kept(c)      ? static_cast<uint32_t>(c)
           : is_dropped(c) ? static_cast<uint32_t>(branches + branch_of(c))
                           : ~uint32_t{0};
  });
  w.align4();
  w.array(d.weight);
  if (!same_padded) w.array(d.padded);
  w.array(d.ancestor);
  if (columns) w.u32(static_cast<uint32_t>(d.score_columns));
  w.array(d.scores);
  w.array(d.margin);
  w.array(d.residency);
  if (d.bytes_read.empty()) return;
  uint64_t most_read = 0;
  for (const int64_t v : d.bytes_read) most_read = std::max(most_read, static_cast<uint64_t>(v));
  w.byte(static_cast<uint8_t>(width_of(most_read)));
  w.integers(choices, width_of(most_read), [&](size_t i) { return static_cast<uint64_t>(d.bytes_read[i]); });
}

StoredDecision read_decision(std::span<const uint8_t> data, std::string_view where) {
  Reader r(data, where);
  r.version();
  const uint8_t parts = r.byte(), choice_width = r.byte(), offset_width = r.byte();
  StoredDecision d;
  const auto cells = r.value<uint32_t>(), branches = r.value<uint32_t>(), fan_out = r.value<uint32_t>();
  if (branches == 0 || branches > (1u << 24) || fan_out == 0 || fan_out > (1u << 16) || cells > uint32_t{INT32_MAX})
    r.damaged();
  d.cells = cells;
  d.branches = static_cast<int32_t>(branches);
  d.fan_out = static_cast<int32_t>(fan_out);
  const uint64_t choices = static_cast<uint64_t>(cells) * fan_out;
  d.offsets = r.integers<int32_t>(branches + uint64_t{1}, offset_width);
  r.align4();
  if (choice_width == 8) r.damaged();
  d.choice = r.integers<int32_t>(choices, choice_width);
  const uint32_t none = (uint64_t{1} << (8 * choice_width)) - 1;
  std::vector<int32_t> loads(branches);
  for (int32_t& c : d.choice) {
    const uint32_t code = c;
    if (code == none) {
      c = kNoBranch;
    } else if (code < branches) {
      ++loads[code];
    } else if (code < 2 * branches) {
      c = dropped_from(static_cast<int32_t>(code - branches));
    } else {
      r.damaged();
    }
  }
  for (size_t b = 0; b < branches; ++b)
    if (d.offsets[0] != 0 || int64_t{d.offsets[b + 1]} - d.offsets[b] != loads[b]) r.damaged();
  r.align4();
  if (parts & kWeights) d.weight = r.array<float>(choices);
  d.padded = parts & kPadded ? r.array<int32_t>(branches) : std::move(loads);
  if (parts & kAncestors) d.ancestor = r.array<int32_t>(cells);
  for (const int32_t row : d.ancestor)
    if (row < 0 || row >= kMostCells) r.damaged();
  d.score_columns = d.branches;
  if (parts & kColumns) {
    const auto columns = r.value<uint32_t>();
    if (columns == 0 || columns > (1u << 24)) r.damaged();
    d.score_columns = static_cast<int32_t>(columns);
  }
  if (parts & kScores) d.scores = r.array<float>(static_cast<uint64_t>(cells) * static_cast<uint64_t>(d.score_columns));
  if (parts & kMargins) d.margin = r.array<float>(cells);
  if (parts & kResidency) d.residency = r.array<uint8_t>(choices);
  if (parts & kBytesRead) {
    const uint8_t width = r.byte();
    d.bytes_read = r.integers<int64_t>(choices, width);
  }
  r.end();
  return d;
}

}  // namespace stormcell::blob
