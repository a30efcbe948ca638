#include "core/session/blob.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/error.h"

static_assert(std::endian::native == std::endian::little, "sessions are written by copying memory");

namespace stormcell::blob {
namespace {

constexpr uint8_t kVersion = 1;
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
enum LoadPart : uint8_t { kPadding = 1, kDropped = 2, kGrid = 4, kMass = 8 };
enum MaskKind : uint8_t { kLengths = 0, kBits = 1 };

class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) { out_.clear(); }
  void byte(uint8_t v) { out_.push_back(v); }
  void raw(const void* data, size_t bytes) {
    const auto* from = static_cast<const uint8_t*>(data);
    out_.insert(out_.end(), from, from + bytes);
  }
  void u32(uint32_t v) { raw(&v, 4); }
  template <class T>
  void array(std::span<const T> values) {
    raw(values.data(), values.size_bytes());
  }
  void align4() { out_.resize((out_.size() + 3) / 4 * 4); }
  void varint(uint64_t v) {
    for (; v >= 128; v >>= 7) byte(static_cast<uint8_t>(v | 128));
    byte(static_cast<uint8_t>(v));
  }
  void signed_varint(int64_t v) { varint(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63)); }
  /// n integers of `width` bytes, value(i) each.
  template <class Value>
  void integers(size_t n, int width, Value value) {
    const size_t at = out_.size();
    out_.resize(at + n * static_cast<size_t>(width));
    const auto store = [&](auto type) {
      using T = decltype(type);
      for (size_t i = 0; i < n; ++i) {
        const T v = static_cast<T>(value(i));
        std::memcpy(out_.data() + at + i * sizeof(T), &v, sizeof(T));
      }
    };
    switch (width) {
      case 1:
        store(uint8_t{});
        break;
      case 2:
        store(uint16_t{});
        break;
      case 4:
        store(uint32_t{});
        break;
      default:
        store(uint64_t{});
    }
  }

 private:
  Bytes& out_;
};

class Reader {
 public:
  Reader(std::span<const uint8_t> data, std::string_view where) : data_(data), where_(where) {}
  [[noreturn]] void damaged() const { bad_input(where_, "the file is damaged: a record does not fit its length"); }
  std::span<const uint8_t> raw(size_t bytes) {
    if (bytes > data_.size() - at_) damaged();
    const auto part = data_.subspan(at_, bytes);
    at_ += bytes;
    return part;
  }
  uint8_t byte() { return raw(1)[0]; }
  template <class T>
  T value() {
    T v;
    std::memcpy(&v, raw(sizeof(T)).data(), sizeof(T));
    return v;
  }
  void version() {
    if (byte() != kVersion) bad_input(where_, "a record of a newer version of Stormcell", "use that version");
  }
  template <class T>
  std::vector<T> array(uint64_t n) {
    if (n > (data_.size() - at_) / sizeof(T)) damaged();
    std::vector<T> out(n);
    if (n) std::memcpy(out.data(), raw(n * sizeof(T)).data(), n * sizeof(T));
    return out;
  }
  void align4() { raw(std::min((4 - at_ % 4) % 4, data_.size() - at_)); }
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      v |= static_cast<uint64_t>(b & 127) << shift;
      if (b < 128) return v;
    }
    damaged();
  }
  int64_t signed_varint() {
    const uint64_t v = varint();
    return static_cast<int64_t>(v >> 1 ^ (0 - (v & 1)));
  }
  template <class T>
  std::vector<T> integers(uint64_t n, int width) {
    if (width != 1 && width != 2 && width != 4 && width != 8) damaged();
    if (n > left() / static_cast<size_t>(width)) damaged();
    const uint8_t* from = raw(n * static_cast<size_t>(width)).data();
    std::vector<T> out(n);
    const auto load = [&](auto type) {
      using S = decltype(type);
      for (size_t i = 0; i < n; ++i) {
        S v;
        std::memcpy(&v, from + i * sizeof(S), sizeof(S));
        out[i] = static_cast<T>(v);
      }
    };
    switch (width) {
      case 1:
        load(uint8_t{});
        break;
      case 2:
        load(uint16_t{});
        break;
      case 4:
        load(uint32_t{});
        break;
      default:
        load(uint64_t{});
    }
    return out;
  }
  /// Sums of counts must not overflow, whatever the file says.
  std::vector<int64_t> counts(uint64_t n, int width) {
    auto out = integers<int64_t>(n, width);
    for (const int64_t v : out)
      if (v < 0 || v > kMostCount) damaged();
    return out;
  }
  size_t left() const { return data_.size() - at_; }
  void end() const {
    if (left()) damaged();
  }

 private:
  std::span<const uint8_t> data_;
  std::string_view where_;
  size_t at_ = 0;
};

int width_of(uint64_t most) { return most <= 0xff ? 1 : most <= 0xffff ? 2 : most <= 0xffffffff ? 4 : 8; }

template <class T>
void put_any_numbers(std::span<const T> values, Bytes& out) {
  uint64_t most = 0;
  for (const T v : values) most = std::max(most, static_cast<uint64_t>(static_cast<int64_t>(v)));  // negative: 8 bytes
  Writer w(out);
  w.byte(static_cast<uint8_t>(width_of(most)));
  w.integers(values.size(), width_of(most), [&](size_t i) { return static_cast<uint64_t>(static_cast<int64_t>(values[i])); });
}

}  // namespace

