#include "core/session/blob.h"

#include "core/session/blob_codec.h"

namespace stormcell::blob {
namespace {

enum LoadPart : uint8_t { kPadding = 1, kDropped = 2, kGrid = 4, kMass = 8 };
enum MaskKind : uint8_t { kLengths = 0, kBits = 1 };

/// The bits that any of them has: none if all are 0, and as many bytes as the largest needs. It compares nothing, so
/// that the loop is vectorised.
uint64_t bits_of(const std::vector<int64_t>& counts) {
  uint64_t bits = 0;
  for (const int64_t count : counts) bits |= static_cast<uint64_t>(count);
  return bits;
}

template <class T>
void put_any_numbers(std::span<const T> values, Bytes& out) {
  uint64_t most = 0;
  for (const T v : values) most = std::max(most, static_cast<uint64_t>(static_cast<int64_t>(v)));  // negative: 8 bytes
  Writer w(out);
  w.byte(static_cast<uint8_t>(width_of(most)));
  w.integers(values.size(), width_of(most),
             [&](size_t i) { return static_cast<uint64_t>(static_cast<int64_t>(values[i])); });
}

}  // namespace

void put_loads(const RouterLoads& loads, Bytes& out) {
  const bool mass = std::any_of(loads.weight.begin(), loads.weight.end(), [](double x) { return x != 0; });
  const uint64_t dropped = bits_of(loads.dropped);
  const uint8_t parts = static_cast<uint8_t>((bits_of(loads.padding) ? kPadding : 0) | (dropped ? kDropped : 0) |
                                             (loads.padded != loads.load ? kGrid : 0) | (mass ? kMass : 0));
  const int width = width_of(bits_of(loads.load) | dropped | bits_of(loads.padded));
  Writer w(out);
  w.byte(kVersion);
  w.byte(parts);
  w.byte(static_cast<uint8_t>(width));
  w.byte(0);
  const auto put = [&](const std::vector<int64_t>& v) {
    w.integers(v.size(), width, [from = v.data()](size_t i) { return static_cast<uint64_t>(from[i]); });
  };
  put(loads.load);
  if (parts & kPadding) put(loads.padding);
  if (parts & kDropped) put(loads.dropped);
  if (parts & kGrid) put(loads.padded);
  w.align4();
  if (mass)
    for (const double v : loads.weight) w.u32(std::bit_cast<uint32_t>(static_cast<float>(v)));
}

RouterLoads read_loads(std::span<const uint8_t> data, int32_t branches, std::string_view where) {
  Reader r(data, where);
  r.version();
  const uint8_t parts = r.byte(), width = r.byte();
  r.byte();
  const uint64_t n = branches;
  RouterLoads loads(branches);
  loads.load = r.counts(n, width);
  if (parts & kPadding) loads.padding = r.counts(n, width);
  if (parts & kDropped) loads.dropped = r.counts(n, width);
  loads.padded = parts & kGrid ? r.counts(n, width) : loads.load;
  r.align4();
  if (parts & kMass) {
    const auto mass = r.array<float>(n);
    loads.weight.assign(mass.begin(), mass.end());
  }
  r.end();
  return loads;
}

void put_pairs(const PairTable& table, Bytes& out) {
  Writer w(out);
  w.byte(kVersion);
  w.varint(static_cast<uint64_t>(table.rows));
  w.varint(static_cast<uint64_t>(table.columns));
  w.varint(table.entries.size());
  uint64_t next = 0;
  for (const PairCount& e : table.entries) {
    const uint64_t key =
        static_cast<uint64_t>(e.from) * static_cast<uint64_t>(table.columns) + static_cast<uint64_t>(e.to);
    w.varint(key - next);
    w.varint(static_cast<uint64_t>(e.count));
    next = key + 1;
  }
}

PairTable read_pairs(std::span<const uint8_t> data, std::string_view where) {
  Reader r(data, where);
  r.version();
  PairTable table;
  const uint64_t rows = r.varint(), columns = r.varint(), entries = r.varint();
  if (rows > (1u << 24) || columns > (1u << 24) || entries > r.left()) r.damaged();
  table.rows = static_cast<int32_t>(rows);
  table.columns = static_cast<int32_t>(columns);
  table.entries.reserve(entries);
  uint64_t key = 0;
  for (uint64_t i = 0; i < entries; ++i, ++key) {
    key += std::min(r.varint(), rows * columns);
    if (key >= rows * columns) r.damaged();
    const uint64_t count = r.varint();
    if (count > static_cast<uint64_t>(kMostCount)) r.damaged();
    table.entries.push_back(
        {static_cast<int32_t>(key / columns), static_cast<int32_t>(key % columns), static_cast<int64_t>(count)});
  }
  r.end();
  return table;
}

void put_events(std::span<const StepEvent> events, Bytes& out) {
  Writer w(out);
  w.byte(kVersion);
  w.varint(events.size());
  StepEvent last;
  for (const StepEvent& e : events) {
    w.signed_varint(static_cast<int64_t>(e.step) - static_cast<int64_t>(last.step));
    w.varint(e.worker);
    w.signed_varint(static_cast<int64_t>(e.begin_ns - last.begin_ns));
    w.varint(e.end_ns - e.begin_ns);
    last = e;
  }
}

std::vector<StepEvent> read_events(std::span<const uint8_t> data, std::string_view where) {
  Reader r(data, where);
  r.version();
  const uint64_t n = r.varint();
  if (n > r.left()) r.damaged();
  std::vector<StepEvent> events(n);
  StepEvent last;
  for (StepEvent& e : events) {
    e.step = static_cast<uint32_t>(last.step + static_cast<uint64_t>(r.signed_varint()));
    e.worker = static_cast<uint16_t>(r.varint());
    e.begin_ns = last.begin_ns + static_cast<uint64_t>(r.signed_varint());
    e.end_ns = e.begin_ns + r.varint();
    last = e;
  }
  r.end();
  return events;
}

void put_mask(std::span<const uint8_t> mask, int64_t per_sequence, Bytes& out) {
  Writer w(out);
  if (per_sequence <= 0 || std::all_of(mask.begin(), mask.end(), [](uint8_t real) { return real != 0; })) return;
  const size_t length = per_sequence;
  std::vector<uint32_t> lengths;
  bool prefixes = true;
  for (size_t begin = 0; begin + length <= mask.size() && prefixes; begin += length) {
    const auto row = mask.subspan(begin, length);
    const auto end = std::find(row.begin(), row.end(), uint8_t{0});
    prefixes = std::all_of(end, row.end(), [](uint8_t real) { return real == 0; });
    lengths.push_back(static_cast<uint32_t>(end - row.begin()));
  }
  if (prefixes) {
    const int width = width_of(static_cast<uint64_t>(per_sequence));
    w.byte(kLengths);
    w.byte(static_cast<uint8_t>(width));
    w.integers(lengths.size(), width, [&](size_t i) { return lengths[i]; });
    return;
  }
  w.byte(kBits);
  for (size_t i = 0; i < mask.size(); i += 8) {
    uint8_t bits = 0;
    for (size_t j = i; j < std::min(i + 8, mask.size()); ++j)
      bits = static_cast<uint8_t>(bits | (mask[j] != 0) << (j - i));
    w.byte(bits);
  }
}

std::vector<uint8_t> read_mask(std::span<const uint8_t> data, int64_t cells, int64_t per_sequence,
                               std::string_view where) {
  if (data.empty()) return {};
  Reader r(data, where);
  const uint8_t kind = r.byte();
  if (cells < 0 || cells > kMostCells || per_sequence <= 0) r.damaged();
  std::vector<uint8_t> mask;
  if (kind == kLengths) {
    const uint8_t width = r.byte();
    const auto lengths = r.integers<uint32_t>(static_cast<uint64_t>(cells / per_sequence), width);
    mask.resize(cells);
    for (size_t s = 0; s < lengths.size(); ++s) {
      if (lengths[s] > static_cast<uint64_t>(per_sequence)) r.damaged();
      std::fill_n(mask.begin() + static_cast<int64_t>(s) * per_sequence, lengths[s], uint8_t{1});
    }
  } else {
    const auto bits = r.raw(static_cast<size_t>((cells + 7) / 8));
    mask.resize(cells);
    for (size_t i = 0; i < mask.size(); ++i) mask[i] = bits[i / 8] >> (i % 8) & 1;
  }
  r.end();
  return mask;
}

void put_numbers(std::span<const int64_t> values, Bytes& out) { put_any_numbers(values, out); }
void put_numbers(std::span<const int32_t> values, Bytes& out) { put_any_numbers(values, out); }

std::vector<int64_t> read_numbers(std::span<const uint8_t> data, std::string_view where) {
  Reader r(data, where);
  const uint8_t width = r.byte();
  if (width != 1 && width != 2 && width != 4 && width != 8) r.damaged();
  auto values = r.integers<int64_t>(r.left() / width, width);
  r.end();
  return values;
}

}  // namespace stormcell::blob