void put_decision(const DecisionRecord& d, int32_t branches, int32_t fan_out, Bytes& out) {
  const size_t choices = d.choice.size();
  // Codes: branch, branches + branch where dropped, all ones for none.
  std::vector<uint32_t> offsets(static_cast<size_t>(branches) + 1);
  uint32_t most = 0;
  for (const int32_t c : d.choice) {
    if (is_kept(c)) {
      ++offsets[static_cast<size_t>(c) + 1];
      most = std::max(most, static_cast<uint32_t>(c));
    } else if (is_dropped(c)) {
      most = std::max(most, static_cast<uint32_t>(branches + ~c));
    }
  }
  for (size_t b = 1; b < offsets.size(); ++b) offsets[b] += offsets[b - 1];
  const int choice_width = width_of(uint64_t{most} + 1), offset_width = width_of(offsets.back());
  const bool same_padded = d.padded.empty() || std::equal(d.padded.begin(), d.padded.end(), offsets.begin(),
                                                          [next = offsets.begin()](int32_t padded, uint32_t begin) mutable {
                                                            return *++next - begin == static_cast<uint32_t>(padded);
                                                          });
  const bool columns = !d.scores.empty() && d.score_columns > 0 && d.score_columns != branches;
  const uint8_t parts =
      static_cast<uint8_t>((columns ? kColumns : 0) | (d.weight.empty() ? 0 : kWeights) | (same_padded ? 0 : kPadded) |
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
    return is_kept(c) ? static_cast<uint32_t>(c) : is_dropped(c) ? static_cast<uint32_t>(branches + ~c) : ~uint32_t{0};
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
  if (branches == 0 || branches > (1u << 24) || fan_out == 0 || fan_out > (1u << 16) || cells > uint32_t{INT32_MAX}) r.damaged();
  d.cells = cells;
  d.branches = static_cast<int32_t>(branches);
  d.fan_out = static_cast<int32_t>(fan_out);
  const uint64_t choices = static_cast<uint64_t>(cells) * fan_out;
  d.offsets = r.integers<int32_t>(branches + uint64_t{1}, offset_width);
  r.align4();
  if (choice_width == 8) r.damaged();
  d.choice = r.integers<int32_t>(choices, choice_width);
  const auto none = static_cast<uint32_t>((uint64_t{1} << (8 * choice_width)) - 1);
  std::vector<int32_t> loads(branches);
  for (int32_t& c : d.choice) {
    const auto code = static_cast<uint32_t>(c);
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

void put_loads(const RouterLoads& loads, Bytes& out) {
  const auto any = [](const std::vector<int64_t>& v) { return std::any_of(v.begin(), v.end(), [](int64_t x) { return x != 0; }); };
  const bool mass = std::any_of(loads.weight.begin(), loads.weight.end(), [](double x) { return x != 0; });
  const uint8_t parts = static_cast<uint8_t>((any(loads.padding) ? kPadding : 0) | (any(loads.dropped) ? kDropped : 0) |
                                             (loads.padded != loads.load ? kGrid : 0) | (mass ? kMass : 0));
  uint64_t most = 0;
  for (const auto* counts : {&loads.load, &loads.dropped, &loads.padded})
    for (const int64_t v : *counts) most = std::max(most, static_cast<uint64_t>(v));
  const int width = width_of(most);
  Writer w(out);
  w.byte(kVersion);
  w.byte(parts);
  w.byte(static_cast<uint8_t>(width));
  w.byte(0);
  const auto put = [&](const std::vector<int64_t>& v) {
    w.integers(v.size(), width, [&](size_t i) { return static_cast<uint64_t>(v[i]); });
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
  const auto n = static_cast<uint64_t>(branches);
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
    const uint64_t key = static_cast<uint64_t>(e.from) * static_cast<uint64_t>(table.columns) + static_cast<uint64_t>(e.to);
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
    table.entries.push_back({static_cast<int32_t>(key / columns), static_cast<int32_t>(key % columns), static_cast<int64_t>(count)});
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
  const auto length = static_cast<size_t>(per_sequence);
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
    for (size_t j = i; j < std::min(i + 8, mask.size()); ++j) bits = static_cast<uint8_t>(bits | (mask[j] != 0) << (j - i));
    w.byte(bits);
  }
}

std::vector<uint8_t> read_mask(std::span<const uint8_t> data, int64_t cells, int64_t per_sequence, std::string_view where) {
  if (data.empty()) return {};
  Reader r(data, where);
  const uint8_t kind = r.byte();
  if (cells < 0 || cells > kMostCells || per_sequence <= 0) r.damaged();
  std::vector<uint8_t> mask;
  if (kind == kLengths) {
    const uint8_t width = r.byte();
    const auto lengths = r.integers<uint32_t>(static_cast<uint64_t>(cells / per_sequence), width);
    mask.resize(static_cast<size_t>(cells));
    for (size_t s = 0; s < lengths.size(); ++s) {
      if (lengths[s] > static_cast<uint64_t>(per_sequence)) r.damaged();
      std::fill_n(mask.begin() + static_cast<int64_t>(s) * per_sequence, lengths[s], uint8_t{1});
    }
  } else {
    const auto bits = r.raw(static_cast<size_t>((cells + 7) / 8));
    mask.resize(static_cast<size_t>(cells));
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
